package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.client.ConversationClient;
import io.radixflow.client.ReplyListener;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.protocol.record.Reply;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalStackEndITCase {

  private static final long PATIENCE_SECONDS = 120;

  @TempDir Path dir;

  @Test
  void aJobThatMayNotRestartEndsTheStackAndItsTurnsWithTheRootCause() throws Exception {
    Threads threads = Threads.running();
    LocalStack stack = start("flink.restart-strategy.type=none");
    try (ConversationClient client = new ConversationClient(stack.settings())) {
      CompletableFuture<Void> end = stack.end();
      client.failWith(end);
      CompletableFuture<Reply> asked =
          client.ask(Events.message("s", "t", "hello", 100_000), ReplyListener.SILENT);
      stack.cluster().miniCluster().terminateTaskManager(0).get(PATIENCE_SECONDS, TimeUnit.SECONDS);

      assertThatThrownBy(() -> end.get(PATIENCE_SECONDS, TimeUnit.SECONDS))
          .hasCauseInstanceOf(JobEndedException.class)
          .hasMessageContaining("the job failed for good: ");
      assertThatThrownBy(() -> asked.get(PATIENCE_SECONDS, TimeUnit.SECONDS))
          .hasMessageContaining("the job failed for good: ");
    }
    stack.close();
    threads.assertNoneLeft();
    assertThat(stack.end()).isCompletedExceptionally();
  }

  @Test
  void closingAStackIsAnEndInOrder() throws IOException {
    LocalStack stack = start("flink.restart-strategy.type=none");
    CompletableFuture<Void> end = stack.end();
    assertThat(end).isNotDone();
    stack.close();
    assertThat(end).isCompletedWithValue(null);
  }

  private LocalStack start(String setting) throws IOException {
    Settings settings =
        new SettingsLoader().set(List.of("model=sim:reply=100000,step=5", setting)).load();
    return LocalStack.start(
        settings,
        new LocalStack.Options(Optional.of(dir), true, 0, 0),
        ServingSettings.engine(settings, LocalStackEndITCase::open),
        line -> {});
  }

  private static ServedModel open(String name) throws IOException {
    return ModelLoader.open(name, Path::of);
  }
}
