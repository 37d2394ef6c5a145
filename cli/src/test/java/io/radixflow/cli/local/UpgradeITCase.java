package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.radixflow.client.ConversationClient;
import io.radixflow.client.ReplyListener;
import io.radixflow.client.TopicContents;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.jobs.kafka.KafkaSetup;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.topic.RecordReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Savepoints that older builds wrote, each the one file of a canonical savepoint with a session of
 * one answered turn and another turn in flight. The test writes this build's to {@code
 * target/upgrade/savepoint.gz}, from where it is copied to {@code src/test/resources/savepoints}
 * when the state has changed.
 */
@Tag("slow")
class UpgradeITCase {

  private static final String SESSION = "kept";
  private static final String ANSWERED = "answered";
  private static final String UNDER_WAY = "under-way";
  private static final int REPLY_TOKENS = 300;
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** More than any partition held when a savepoint was written: its offsets lie within. */
  private static final int FILLERS = 50;

  private static final HeldClock CLOCK = new HeldClock();

  @TempDir Path dir;

  @ParameterizedTest
  @ValueSource(strings = "2026-11-30")
  void theSavepointOfAnOlderBuildGoesOn(String name) throws Exception {
    try (InputStream file =
        UpgradeITCase.class.getResourceAsStream("/savepoints/" + name + ".gz")) {
      assertGoesOn(file);
    }
  }

  @Test
  void theSavepointOfThisBuildGoesOn() throws Exception {
    Path file = Path.of("target", "upgrade", "savepoint.gz");
    Files.createDirectories(file.getParent());
    write(file);
    assertThat(file).satisfies(written -> assertThat(Files.size(written)).isLessThan(200_000));
    try (InputStream written = Files.newInputStream(file)) {
      assertGoesOn(written);
    }
  }

  private void write(Path file) throws Exception {
    Path savepoints = dir.resolve("written");
    LocalStack stack = start(dir.resolve("before"));
    CompletableFuture<Void> ended = stack.end();
    try (stack;
        ConversationClient client = new ConversationClient(stack.settings())) {
      ask(client, message(SESSION, ANSWERED));
      AtomicInteger length = new AtomicInteger();
      CLOCK.holdAfter(30);
      client.ask(
          message(SESSION, UNDER_WAY),
          new ReplyListener() {
            @Override
            public void text(String piece) {
              length.addAndGet(piece.length());
            }

            @Override
            public void finished(ReplyDelta last) {
              throw new AssertionError("the turn ended before the savepoint");
            }
          });
      await().atMost(PATIENCE).until(() -> length.get() > 10);
      CompletableFuture<String> savepoint =
          stack
              .cluster()
              .miniCluster()
              .stopWithSavepoint(
                  stack.job(), savepoints.toUri().toString(), false, SavepointFormatType.CANONICAL);
      await()
          .atMost(PATIENCE)
          // Flink renames files while they are listed
          .ignoreExceptionsInstanceOf(UncheckedIOException.class)
          .until(() -> savepoint.isDone() || isWritten(savepoints));
      CLOCK.release();
      savepoint.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      await().atMost(PATIENCE).until(ended::isCompletedExceptionally);
    }
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file))) {
      Files.copy(onlyFile(savepoints), out);
    }
  }

  private static boolean isWritten(Path savepoints) throws IOException {
    if (!Files.isDirectory(savepoints)) {
      return false;
    }
    try (var files = Files.walk(savepoints)) {
      return files.anyMatch(file -> file.endsWith("_metadata"));
    }
  }

  private static Path onlyFile(Path savepoints) throws IOException {
    try (var files = Files.walk(savepoints)) {
      List<Path> found = files.filter(Files::isRegularFile).toList();
      assertThat(found).as("state is inlined").hasSize(1);
      return found.get(0);
    }
  }

  private void assertGoesOn(InputStream savepoint) throws Exception {
    Path after = Files.createDirectory(dir.resolve("after"));
    Path target = Files.createDirectories(after.resolve("savepoints/older"));
    Files.copy(new GZIPInputStream(savepoint), target.resolve("_metadata"));
    fillTopics(after);
    try (LocalStack stack = start(after);
        ConversationClient client = new ConversationClient(stack.settings())) {
      String firstText = ask(client, message("fresh", "1")).text();
      String secondText = ask(client, message("fresh", "2")).text();
      List<Reply.Item> items = ask(client, Events.of(EventKind.QUERY, SESSION, "query")).items();

      assertThat(items)
          .extracting(Reply.Item::turn, Reply.Item::role)
          .contains(tuple(ANSWERED, "assistant"), tuple(UNDER_WAY, "assistant"));
      assertThat(items).extracting(Reply.Item::content).contains(firstText, secondText);
      assertThat(repliesTo(SESSION, stack.settings()))
          .filteredOn(reply -> reply.kind() == EventKind.MESSAGE)
          .singleElement()
          .matches(reply -> reply.turn().equals(UNDER_WAY) && reply.text().equals(secondText));
    }
  }

  private static List<Reply> repliesTo(String session, Settings settings) throws IOException {
    List<Reply> replies = new ArrayList<>();
    TopicContents.read(
        settings,
        settings.get(KafkaConfig.REPLIES_TOPIC),
        record -> replies.add(RecordReader.reply(record.value())));
    return replies.stream().filter(reply -> reply.session().equals(session)).toList();
  }

  /** The savepoint's offsets are of another broker: they must lie within this one's partitions. */
  private static void fillTopics(Path directory) throws IOException {
    try (LocalBroker broker = LocalBroker.start(directory)) {
      Settings settings =
          settings()
              .with(KafkaConfig.BOOTSTRAP_SERVERS, broker.bootstrapServers())
              .with(KafkaConfig.CREATE_TOPICS, true);
      KafkaSetup.check(settings);
      var properties = settings.kafkaClient();
      properties.put(ProducerConfig.LINGER_MS_CONFIG, "20");
      try (KafkaProducer<byte[], byte[]> producer =
          new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
        for (int partition = 0; partition < settings.get(KafkaConfig.PARTITIONS); partition++) {
          for (int i = 0; i < FILLERS; i++) {
            producer.send(
                new ProducerRecord<>(
                    settings.get(KafkaConfig.EVENTS_TOPIC), partition, null, new byte[] {'x'}));
          }
        }
      }
    }
  }

  private static ConversationEvent message(String session, String turn) {
    return Events.message(session, turn, "Which light is it?", REPLY_TOKENS);
  }

  private static Reply ask(ConversationClient client, ConversationEvent event) {
    return client.ask(event, ReplyListener.SILENT).orTimeout(60, TimeUnit.SECONDS).join();
  }

  private static Settings settings() {
    return new SettingsLoader()
        .set(
            List.of(
                "job.checkpoint-interval=200ms",
                // as the savepoints' turns were sampled, whatever the defaults are by now
                "generation.temperature=0.7",
                "generation.top-p=0.95",
                "kafka.connect-timeout=60s",
                "flink.execution.checkpointing.data-inline-threshold=1mb"))
        .load();
  }

  private static LocalStack start(Path directory) throws IOException {
    Settings settings = settings();
    return LocalStack.start(
        settings,
        new LocalStack.Options(Optional.of(directory), true, 0, 0),
        ServingSettings.engine(settings, name -> model()),
        line -> {});
  }

  private static ServedModel model() {
    return SimModel.open(
        SimOptions.DEFAULT.withEndOfTurn(1.0 / 1000).withTime(1_000_000, 0).withClock(CLOCK));
  }
}
