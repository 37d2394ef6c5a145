package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.radixflow.client.ConversationClient;
import io.radixflow.client.ReplyListener;
import io.radixflow.client.TopicContents;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.kernels.cuda.driver.EmulatedDriver;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.models.TinyChatModel;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.topic.RecordReader;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The whole job on a GPU, from Kafka to Kafka. */
@Tag("gpu")
@Timeout(600)
class GpuStackITCase {

  private static final int ILLEGAL_ADDRESS = 700;

  @TempDir Path dir;

  @BeforeEach
  void requireGpu() {
    EmulatedGpu.requireEmulated();
    EmulatedDriver.reset();
  }

  @AfterEach
  void nothingIsLeaked() {
    EmulatedGpu.assertNothingIsLeaked();
    if (EmulatedGpu.isEmulated()) {
      EmulatedDriver.reset();
    }
  }

  @Test
  void aConversationIsAnsweredOnceOverALostContextAndGoesOnOnTheCpu() throws IOException {
    List<String> said = new ArrayList<>();
    try (LocalStack stack = start("cuda", "512m");
        ConversationClient client = new ConversationClient(stack.settings())) {
      Reply first = ask(client, "t1");
      EmulatedDriver.failLaunch("rf_sample", 6, ILLEGAL_ADDRESS);
      Reply second = ask(client, "t2");
      assertThat(second.attempt()).as("the job restarted").isGreaterThan(first.attempt());
      Reply third = ask(client, "t3");
      assertThat(third.usage().cachedTokens()).isGreaterThan(first.usage().promptTokens());
      said.addAll(List.of(first.text(), second.text(), third.text()));
      assertThat(committed(stack.settings())).containsExactly("t1", "t2", "t3");
    }
    EmulatedGpu.assertNothingIsLeaked();
    try (LocalStack stack = start("cpu", "512m");
        ConversationClient client = new ConversationClient(stack.settings())) {
      Reply fourth = ask(client, "t4");
      assertThat(fourth.usage().cachedTokens()).isZero();
      assertThat(fourth.usage().promptTokens()).isGreaterThan(String.join("", said).length());
      said.add(fourth.text());
      Reply query =
          client
              .ask(Events.of(EventKind.QUERY, "s", "q"), ReplyListener.SILENT)
              .orTimeout(120, TimeUnit.SECONDS)
              .join();
      assertThat(query.items()).extracting(Reply.Item::content).containsAll(said);
      assertThat(committed(stack.settings())).containsExactly("t1", "t2", "t3", "t4", "q");
    }
  }

  @Test
  void aGpuWithLessMemoryThanIsAskedForEndsTheStartWithTheNumbers() {
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> start("cuda", "2g"))
        .withMessageMatching(
            "the job does not start: the engine does not open: gpu.memory is 2048 MB; .* has \\d+"
                + " MB free of 1024 MB; lower it");
  }

  private static Reply ask(ConversationClient client, String turn) {
    return client
        .ask(Events.message("s", turn, "hello", 12), ReplyListener.SILENT)
        .orTimeout(120, TimeUnit.SECONDS)
        .join();
  }

  /** The turns of all committed replies, in order. */
  private static List<String> committed(Settings settings) throws IOException {
    List<String> turns = new ArrayList<>();
    TopicContents.read(
        settings,
        settings.get(KafkaConfig.REPLIES_TOPIC),
        record -> turns.add(RecordReader.reply(record.value()).turn()));
    return turns;
  }

  private LocalStack start(String device, String memory) throws IOException {
    Settings settings =
        new SettingsLoader()
            .set(
                List.of(
                    "model.device=" + device,
                    "gpu.memory=" + memory,
                    "engine.context-length=512",
                    "job.parallelism=2",
                    "job.checkpoint-interval=200ms"))
            .load()
            .with(SharedConfig.MODEL, TinyChatModel.write(dir.resolve("tiny")).toString());
    return LocalStack.start(
        settings,
        new LocalStack.Options(Optional.of(dir.resolve("data")), true, 0, 0),
        ServingSettings.engine(settings, GpuStackITCase::open),
        line -> {});
  }

  private static ServedModel open(String name) throws IOException {
    return ModelLoader.open(name, Path::of);
  }
}
