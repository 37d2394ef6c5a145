package io.radixflow.lab.replay;

/** Repeats recorded operations on a cache and reports what differs; owned by one thread. */
public abstract class TraceReplay {
  final ReplayReport report;

  TraceReplay(ReplayReport report) {
    this.report = report;
  }

  /**
   * Does the next operation and compares.
   *
   * @throws IllegalArgumentException if the trace contradicts itself, as by releasing a lock that
   *     no request holds
   */
  public final void apply(TraceStep step) {
    report.nextOperation();
    TraceOperation operation = step.operation();
    if (operation instanceof TraceOperation.Insert insert) {
      insert(insert);
    } else if (operation instanceof TraceOperation.Match match) {
      match(match);
    } else if (operation instanceof TraceOperation.Evict evict) {
      evict(evict);
    } else if (operation instanceof TraceOperation.Unlock unlock) {
      unlock(unlock.lock());
    }
    compare(step.counts());
  }

  abstract void insert(TraceOperation.Insert insert);

  abstract void match(TraceOperation.Match match);

  abstract void evict(TraceOperation.Evict evict);

  abstract void unlock(int lock);

  abstract void compare(TraceCounts expected);
}
