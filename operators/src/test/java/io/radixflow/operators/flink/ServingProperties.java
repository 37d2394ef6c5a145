package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.session.EventKind;
import io.radixflow.operators.session.Reply;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Predicate;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;

/** Random conversations over random interruptions: restores, rescales, resends. */
class ServingProperties {
  private static final int EVENTS = 40;
  private static final int SESSIONS = 4;

  /** No bound that a run would meet sooner or later by how far the engine has come. */
  private static final ServingOptions UNBOUNDED = Options.with(o -> o.maxQueuedPerSession = EVENTS);

  /** What a random run did: all events, sent one by one, and all replies. */
  private static final class Run {
    private final Random random;
    private final boolean interrupted;
    private final ScriptedEngine engine = new ScriptedEngine(700, 6);
    private final List<Reply> replies = new ArrayList<>();
    private List<ServingHarness> subtasks = new ArrayList<>();
    private long now = 1_000;

    Run(long seed, boolean interrupted) throws Exception {
      this.random = new Random(seed);
      this.interrupted = interrupted;
      start(1, null, 0);
    }

    private void start(int parallelism, OperatorSubtaskState state, int before) throws Exception {
      now += 1_000;
      subtasks = new ArrayList<>();
      for (int i = 0; i < parallelism; i++) {
        ServingHarness h = ServingHarness.of(engine, UNBOUNDED, parallelism, i);
        h.setProcessingTime(now);
        if (state == null) {
          h.open();
        } else {
          h.restore(state, before);
        }
        subtasks.add(h);
      }
    }

    void send(Events event) throws Exception {
      subtasks.get(ServingHarness.ownerOf(event.session(), subtasks.size())).send(event);
    }

    /** Lets the engine work a little, and now and then stops and restores all. */
    void maybeInterrupt(List<Events> sent) throws Exception {
      for (int steps = random.nextInt(4); interrupted && steps > 0; steps--) {
        engine.step();
        for (ServingHarness h : subtasks) {
          h.runMails();
        }
      }
      if (interrupted && random.nextInt(6) == 0) {
        restore(1 + random.nextInt(3));
        send(sent.get(random.nextInt(sent.size())));
      }
    }

    private void restore(int parallelism) throws Exception {
      int before = subtasks.size();
      OperatorSubtaskState[] states = new OperatorSubtaskState[before];
      for (int i = 0; i < before; i++) {
        states[i] = subtasks.get(i).snapshot();
      }
      close();
      start(parallelism, AbstractStreamOperatorTestHarness.repackageState(states), before);
    }

    List<Reply> finish() throws Exception {
      boolean working = true;
      while (working) {
        working = engine.step();
        for (ServingHarness h : subtasks) {
          h.runMails();
        }
      }
      close();
      return replies;
    }

    private void close() throws Exception {
      for (ServingHarness h : subtasks) {
        replies.addAll(h.replies());
        h.close();
      }
    }
  }

  private static List<Events> events(long seed, Predicate<EventKind> wanted) {
    Random random = new Random(seed);
    List<Events> events = new ArrayList<>();
    while (events.size() < EVENTS) {
      EventKind kind = EventKind.values()[random.nextInt(EventKind.values().length)];
      if (random.nextInt(3) > 0) {
        kind = EventKind.MESSAGE;
      }
      String session = "s" + random.nextInt(SESSIONS);
      String branch = random.nextInt(3) == 0 ? "b" : "main";
      String turn = "t" + events.size();
      Events event =
          switch (kind) {
            case MESSAGE -> Events.message(session, turn);
            case FORK -> Events.fork(session, turn, "b", null);
            case CANCEL -> Events.of(kind, session, "t" + random.nextInt(EVENTS));
            default -> Events.of(kind, session, turn);
          };
      boolean replaces = random.nextInt(8) == 0 && wanted.test(EventKind.CANCEL);
      if (wanted.test(kind)) {
        events.add(replaces ? event.on(branch).replacing() : event.on(branch));
      }
    }
    return events;
  }

  private static List<Reply> run(List<Events> events, long seed, boolean interrupted)
      throws Exception {
    Run run = new Run(seed, interrupted);
    List<Events> sent = new ArrayList<>();
    for (Events event : events) {
      run.send(event);
      sent.add(event);
      run.maybeInterrupt(sent);
    }
    return run.finish();
  }

  /** Replies that must not depend on time: what a reply says, by turn. */
  private static Map<String, String> said(List<Reply> replies) {
    Map<String, String> said = new TreeMap<>();
    replies.forEach(r -> said.put(r.turn(), r.finishReason() + " " + r.text() + " " + r.error()));
    return said;
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
    assertThat(said(run(events, seed, true))).isEqualTo(said(run(events, seed, false)));
  }

  @Property(tries = 10)
  void everyTurnIdIsAnsweredOnceWhateverHappens(@ForAll long seed) throws Exception {
    List<Events> events = events(seed, kind -> true);
    List<Reply> replies = run(events, seed, true);
    assertThat(replies).extracting(Reply::turn).doesNotHaveDuplicates();
    assertThat(replies)
        .extracting(Reply::turn)
        .containsExactlyInAnyOrderElementsOf(
            events.stream().filter(e -> e.kind() != EventKind.CANCEL).map(Events::turn).toList());
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
