package io.radixflow.cli.cluster;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a chat in a process of its own that is asked to end. */
class TerminatedChatITCase {

  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final int MORE_TURNS_THAN_TIME = 100_000;

  @TempDir Path dir;

  private Path temporary;
  private Path output;

  @BeforeEach
  void makeDirectories() throws IOException {
    temporary = Files.createDirectory(dir.resolve("tmp"));
    output = dir.resolve("output");
  }

  @Test
  void whatWasSaidIsDeletedWhenAChatIsTerminated() throws IOException {
    terminatedWhen(() -> Files.readString(output, ISO_8859_1).contains("prompt"));
    assertThat(stacks()).isEmpty();
  }

  @Test
  void aStartThatIsTerminatedLeavesNothing() throws IOException {
    terminatedWhen(
        () -> {
          for (Path stack : stacks()) {
            if (Files.exists(stack.resolve("kafka").resolve("meta.properties"))) {
              return true;
            }
          }
          return false;
        });
    assertThat(stacks()).isEmpty();
    assertThat(Files.readString(output, ISO_8859_1))
        .doesNotContain("Exception in thread", "MiniCluster");
  }

  private void terminatedWhen(Callable<Boolean> condition) throws IOException {
    Path script =
        Files.write(
            dir.resolve("script"), Collections.nCopies(MORE_TURNS_THAN_TIME, "tell me more"));
    List<String> arguments =
        List.of("chat", "--model", "sim", "--max-tokens", "5", "--script", script.toString());
    List<String> flags = List.of("-Djava.io.tmpdir=" + temporary);
    try (JavaProcess chat = CommandProcess.start(dir, output, flags, arguments)) {
      await()
          .atMost(PATIENCE)
          .failFast("the chat ended by itself", () -> !chat.isAlive())
          .until(condition);
      chat.terminate(PATIENCE);
    }
  }

  private List<Path> stacks() throws IOException {
    try (Stream<Path> files = Files.list(temporary)) {
      return files.filter(file -> file.getFileName().toString().startsWith("radixflow-")).toList();
    }
  }
}
