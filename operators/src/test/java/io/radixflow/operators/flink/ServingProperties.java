package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Predicate;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Random conversations over random interruptions: restores, rescales, resends. */
class ServingProperties {
  private static final int EVENTS = 40;
  private static final int SESSIONS = 4;

  /** No bound that a run would meet sooner or later by how far the engine has come. */
  private static final ServingOptions UNBOUNDED = Options.with(o -> o.maxQueuedPerSession = EVENTS);

  private static List<Events> events(long seed, Predicate<EventKind> wanted) {
    Random random = new Random(seed);
    List<Events> events = new ArrayList<>();
    while (events.size() < EVENTS) {
      EventKind kind = EventKind.values()[random.nextInt(EventKind.values().length)];
      if (random.nextInt(3) > 0) {
        kind = EventKind.MESSAGE;
      }
      Events event = Events.drawn(random, kind, SESSIONS, events.size(), EVENTS);
      String branch = random.nextInt(3) == 0 ? "b" : "main";
      boolean replaces = random.nextInt(8) == 0 && wanted.test(EventKind.CANCEL);
      if (wanted.test(kind)) {
        events.add(replaces ? event.on(branch).replacing() : event.on(branch));
      }
    }
    return events;
  }

  private static List<Reply> undisturbed(List<Events> events) throws Exception {
    Subtasks subtasks = new Subtasks(UNBOUNDED);
    for (Events event : events) {
      subtasks.send(event);
    }
    subtasks.settle();
    return subtasks.close();
  }

  /** Lets the engine work a little after each event, and now and then stops and restores all. */
  private static List<Reply> interrupted(List<Events> events, long seed) throws Exception {
    Random random = new Random(seed);
    Subtasks subtasks = new Subtasks(UNBOUNDED);
    for (int sent = 1; sent <= events.size(); sent++) {
      subtasks.send(events.get(sent - 1));
      for (int steps = random.nextInt(4); steps > 0; steps--) {
        subtasks.work();
      }
      if (random.nextInt(6) == 0) {
        subtasks.restore(subtasks.checkpoint(), 1 + random.nextInt(3));
        subtasks.send(events.get(random.nextInt(sent)));
      }
    }
    subtasks.settle();
    return subtasks.close();
  }

  @Property(tries = 10)
  void repliesDoNotDependOnInterruptions(@ForAll long seed) throws Exception {
    List<Events> events =
        events(
            seed,
            kind ->
                kind == EventKind.MESSAGE
                    || kind == EventKind.FORK
                    || kind == EventKind.REGENERATE
                    || kind == EventKind.PREFETCH
                    || kind == EventKind.OPEN);
    assertThat(Subtasks.said(interrupted(events, seed)))
        .isEqualTo(Subtasks.said(undisturbed(events)));
  }

  @Property(tries = 10)
  void everyTurnIdIsAnsweredOnceWhateverHappens(@ForAll long seed) throws Exception {
    List<Events> events = events(seed, kind -> true);
    List<Reply> replies = interrupted(events, seed);
    assertThat(replies).extracting(Reply::turn).doesNotHaveDuplicates();
    assertThat(replies)
        .extracting(Reply::turn)
        .containsExactlyInAnyOrderElementsOf(Events.answered(events));
    Map<String, List<Integer>> order = new HashMap<>();
    for (Reply reply : replies) {
      if (reply.finishReason().equals("stop") && reply.kind() == EventKind.MESSAGE) {
        order
            .computeIfAbsent(reply.session() + "/" + reply.branch(), k -> new ArrayList<>())
            .add(Integer.parseInt(reply.turn().substring(1)));
      }
    }
    order
        .values()
        .forEach(turns -> assertThat(turns).isSortedAccordingTo(Comparator.naturalOrder()));
  }
}
