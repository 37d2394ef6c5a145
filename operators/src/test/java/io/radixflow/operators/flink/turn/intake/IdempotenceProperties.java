package io.radixflow.operators.flink.turn.intake;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.Subtasks;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

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
    private final Subtasks subtasks;
    private final List<Events> log = new ArrayList<>();
    private final int[] nextOffset = new int[PARTITIONS];

    Run(long seed, ServingOptions options) throws Exception {
      this.random = new Random(seed);
      this.subtasks = new Subtasks(options);
    }

    /** A record in the log, read at once. */
    void produce(Events event) throws Exception {
      int partition = Math.floorMod(event.event().session().hashCode(), PARTITIONS);
      log.add(event.from(partition, nextOffset[partition]++));
      subtasks.send(log.get(log.size() - 1));
    }

    /** Sends an event again: another record. */
    void resend() throws Exception {
      produce(log.get(random.nextInt(log.size())));
    }

    /** Reads the log again from some offset. */
    void rewind() throws Exception {
      read(random.nextInt(log.size()));
    }

    private void read(int from) throws Exception {
      for (Events event : log.subList(from, log.size())) {
        subtasks.send(event);
      }
    }

    /** Ends with a checkpoint, so that what was emitted is committed, and continues from there. */
    void restart() throws Exception {
      subtasks.restore(subtasks.checkpoint(), 1 + random.nextInt(3));
    }

    /**
     * Falls back to an earlier checkpoint: what came after it was not committed and is read again.
     */
    void fail() throws Exception {
      Subtasks.Checkpoint checkpoint = subtasks.checkpoint();
      int readUpTo = log.size();
      for (int i = random.nextInt(4); i > 0; i--) {
        resend();
        subtasks.work();
      }
      subtasks.restore(checkpoint, 1 + random.nextInt(3));
      read(readUpTo);
    }

    List<Reply> finish() throws Exception {
      subtasks.settle();
      rewind();
      return subtasks.close();
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
      events.add(Events.drawn(random, kind, SESSIONS, events.size(), EVENTS));
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
        default -> run.subtasks.work();
      }
    }
    return run.finish();
  }

  @Property(tries = 4)
  void eachTurnHasOneCommittedReply(@ForAll long seed) throws Exception {
    ServingOptions tight =
        Options.with(
            o -> {
              o.maxQueuedPerSession = 2;
              o.maxSessionsPerTaskManager = SESSIONS - 1;
              o.retention = Duration.ofDays(7);
            });
    List<Events> events = events(seed, false);
    List<Reply> replies = disturbed(events, seed, tight);
    assertThat(replies)
        .extracting(Reply::turn)
        .containsExactlyInAnyOrderElementsOf(Events.answered(events));
  }

  @Property(tries = 4)
  void resendsChangeNoReply(@ForAll long seed) throws Exception {
    ServingOptions unbounded = Options.with(o -> o.maxQueuedPerSession = 10 * EVENTS);
    List<Events> events = events(seed, true);
    Run undisturbed = new Run(seed, unbounded);
    for (Events event : events) {
      undisturbed.produce(event);
    }
    assertThat(Subtasks.said(disturbed(events, seed, unbounded)))
        .isEqualTo(Subtasks.said(undisturbed.finish()));
  }
}
