package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command {@code cluster} as a user runs it. */
@Tag("slow")
class ClusterCommandIT {

  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final Pattern BOOTSTRAP = Pattern.compile("bootstrap servers +(\\S+)");
  private static final Pattern FLINK = Pattern.compile("Flink +http://[^:]+:(\\d+)");
  private static final Pattern DIRECTORY = Pattern.compile("logs and state +(\\S+)");
  private static final Pattern VICTIM = Pattern.compile("kill -9 (\\d+),");

  @TempDir Path dir;

  @Test
  void aKilledTaskManagerIsReplacedAndNothingIsLeftWhenTheCommandIsKilled() throws Exception {
    Path output = dir.resolve("output");
    Process cluster =
        new ProcessBuilder(
                "../radixflow", "cluster", "--model", "sim", "--taskmanagers", "1", "--port", "0")
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      await().atMost(PATIENCE).until(() -> says(output, "Ctrl-C stops.") || !cluster.isAlive());
      String bootstrap = found(BOOTSTRAP, output);
      Path state = Path.of(found(DIRECTORY, output));
      ProcessHandle victim = ProcessHandle.of(Long.parseLong(found(VICTIM, output))).orElseThrow();
      try (Conversations conversations = new Conversations(bootstrap)) {
        conversations.say("a", "1", "Which light is it?", 16);
        conversations.awaitReplies(1);
        victim.destroyForcibly();
        conversations.say("a", "2", "And the other one?", 16);
        conversations.awaitReplies(2);

        assertThat(conversations.answered()).containsExactly("a/1", "a/2");
        assertThat(output).content().contains("which replaces one that is gone");
      }
      ClusterRest rest = new ClusterRest(Integer.parseInt(found(FLINK, output)));
      rest.cancel(rest.jobs().get(0));
      await().atMost(PATIENCE).until(() -> says(output, "The job was cancelled; Flink and Kafka"));
      List<ProcessHandle> processes = cluster.descendants().toList();
      assertThat(processes).hasSizeGreaterThanOrEqualTo(5);

      cluster.destroyForcibly().waitFor();

      await().atMost(PATIENCE).until(() -> processes.stream().noneMatch(ProcessHandle::isAlive));
      await().atMost(PATIENCE).until(() -> !Files.exists(state));
    } finally {
      cluster.destroyForcibly();
    }
  }

  @Test
  void aJobThatCannotStartEndsTheCommandWithItsReason() throws Exception {
    Path output = dir.resolve("output");
    Process cluster =
        new ProcessBuilder(
                "../radixflow",
                "cluster",
                "--model=sim",
                "--taskmanagers=1",
                "--port=0",
                "--set=engine.kv-memory=100b")
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    try {
      assertThat(cluster.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();

      assertThat(cluster.exitValue()).isEqualTo(1);
      assertThat(output).content().contains("the KV pool of 100 bytes holds 0 pages");
    } finally {
      cluster.destroyForcibly();
    }
  }

  private static boolean says(Path output, String text) throws Exception {
    return Files.readString(output).contains(text);
  }

  private static String found(Pattern pattern, Path output) throws Exception {
    Matcher matcher = pattern.matcher(Files.readString(output));
    assertThat(matcher.find()).as("%s in %s", pattern, Files.readString(output)).isTrue();
    return matcher.group(1);
  }
}
