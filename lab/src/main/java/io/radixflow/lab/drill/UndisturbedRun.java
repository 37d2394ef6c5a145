package io.radixflow.lab.drill;

import io.radixflow.jobs.ServingSettings;
import io.radixflow.jobs.client.ConversationClient;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.Settings;
import io.radixflow.kernels.ModelLoader;
import io.radixflow.lab.drill.proof.TurnKey;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.Reply;
import io.radixflow.tools.cluster.Waiting;
import io.radixflow.tools.local.LocalStack;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The same conversations once more, in this process, where nothing breaks. */
final class UndisturbedRun {
  private static final int LANES = 64;
  private static final Duration CHECKPOINTS = Duration.ofMillis(200);
  private static final Duration LIMIT = Duration.ofMinutes(30);

  private UndisturbedRun() {}

  /**
   * Serves the events, but for cancels: each turn has its whole reply.
   *
   * @param settings of the disturbed job; a broker and topics of its own are used
   * @param model the model; of a simulated one, without its pace
   */
  static Map<TurnKey, Reply> of(Settings settings, String model, List<ConversationEvent> events)
      throws IOException, InterruptedException {
    Settings quiet =
        settings
            .with(RadixflowOptions.MODEL, model)
            .with(RadixflowOptions.PARALLELISM, 1)
            .with(RadixflowOptions.CHECKPOINT_INTERVAL, CHECKPOINTS);
    List<ConversationEvent> turns = SessionScript.turnsOf(events);
    Deque<List<ConversationEvent>> sessions = new ArrayDeque<>(bySession(turns));
    LocalStack.Options local = new LocalStack.Options(Optional.empty(), true, 0, 0);
    try (LocalStack stack =
            LocalStack.start(
                quiet,
                local,
                ServingSettings.engine(quiet, name -> ModelLoader.open(name, Path::of)),
                step -> {});
        ConversationClient client = new ConversationClient(stack.settings());
        Traffic traffic = Traffic.start(client, LANES, sessions::poll)) {
      Waiting.until("the undisturbed run", LIMIT, () -> traffic.replyCount() == turns.size());
      return traffic.replies();
    }
  }

  private static List<List<ConversationEvent>> bySession(List<ConversationEvent> events) {
    Map<String, List<ConversationEvent>> sessions = new LinkedHashMap<>();
    for (ConversationEvent event : events) {
      sessions.computeIfAbsent(event.session(), id -> new ArrayList<>()).add(event);
    }
    return List.copyOf(sessions.values());
  }
}
