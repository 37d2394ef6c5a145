package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.radixflow.client.ConversationClient;
import io.radixflow.client.ReplyListener;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LocalStackRestartITCase {

  @TempDir Path dir;

  @Test
  void conversationsGoOnInAKeptDirectoryAndABadModelEndsTheStart() throws IOException {
    Reply said;
    try (LocalStack stack = start("model=sim", "session.index=true");
        ConversationClient client = new ConversationClient(stack.settings())) {
      said = ask(client, "t1");
    }
    assertThat(Files.getPosixFilePermissions(dir.resolve("kept data #1%")))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    Path broken = Files.write(dir.resolve("broken.gguf"), new byte[100]);
    assertThatExceptionOfType(IOException.class)
        .isThrownBy(() -> start("model=" + broken))
        .withMessageContaining("the job does not start")
        .withMessageContaining("broken.gguf");
    // without the index its sink is gone, and what its sink kept is not needed
    try (LocalStack stack = start("model=sim");
        ConversationClient client = new ConversationClient(stack.settings())) {
      ask(client, "t2");
      Reply query =
          client
              .ask(Events.of(EventKind.QUERY, "s", "q"), ReplyListener.SILENT)
              .orTimeout(60, TimeUnit.SECONDS)
              .join();
      assertThat(query.items()).extracting(Reply.Item::turn).contains("t1", "t2");
      assertThat(query.items()).extracting(Reply.Item::content).contains(said.text());
    }
  }

  private static Reply ask(ConversationClient client, String turn) {
    return client
        .ask(Events.message("s", turn, "hello", 8), ReplyListener.SILENT)
        .orTimeout(60, TimeUnit.SECONDS)
        .join();
  }

  private LocalStack start(String... options) throws IOException {
    Settings settings =
        new SettingsLoader()
            .set(List.of("job.checkpoint-interval=200ms"))
            .set(List.of(options))
            .load();
    return LocalStack.start(
        settings,
        new LocalStack.Options(Optional.of(dir.resolve("kept data #1%")), true, 0, 0),
        ServingSettings.engine(settings, LocalStackRestartITCase::open),
        line -> {});
  }

  private static ServedModel open(String name) throws IOException {
    return ModelLoader.open(name, Path::of);
  }
}
