package io.radixflow.lab.replay;

/** A cache that does again what was recorded, and reports what differs; owned by one thread. */
public interface TraceReplay {

  /**
   * Does the next operation and compares.
   *
   * @throws IllegalArgumentException if the trace contradicts itself, as by releasing a lock that
   *     no request holds
   */
  void apply(TraceStep step);
}
