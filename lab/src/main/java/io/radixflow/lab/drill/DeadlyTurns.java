package io.radixflow.lab.drill;

import io.radixflow.cli.cluster.JavaProcess;
import io.radixflow.cli.cluster.ProcessCluster;
import io.radixflow.cli.cluster.Waiting;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.config.Settings;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.lab.traffic.KafkaReply;
import io.radixflow.lab.traffic.KafkaTarget;
import io.radixflow.lab.traffic.TrafficTurn;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.topic.EventWriter;
import io.radixflow.text.template.Message;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;

/**
 * Turns that kill the process that works on them. A TaskManager that died is started again with its
 * id and its working directory. There it finds the turns that it was working on.
 *
 * <p>Each TaskManager counts on its own. No turn is blamed for the first death, because other turns
 * were running. After {@code engine.attempts} further deaths with only this turn running, the turn
 * ends as an error. So there are at most {@code engine.attempts + 1} deaths per TaskManager, and
 * fewer if another TaskManager reaches the limit first.
 */
final class DeadlyTurns {
  /** The value of the simulated model's option {@code deadly}; no script contains it. */
  static final char MARK = '\u0001';

  private static final Duration LIMIT = Duration.ofMinutes(8);

  private final ProcessCluster cluster;
  private final Settings settings;
  private final List<ConversationEvent> sent = new ArrayList<>();
  private final List<ConversationEvent> deadly = new ArrayList<>();
  private int deaths;

  DeadlyTurns(ProcessCluster cluster, Settings settings) {
    this.cluster = cluster;
    this.settings = settings;
  }

  /** Returns all sent events, including the harmless turns around the deadly turns. */
  List<ConversationEvent> sent() {
    return List.copyOf(sent);
  }

  Set<TrafficTurn> deadly() {
    return deadly.stream().map(TrafficTurn::of).collect(Collectors.toSet());
  }

  /** Returns how many processes these turns have killed. */
  int deaths() {
    return deaths;
  }

  /** Returns the most deaths that all deadly turns may cause. */
  int mostDeaths(int taskManagers) {
    return deadly.size() * taskManagers * (settings.get(RadixflowOptions.ENGINE_ATTEMPTS) + 1);
  }

  /**
   * Sends a deadly turn between two harmless turns of a session, and restarts the processes that it
   * kills. An event that could not be sent is sent again.
   */
  void run() throws IOException, InterruptedException {
    String session = SessionScript.PREFIX + "deadly-" + deadly.size();
    List<ConversationEvent> turns =
        List.of(
            message(session, "before", "What is the light there?"),
            message(session, "deadly", "And what is this? " + MARK),
            message(session, "after", "And the other light?"));
    deadly.add(turns.get(1));
    sent.addAll(turns);
    try (ConversationClient client = new ConversationClient(settings);
        KafkaTarget job = new KafkaTarget(client, true)) {
      List<CompletableFuture<KafkaReply>> replies = turns.stream().map(job::send).toList();
      Map<String, JavaProcess> living = new HashMap<>();
      cluster.taskManagers().forEach(process -> living.put(process.name(), process));
      Waiting.until(
          "the replies around a deadly turn",
          LIMIT,
          () -> {
            restartTheDead(living);
            return replies.stream().allMatch(CompletableFuture::isDone);
          });
    }
    cluster.awaitTaskManagers();
  }

  private void restartTheDead(Map<String, JavaProcess> living) throws IOException {
    for (Map.Entry<String, JavaProcess> each : living.entrySet()) {
      if (!each.getValue().isAlive()) {
        deaths++;
        each.setValue(cluster.startTaskManager(each.getKey()));
      }
    }
  }

  /**
   * Returns how many dead letters do not belong to deadly turns, plus how many are missing.
   *
   * @param letters the records of the topic
   */
  int wrongDeadLetters(List<byte[]> letters) {
    List<String> left = new ArrayList<>();
    letters.forEach(letter -> left.add(text(letter)));
    int missing = 0;
    for (ConversationEvent turn : deadly) {
      missing += left.remove(text(EventWriter.write(turn))) ? 0 : 1;
    }
    return left.size() + missing;
  }

  private static String text(byte[] record) {
    return new String(record, StandardCharsets.UTF_8);
  }

  private static ConversationEvent message(String session, String turn, String text) {
    return ConversationEvent.builder(EventKind.MESSAGE, session, turn)
        .messages(List.of(new Message("user", text)))
        .build();
  }
}
