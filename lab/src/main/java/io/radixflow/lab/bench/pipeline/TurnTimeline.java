package io.radixflow.lab.bench.pipeline;

import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * The times at which the current turn passed each {@link Hop}. The process has only one timeline,
 * because Kafka's clients cannot get an object of their creator. So only one turn may run at a
 * time. Thread-safe.
 */
final class TurnTimeline {
  static final TurnTimeline CURRENT = new TurnTimeline();

  private final AtomicLongArray nanos = new AtomicLongArray(Hop.values().length);

  private TurnTimeline() {}

  /** Starts a new turn, and records its start time. */
  void begin() {
    for (Hop hop : Hop.values()) {
      nanos.set(hop.ordinal(), 0);
    }
    pass(Hop.ASKED);
  }

  /** Records the time of a hop, unless the turn has passed it before. */
  void pass(Hop hop) {
    pass(hop, System.nanoTime());
  }

  void pass(Hop hop, long at) {
    nanos.compareAndSet(hop.ordinal(), 0, at);
  }

  /** Records the time of a hop as long as the turn has not passed a later hop. */
  void passUntil(Hop hop, Hop later) {
    if (nanos.get(later.ordinal()) == 0) {
      nanos.set(hop.ordinal(), System.nanoTime());
    }
  }

  /** Returns the times, in nanoseconds, of the hops that the turn has passed. */
  TreeMap<Hop, Long> times() {
    TreeMap<Hop, Long> times = new TreeMap<>();
    for (Hop hop : Hop.values()) {
      long at = nanos.get(hop.ordinal());
      if (at != 0) {
        times.put(hop, at);
      }
    }
    return times;
  }
}
