package io.radixflow.lab.drill;

import static java.util.stream.Collectors.groupingBy;
import static java.util.stream.Collectors.toList;

import io.radixflow.cli.cluster.Waiting;
import io.radixflow.cli.local.LocalStack;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.lab.traffic.Driver;
import io.radixflow.lab.traffic.KafkaReply;
import io.radixflow.lab.traffic.KafkaTarget;
import io.radixflow.lab.traffic.TrafficTurn;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Reply;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Runs the same conversations once more in this process without faults. */
final class UndisturbedRun {
  private static final int LANES = 64;
  private static final Duration CHECKPOINTS = Duration.ofMillis(200);
  private static final Duration LIMIT = Duration.ofMinutes(30);

  private UndisturbedRun() {}

  /**
   * Serves the events except cancels, so that each turn gets its whole reply.
   *
   * @param settings settings of the disturbed job; this run uses its own broker and topics
   * @param model the model; a simulated one without delays
   */
  static Map<TrafficTurn, Reply> of(Settings settings, String model, List<ConversationEvent> events)
      throws IOException, InterruptedException {
    Settings quiet =
        settings
            .with(SharedConfig.MODEL, model)
            .with(RadixflowOptions.PARALLELISM, 1)
            .with(SharedConfig.CHECKPOINT_INTERVAL, CHECKPOINTS);
    List<ConversationEvent> turns = SessionScript.turnsOf(events);
    Deque<EventScript> sessions = new ArrayDeque<>();
    turns.stream()
        .collect(groupingBy(ConversationEvent::session, LinkedHashMap::new, toList()))
        .values()
        .forEach(session -> sessions.add(new EventScript(session)));
    LocalStack.Options local = new LocalStack.Options(Optional.empty(), true, 0, 0);
    try (LocalStack stack =
            LocalStack.start(
                quiet,
                local,
                ServingSettings.engine(quiet, name -> ModelLoader.open(name, Path::of)),
                step -> {});
        ConversationClient client = new ConversationClient(stack.settings());
        Driver<ConversationEvent, KafkaReply> traffic =
            Driver.start(
                Collections.nCopies(LANES, new KafkaTarget(client, true)), sessions::poll)) {
      Waiting.until("the undisturbed run", LIMIT, () -> traffic.replyCount() == turns.size());
      Map<TrafficTurn, Reply> replies = new HashMap<>();
      traffic.replies().forEach((turn, reply) -> replies.put(TrafficTurn.of(turn), reply.reply()));
      return replies;
    }
  }
}
