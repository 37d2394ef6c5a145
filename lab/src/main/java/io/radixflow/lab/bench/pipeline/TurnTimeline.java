package io.radixflow.lab.bench.pipeline;

import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * When the turn that runs now got to each {@link Hop}. There is one for the process, which Kafka's
 * clients find without being handed it, so one turn may run at a time. Any thread.
 */
final class TurnTimeline {
  static final TurnTimeline CURRENT = new TurnTimeline();

  private final AtomicLongArray nanos = new AtomicLongArray(Hop.values().length);

  private TurnTimeline() {}

  /** Forgets the turn before, and takes the time at which another begins. */
  void begin() {
    for (Hop hop : Hop.values()) {
      nanos.set(hop.ordinal(), 0);
    }
    pass(Hop.ASKED);
  }

  /** Takes the time of a hop, unless the turn got there before. */
  void pass(Hop hop) {
    pass(hop, System.nanoTime());
  }

  void pass(Hop hop, long at) {
    nanos.compareAndSet(hop.ordinal(), 0, at);
  }

  /** Takes the time of a hop as long as the turn has not got to a later one. */
  void passUntil(Hop hop, Hop later) {
    if (nanos.get(later.ordinal()) == 0) {
      nanos.set(hop.ordinal(), System.nanoTime());
    }
  }

  /** Returns the nanoseconds of the hops that the turn came through. */
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
