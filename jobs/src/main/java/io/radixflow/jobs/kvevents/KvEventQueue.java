package io.radixflow.jobs.kvevents;

import io.radixflow.protocol.record.kv.KvEvent;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A bounded queue of events from an engine to the publisher. The engine never waits: if changes do
 * not fit, they are refused, and from then on the queue accepts only a snapshot.
 */
final class KvEventQueue {

  /** The kinds of batches that the engine may hand over. */
  private enum Phase {
    /** The engine may not add anything yet. */
    STARTING,
    SNAPSHOT,
    CHANGES,
    /** The engine may not add anything until the publisher has taken the queued changes. */
    OVERFLOWN,
    CLOSED
  }

  /**
   * Events that the engine adds at once.
   *
   * @param snapshot whether the events are the whole content of the cache and not changes
   */
  record Batch(boolean snapshot, List<? extends KvEvent> events) {}

  private final int capacity;
  private final Runnable onRoom;
  private final LinkedBlockingQueue<Batch> batches = new LinkedBlockingQueue<>();
  private final AtomicInteger queued = new AtomicInteger();
  private final AtomicReference<Phase> phase = new AtomicReference<>(Phase.STARTING);

  /**
   * @param capacity the most waiting changes; a snapshot always fits
   * @param onRoom called when the queue needs a snapshot
   */
  KvEventQueue(int capacity, Runnable onRoom) {
    this.capacity = capacity;
    this.onRoom = onRoom;
  }

  /** Engine thread. */
  boolean wantsSnapshot() {
    return phase.get() == Phase.SNAPSHOT;
  }

  /** Engine thread. */
  boolean offerSnapshot(List<KvEvent.Stored> content) {
    return phase.compareAndSet(Phase.SNAPSHOT, Phase.CHANGES) && add(new Batch(true, content));
  }

  /** Engine thread. */
  boolean offer(List<KvEvent> changes) {
    if (phase.get() != Phase.CHANGES) {
      return false;
    }
    if (queued.get() + changes.size() > capacity) {
      phase.compareAndSet(Phase.CHANGES, Phase.OVERFLOWN);
      return false;
    }
    return add(new Batch(false, changes));
  }

  private boolean add(Batch batch) {
    queued.addAndGet(batch.snapshot ? 0 : batch.events.size());
    return batches.add(batch);
  }

  /** Called when the publisher can take a snapshot and has none of the earlier changes. */
  void start() {
    batches.clear();
    queued.set(0);
    wantSnapshot(Phase.STARTING);
  }

  /** Called when the publisher has lost its state. It takes nothing until {@link #start}. */
  void restart() {
    phase.updateAndGet(now -> now == Phase.CLOSED ? now : Phase.STARTING);
  }

  private void wantSnapshot(Phase from) {
    if (phase.compareAndSet(from, Phase.SNAPSHOT)) {
      onRoom.run();
    }
  }

  /** Returns the next batch, or null if none comes in time. Publisher's thread. */
  Batch take(long timeoutMillis) throws InterruptedException {
    Batch batch = batches.poll();
    if (batch == null) {
      wantSnapshot(Phase.OVERFLOWN);
      batch = batches.poll(timeoutMillis, TimeUnit.MILLISECONDS);
    }
    if (batch != null && !batch.snapshot) {
      queued.addAndGet(-batch.events.size());
    }
    return batch;
  }

  boolean isClosed() {
    return phase.get() == Phase.CLOSED;
  }

  /** Closes the queue and wakes the publisher. */
  void close() {
    phase.set(Phase.CLOSED);
    batches.add(new Batch(false, List.of()));
  }
}
