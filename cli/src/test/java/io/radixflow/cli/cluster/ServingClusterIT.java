package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.cli.flink.Scrape;
import io.radixflow.cli.flink.WebPort;
import io.radixflow.models.TestModels;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * The packaged job on a cluster of processes: Flink and the kernels in {@code lib}, the job's
 * classes in its own jar, loaded by a class loader of their own.
 */
@Tag("slow")
class ServingClusterIT {

  @RegisterExtension
  final PackagedCluster cluster =
      new PackagedCluster("serving", options -> options.computing("512m"));

  private static final String JOB = "serving";
  private static final Pattern METRICS = Pattern.compile("Metrics are at (\\S+)");
  private static final String PROMPT = "Say something about the sea, the longer the better. ";

  @Test
  void turnsAreAnsweredFromTheCacheByAJobThatListensOnLoopbackAlone() throws Exception {
    String job = cluster.submit(cluster.settings(JOB, List.of("model=sim")));
    try (Conversations conversations = cluster.conversations(JOB)) {
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
    new WebPort(URI.create("http://" + cluster.rest().address())).assertClosedToStrangers();
    assertThat(metrics(cluster.processes().jobManagers()).names())
        .contains("flink_jobmanager_job_numberOfFailedCheckpoints");
    Scrape scrape = metrics(cluster.processes().taskManagers());
    assertThat(scrape.sum("flink_taskmanager_job_task_operator_serving_turnsAccepted", ""))
        .isEqualTo(3);
    for (JavaProcess process : cluster.processes().processes()) {
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
    cluster.submit(cluster.settings(JOB, List.of("model=" + TestModels.smolLm2())));
    try (Conversations conversations = cluster.conversations(JOB)) {
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
                "kafka.bootstrap-servers=" + cluster.processes().bootstrapServers(),
                "--set",
                "kafka.create-topics=true")
            .redirectErrorStream(true)
            .start();
    String output = new String(submit.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(submit.waitFor()).as(output).isZero();
    assertThat(output).containsPattern("submitted job [0-9a-f]{32} to http://127.0.0.1:");
    try (Conversations conversations = new Conversations(cluster.processes().bootstrapServers())) {
      conversations.say("a", "1", PROMPT, 16);
      conversations.awaitReplies(1);
      assertThat(conversations.answered()).containsExactly("a/1");
    }
  }

  private Scrape metrics(List<JavaProcess> processes) throws Exception {
    String log = Files.readString(cluster.processes().log(processes.get(0).name()));
    Matcher address = METRICS.matcher(log);
    assertThat(address.find()).isTrue();
    return Scrape.of(URI.create(address.group(1)));
  }

  private static String finishReason(JsonNode reply) {
    return reply.at("/choices/0/finish_reason").asText();
  }

  private static int cachedTokens(JsonNode reply) {
    return reply.at("/usage/prompt_tokens_details/cached_tokens").asInt();
  }
}
