package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A command in a process of its own whose job ends behind its back. */
class EndedJobITCase {

  private static final Duration PATIENCE = Duration.ofSeconds(120);
  private static final Pattern FLINK = Pattern.compile("Flink +http://[^:]+:(\\d+)");

  @TempDir Path dir;

  @Test
  void upEndsWithTheReasonWhenItsJobIsCancelled() throws Exception {
    Path temporary = Files.createDirectory(dir.resolve("tmp"));
    Path output = dir.resolve("output");
    List<String> flags = List.of("-Djava.io.tmpdir=" + temporary);
    List<String> arguments =
        List.of(
            "up", "--model", "sim", "--port", "0", "--gateway-port", "0", "--metrics-port", "0");
    try (JavaProcess up = CommandProcess.start(dir, output, flags, arguments)) {
      await()
          .atMost(PATIENCE)
          .failFast("it ended by itself", () -> !up.isAlive())
          .until(() -> Files.readString(output).contains("Ctrl-C stops."));
      ClusterRest rest = new ClusterRest(flinkPort(output));
      rest.cancel(rest.jobs().get(0));

      assertThat(up.awaitExit(PATIENCE)).isEqualTo(1);
    }
    Path log;
    try (Stream<Path> logs = Files.list(dir.resolve("logs"))) {
      log = logs.findFirst().orElseThrow();
    }
    assertThat(Files.readString(output))
        .contains("radixflow: the job was cancelled; the log is " + log + "; ")
        .contains("conversations in " + dir.resolve("up") + " continue from their last checkpoint");
    assertThat(Files.readString(log)).contains("the job was cancelled");
    try (Stream<Path> files = Files.list(temporary)) {
      // an engine's lock stays: its name is the host's, and a lock that is deleted could be taken
      // twice
      assertThat(files.map(file -> file.getFileName().toString()))
          .filteredOn(name -> name.startsWith("radixflow-"))
          .allMatch(name -> name.matches("radixflow-engine-.*\\.lock"));
    }
  }

  private static int flinkPort(Path output) throws IOException {
    Matcher announced = FLINK.matcher(Files.readString(output));
    assertThat(announced.find()).isTrue();
    return Integer.parseInt(announced.group(1));
  }
}
