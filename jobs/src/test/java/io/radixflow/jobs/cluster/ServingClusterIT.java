package io.radixflow.jobs.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.jobs.config.SettingsLoader;
import io.radixflow.kernels.TestModels;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The packaged job on a cluster of processes: Flink and the kernels in {@code lib}, the job's
 * classes in its own jar, loaded by a class loader of their own.
 */
@Tag("slow")
class ServingClusterIT {

  private static final Path DIRECTORY = Path.of("target/cluster/serving");
  private static final Path JARS = Path.of("target/dist/lib");
  private static final Path KERNELS = Path.of("../kernels/target/radixflow-kernels-lib.jar");
  private static final Path JOB = Path.of("target/radixflow-job.jar");
  private static final String PROMPT = "Say something about the sea, the longer the better. ";

  private ProcessCluster cluster;

  @BeforeEach
  void start() throws Exception {
    FileUtils.deleteDirectory(DIRECTORY.toFile());
    cluster =
        ProcessCluster.start(
            ClusterJars.in(JARS, KERNELS, JOB),
            ClusterOptions.SMALL.in(DIRECTORY).computing("1g"),
            step -> {});
  }

  @AfterEach
  void stopAndLeaveNoProcess() {
    if (cluster != null) {
      cluster.close();
    }
    assertThat(ProcessHandle.current().descendants()).isEmpty();
  }

  @Test
  void turnsAreAnsweredFromTheCacheByAJobThatListensOnLoopbackAlone() throws Exception {
    String job = submit("sim");
    try (Conversations conversations = new Conversations(cluster.bootstrapServers())) {
      conversations.say("a", "1", PROMPT.repeat(4), 16);
      conversations.say("b", "1", PROMPT.repeat(4), 16);
      conversations.awaitReplies(2);
      conversations.say("a", "2", "And the shore?", 16);
      conversations.awaitReplies(3);

      assertThat(conversations.answered()).containsExactlyInAnyOrder("a/1", "b/1", "a/2");
      assertThat(conversations.replies())
          .allSatisfy(reply -> assertThat(finishReason(reply)).isIn("stop", "length"));
      assertThat(cachedTokens(conversations.replies().get(2))).isPositive();
    }
    assertThat(cluster.rest().jobState(job)).isEqualTo("RUNNING");
    for (JavaProcess process : cluster.processes()) {
      List<InetSocketAddress> addresses = ListeningSockets.of(process.pid());
      assertThat(addresses)
          .as(process.toString())
          .isNotEmpty()
          .allMatch(address -> address.getAddress().isLoopbackAddress());
    }
  }

  @Test
  @Tag("model")
  void theRealModelIsServedByTheKernelsInLib() throws Exception {
    submit(TestModels.smolLm2().toString());
    try (Conversations conversations = new Conversations(cluster.bootstrapServers())) {
      conversations.say("a", "1", "What is the capital of France?", 16);
      conversations.awaitReplies(1);
      assertThat(conversations.replies().get(0).at("/choices/0/message/content").asText())
          .contains("Paris");
    }
  }

  @Test
  void theLauncherSubmitsTheJob() throws Exception {
    Process submit =
        new ProcessBuilder(
                "../radixflow",
                "submit",
                "--jobmanager",
                cluster.rest().address(),
                "--set",
                "model=sim",
                "--set",
                "kafka.bootstrap-servers=" + cluster.bootstrapServers(),
                "--set",
                "kafka.create-topics=true")
            .redirectErrorStream(true)
            .start();
    String output = new String(submit.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(submit.waitFor()).as(output).isZero();
    assertThat(output).containsPattern("submitted job [0-9a-f]{32} to http://127.0.0.1:");
    try (Conversations conversations = new Conversations(cluster.bootstrapServers())) {
      conversations.say("a", "1", PROMPT, 16);
      conversations.awaitReplies(1);
      assertThat(conversations.answered()).containsExactly("a/1");
    }
  }

  private String submit(String model) throws Exception {
    List<String> assignments =
        List.of(
            "model=" + model,
            "kafka.bootstrap-servers=" + cluster.bootstrapServers(),
            "kafka.create-topics=true");
    return cluster.commandLine().submit(null, new SettingsLoader().set(assignments).load());
  }

  private static String finishReason(JsonNode reply) {
    return reply.at("/choices/0/finish_reason").asText();
  }

  private static int cachedTokens(JsonNode reply) {
    return reply.at("/usage/prompt_tokens_details/cached_tokens").asInt();
  }
}
