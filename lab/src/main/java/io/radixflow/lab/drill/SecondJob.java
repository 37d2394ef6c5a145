package io.radixflow.lab.drill;

import io.radixflow.cli.cluster.ProcessCluster;
import io.radixflow.cli.cluster.Waiting;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.lab.traffic.Driver;
import io.radixflow.lab.traffic.KafkaReply;
import io.radixflow.lab.traffic.KafkaTarget;
import io.radixflow.protocol.record.ConversationEvent;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.List;
import java.util.function.IntFunction;

/** A second job in the cluster of the drilled job, with its own topics. */
final class SecondJob {
  private static final Duration LIMIT = Duration.ofMinutes(3);
  private static final int SESSIONS = 2;

  /** Sessions of the drilled job have lower numbers. */
  private static final int FIRST_NUMBER = 1_000_000;

  private final ProcessCluster cluster;
  private final Settings settings;
  private final IntFunction<List<ConversationEvent>> scripts;
  private final List<ConversationEvent> sent = new ArrayList<>();
  private int number = FIRST_NUMBER;

  /**
   * @param settings settings of the drilled job
   * @param scripts the events of a session by its number
   */
  SecondJob(
      ProcessCluster cluster, Settings settings, IntFunction<List<ConversationEvent>> scripts) {
    this.cluster = cluster;
    this.settings =
        settings
            .with(RadixflowOptions.JOB_NAME, "second")
            .with(RadixflowOptions.PARALLELISM, 1)
            .with(KafkaConfig.GROUP_ID, "second")
            .with(KafkaConfig.TRANSACTIONAL_ID_PREFIX, "second")
            .with(KafkaConfig.EVENTS_TOPIC, "second-events")
            .with(KafkaConfig.REPLIES_TOPIC, "second-replies")
            .with(KafkaConfig.DELTAS_TOPIC, "second-deltas")
            .with(KafkaConfig.DEAD_LETTERS_TOPIC, "second-dead-letters")
            .with(KafkaConfig.CONTROL_TOPIC, "second-control");
    this.scripts = scripts;
  }

  Settings settings() {
    return settings;
  }

  List<ConversationEvent> sent() {
    return List.copyOf(sent);
  }

  /** Submits the job, holds conversations with it, and cancels it. */
  void run() throws IOException, InterruptedException {
    String id = cluster.commandLine().submit(null, settings);
    Deque<EventScript> sessions = new ArrayDeque<>();
    int events = 0;
    for (int i = 0; i < SESSIONS; i++) {
      List<ConversationEvent> script = scripts.apply(number++);
      sessions.add(new EventScript(script));
      events += SessionScript.turnsOf(script).size();
    }
    int wanted = events;
    try (ConversationClient client = new ConversationClient(settings);
        Driver<ConversationEvent, KafkaReply> traffic =
            Driver.start(
                Collections.nCopies(SESSIONS, new KafkaTarget(client, true)), sessions::poll)) {
      Waiting.until("the second job's replies", LIMIT, () -> traffic.replyCount() == wanted);
      sent.addAll(traffic.sent());
    }
    DrilledJob.cancel(cluster.rest(), id);
  }
}
