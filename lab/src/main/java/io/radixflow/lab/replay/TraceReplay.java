package io.radixflow.lab.replay;

/** Repeats recorded operations on a cache and reports what differs; owned by one thread. */
public interface TraceReplay {

  /**
   * Does the next operation and compares.
   *
   * @throws IllegalArgumentException if the trace contradicts itself, as by releasing a lock that
   *     no request holds
   */
  void apply(TraceStep step);
}
