package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.session.EventKind;
import io.radixflow.operators.session.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;

/**
 * A producer that sends what it likes again, and a log that is read again from wherever: each turn
 * has one committed reply.
 */
class IdempotenceProperties {
  private static final int EVENTS = 50;
  private static final int SESSIONS = 5;
  private static final int PARTITIONS = 2;

  /** A log of partitions, written by the producer and read by the operator's subtasks. */
  private static final class Run {
    private final Random random;
    private final ServingOptions options;
    private final ScriptedEngine engine = new ScriptedEngine(700, 6);
    private final List<Events> log = new ArrayList<>();
    private final int[] nextOffset = new int[PARTITIONS];
    private final List<Reply> committed = new ArrayList<>();
    private List<ServingHarness> subtasks = new ArrayList<>();
    private long now = 1_000;

    Run(long seed, ServingOptions options) throws Exception {
      this.random = new Random(seed);
      this.options = options;
      start(1, null, 0);
    }

    private void start(int parallelism, OperatorSubtaskState state, int before) throws Exception {
      subtasks = new ArrayList<>();
      for (int i = 0; i < parallelism; i++) {
        ServingHarness h = ServingHarness.of(engine, options, parallelism, i);
        h.setProcessingTime(now);
        if (state == null) {
          h.open();
        } else {
          h.restore(state, before);
        }
        subtasks.add(h);
      }
    }

    /** A record in the log, read at once. */
    void produce(Events event) throws Exception {
      int partition = Math.floorMod(event.session().hashCode(), PARTITIONS);
      log.add(event.from(partition, nextOffset[partition]++));
      read(log.get(log.size() - 1));
    }

    private void read(Events event) throws Exception {
      subtasks.get(ServingHarness.ownerOf(event.session(), subtasks.size())).send(event);
    }

    /** Sends an event again: another record. */
    void resend() throws Exception {
      produce(log.get(random.nextInt(log.size())));
    }

    /** Reads the log again from some place on. */
    void rewind() throws Exception {
      for (Events event : log.subList(random.nextInt(log.size()), log.size())) {
        read(event);
      }
    }

    void work() throws Exception {
      engine.step();
      for (ServingHarness h : subtasks) {
        h.runMails();
      }
    }

    /** Ends with a checkpoint, so that what was emitted is committed, and goes on from there. */
    void restart() throws Exception {
      int before = subtasks.size();
      OperatorSubtaskState[] states = new OperatorSubtaskState[before];
      for (int i = 0; i < before; i++) {
        states[i] = subtasks.get(i).snapshot();
      }
      close();
      now += 1_000;
      start(
          1 + random.nextInt(3), AbstractStreamOperatorTestHarness.repackageState(states), before);
    }

    /**
     * Falls back to an earlier checkpoint: what came after it was not committed and is read again.
     */
    void fail() throws Exception {
      int before = subtasks.size();
      OperatorSubtaskState[] states = new OperatorSubtaskState[before];
      List<Integer> replies = new ArrayList<>();
      for (int i = 0; i < before; i++) {
        states[i] = subtasks.get(i).snapshot();
        replies.add(subtasks.get(i).replies().size());
      }
      int readUpTo = log.size();
      for (int i = random.nextInt(4); i > 0; i--) {
        resend();
        work();
      }
      for (int i = 0; i < before; i++) {
        committed.addAll(subtasks.get(i).replies().subList(0, replies.get(i)));
        subtasks.get(i).close();
      }
      now += 1_000;
      start(
          1 + random.nextInt(3), AbstractStreamOperatorTestHarness.repackageState(states), before);
      for (Events event : log.subList(readUpTo, log.size())) {
        read(event);
      }
    }

    List<Reply> finish() throws Exception {
      boolean working = true;
      while (working) {
        working = engine.step();
        for (ServingHarness h : subtasks) {
          h.runMails();
        }
      }
      rewind();
      close();
      return committed;
    }

    private void close() throws Exception {
      for (ServingHarness h : subtasks) {
        committed.addAll(h.replies());
        h.close();
      }
    }
  }

  private static List<Events> events(long seed, boolean onlyGrowing) {
    Random random = new Random(seed);
    EventKind[] kinds =
        onlyGrowing
            ? new EventKind[] {EventKind.REGENERATE, EventKind.PREFETCH, EventKind.OPEN}
            : EventKind.values();
    List<Events> events = new ArrayList<>();
    while (events.size() < EVENTS) {
      EventKind kind =
          random.nextInt(4) > 0 ? EventKind.MESSAGE : kinds[random.nextInt(kinds.length)];
      String session = "s" + random.nextInt(SESSIONS);
      String turn = "t" + events.size();
      events.add(
          switch (kind) {
            case MESSAGE -> Events.message(session, turn);
            case FORK -> Events.fork(session, turn, "b", null);
            case CANCEL -> Events.of(kind, session, "t" + random.nextInt(EVENTS));
            default -> Events.of(kind, session, turn);
          });
    }
    return events;
  }

  private static List<Reply> disturbed(List<Events> events, long seed, ServingOptions options)
      throws Exception {
    Run run = new Run(seed, options);
    for (Events event : events) {
      run.produce(event);
      switch (run.random.nextInt(8)) {
        case 0, 1, 2 -> run.resend();
        case 3 -> run.rewind();
        case 4 -> run.restart();
        case 5 -> run.fail();
        default -> run.work();
      }
    }
    return run.finish();
  }

  private static Map<String, String> said(List<Reply> replies) {
    Map<String, String> said = new TreeMap<>();
    replies.forEach(r -> said.put(r.turn(), r.finishReason() + " " + r.text() + " " + r.error()));
    return said;
  }

  @Property(tries = 4)
  void eachTurnHasOneCommittedReply(@ForAll long seed) throws Exception {
    ServingOptions tight =
        Options.with(
            o -> {
              o.maxQueuedPerSession = 2;
              o.maxSessionsPerSubtask = SESSIONS - 1;
              o.retention = Duration.ofDays(7);
            });
    List<Events> events = events(seed, false);
    List<Reply> replies = disturbed(events, seed, tight);
    assertThat(replies)
        .extracting(Reply::turn)
        .containsExactlyInAnyOrderElementsOf(
            events.stream().filter(e -> e.kind() != EventKind.CANCEL).map(Events::turn).toList());
  }

  @Property(tries = 4)
  void resendsChangeNoReply(@ForAll long seed) throws Exception {
    ServingOptions unbounded = Options.with(o -> o.maxQueuedPerSession = 10 * EVENTS);
    List<Events> events = events(seed, true);
    Run undisturbed = new Run(seed, unbounded);
    for (Events event : events) {
      undisturbed.produce(event);
    }
    assertThat(said(disturbed(events, seed, unbounded))).isEqualTo(said(undisturbed.finish()));
  }
}
