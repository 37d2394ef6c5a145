package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.client.config.SharedConfig;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests what sessions find in the tiers of the process that replaces a killed one. */
@Tag("slow")
class WarmRestartIT {

  @RegisterExtension
  final PackagedCluster cluster = new PackagedCluster("warm", options -> options);

  private static final Duration PATIENCE = Duration.ofMinutes(3);
  private static final List<String> SESSIONS = List.of("Anna", "Boris", "Clara");
  private static final int PAGE_TOKENS = 16;

  @Test
  void sessionsAreWarmAfterAKillWhereTheDirectoryIsFoundAndGoOnAlikeWhereItIsNot()
      throws Exception {
    String job = submit("warm", true);
    try (Conversations talk = cluster.conversations("warm")) {
      assertThat(turn(talk, 1)).allMatch(reply -> diskTokens(reply) == 0);
      awaitOnDisk(job, talk.replies());
      awaitCheckpoint(job);

      String name = kill();
      cluster.processes().startTaskManager(name);
      List<JsonNode> warm = turn(talk, 2);
      assertThat(warm).allSatisfy(WarmRestartIT::comesFromDisk);

      kill();
      cluster.processes().startTaskManager();
      List<JsonNode> cold = turn(talk, 3);
      assertThat(cold).allMatch(reply -> diskTokens(reply) == 0);

      assertThat(texts(talk.replies())).isEqualTo(undisturbed());
    }
  }

  /** The same turns in a job without tiers that nothing happens to. */
  private Map<String, String> undisturbed() throws Exception {
    submit("undisturbed", false);
    try (Conversations talk = cluster.conversations("undisturbed")) {
      for (int turn = 1; turn <= 3; turn++) {
        turn(talk, turn);
      }
      return texts(talk.replies());
    }
  }

  /** Kills the only TaskManager, and says what it was called. */
  private String kill() {
    JavaProcess victim = cluster.processes().taskManagers().get(0);
    victim.kill();
    return victim.name();
  }

  private String submit(String name, boolean tiers) throws Exception {
    List<String> below =
        List.of(
            "tiers.host-memory=64mb",
            "tiers.disk-size=64mb",
            "tiers.disk-min-free=0",
            "tiers.load-back-threshold=1",
            "tiers.prefetch-policy=wait_complete");
    return cluster.submit(
        cluster.settings(name, tiers ? below : List.of()).with(SharedConfig.MODEL, "sim"));
  }

  /** One turn of each session; the replies. */
  private static List<JsonNode> turn(Conversations talk, int number) throws IOException {
    int before = (number - 1) * SESSIONS.size();
    for (String session : SESSIONS) {
      String text = (session + " wants to know more, question " + number + ". ").repeat(20);
      talk.say(session, Integer.toString(number), text, 24);
    }
    talk.awaitReplies(before + SESSIONS.size());
    List<JsonNode> replies = talk.replies();
    return replies.subList(before, replies.size());
  }

  /** Waits until the disk has the pages of all prompts, of which no two are alike. */
  private void awaitOnDisk(String job, List<JsonNode> replies) {
    long pages =
        replies.stream().mapToInt(WarmRestartIT::promptTokens).map(t -> t / PAGE_TOKENS).sum();
    await("pages on disk")
        .atMost(PATIENCE)
        .ignoreExceptionsInstanceOf(IOException.class)
        .until(
            () ->
                cluster.rest().servingMetrics(job, "tier.disk.storePages").stream()
                        .anyMatch(stored -> stored >= pages)
                    && cluster.rest().servingMetrics(job, "tierPagesQueued").contains(0L));
  }

  /** Waits for a checkpoint that began after now. */
  private void awaitCheckpoint(String job) throws Exception {
    for (int i = 0; i < 2; i++) {
      String latest = cluster.rest().latestCheckpoint(job);
      await()
          .atMost(PATIENCE)
          .ignoreExceptionsInstanceOf(IOException.class)
          .until(() -> !Objects.equals(latest, cluster.rest().latestCheckpoint(job)));
    }
  }

  /** All whole pages of the turn before do. */
  private static void comesFromDisk(JsonNode reply) {
    assertThat(diskTokens(reply))
        .isEqualTo(tokens(reply, "/usage/prompt_tokens_details/cached_tokens"))
        .isGreaterThan(promptTokens(reply) / 3);
  }

  private static int diskTokens(JsonNode reply) {
    return tokens(reply, "/usage/prompt_tokens_details/cached_disk_tokens");
  }

  private static int promptTokens(JsonNode reply) {
    return tokens(reply, "/usage/prompt_tokens");
  }

  private static int tokens(JsonNode reply, String at) {
    return reply.at(at).asInt();
  }

  /** The reply and the finish reason of each turn. */
  private static Map<String, String> texts(List<JsonNode> replies) {
    return replies.stream()
        .collect(
            Collectors.toMap(
                reply -> reply.path("session").asText() + "/" + reply.path("turn").asText(),
                reply ->
                    reply.at("/choices/0/finish_reason").asText()
                        + ": "
                        + reply.at("/choices/0/message/content").asText()));
  }
}
