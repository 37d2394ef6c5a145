package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.models.TinyChatModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Jobs that come and go on a TaskManager with a GPU: a class loader each, one driver for all. */
@Tag("slow")
class GpuClusterIT {

  @RegisterExtension
  final PackagedCluster cluster =
      new PackagedCluster(
          "gpu",
          options ->
              options
                  .computing("512m")
                  .with("env.java.opts.taskmanager", String.join(" ", EmulatedGpu.jvmFlags())));

  private static final Duration PATIENCE = Duration.ofMinutes(3);

  /** More than half of the emulated device. */
  private static final String LARGE = "600m";

  private static final String SMALL = "200m";

  @Test
  void jobsAfterAndBesideEachOtherReplyAlikeAndOneThatDoesNotFitIsRefused() throws Exception {
    String first = submit("first", LARGE);
    List<String> replies = converse("first");

    assertThat(refusal("too-large", LARGE))
        .containsPattern(
            "radixflow: job \\w+ ended as FAILED: the engine does not open: gpu.memory is 600 MB;"
                + " .* has \\d+ MB free of 1024 MB; lower it");
    assertThat(cluster.rest().jobState(first)).isEqualTo("RUNNING");

    submit("beside", SMALL);
    assertThat(converse("beside")).isEqualTo(replies);

    cluster.rest().cancel(first);
    await()
        .atMost(PATIENCE)
        .ignoreExceptionsInstanceOf(IOException.class)
        .until(() -> cluster.rest().jobState(first).equals("CANCELED"));
    submit("again", LARGE);
    assertThat(converse("again")).isEqualTo(replies);

    assertThat(mapped("libcuda.so.1")).hasSize(1);
    assertThat(mapped("libJCudaDriver")).hasSize(1);
  }

  private String submit(String name, String memory) throws Exception {
    return cluster.submit(settings(name, memory));
  }

  /** Returns what the command line prints for a job that does not start. */
  private String refusal(String name, String memory) throws Exception {
    List<String> arguments = new ArrayList<>(settings(name, memory).toArguments());
    arguments.add(0, "submit");
    arguments.addAll(
        List.of(
            "--jobmanager", cluster.rest().address(), "--jar", "../jobs/target/radixflow-job.jar"));
    Path output = cluster.directory().resolve("submit.out");
    try (JavaProcess submit =
        CommandProcess.start(cluster.directory(), output, List.of(), arguments)) {
      assertThat(submit.awaitExit(PATIENCE)).isEqualTo(1);
    }
    return Files.readString(output);
  }

  private Settings settings(String name, String memory) throws Exception {
    return cluster
        .settings(name, List.of("model.device=cuda", "gpu.memory=" + memory))
        .with(
            SharedConfig.MODEL,
            TinyChatModel.write(cluster.directory().resolve("tiny")).toString());
  }

  /** The replies to two turns of one conversation. */
  private List<String> converse(String job) throws Exception {
    try (Conversations conversations = cluster.conversations(job)) {
      conversations.say("s", "1", "Which light is it?", 12);
      conversations.say("s", "2", "And the other one?", 12);
      conversations.awaitReplies(2);
      assertThat(conversations.answered()).containsExactly("s/1", "s/2");
      assertThat(conversations.replies())
          .allMatch(reply -> finishReason(reply).matches("stop|length"));
      return conversations.replies().stream()
          .map(reply -> reply.at("/choices/0/message/content").asText())
          .collect(Collectors.toList());
    }
  }

  private static String finishReason(JsonNode reply) {
    return reply.at("/choices/0/finish_reason").asText();
  }

  /** The files of a name that the TaskManager's process has mapped, by inode. */
  private Set<String> mapped(String name) throws Exception {
    Path maps =
        Path.of("/proc", Long.toString(cluster.processes().taskManagers().get(0).pid()), "maps");
    try (Stream<String> lines = Files.lines(maps)) {
      return lines
          .filter(line -> line.contains(name))
          .map(line -> line.split("\\s+")[4])
          .collect(Collectors.toSet());
    }
  }
}
