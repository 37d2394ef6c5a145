package io.radixflow.lab.replay;

import java.util.HashMap;
import java.util.Map;

/** Repeats recorded operations on a cache and reports what differs; owned by one thread. */
public abstract class TraceReplay<L> {
  final ReplayReport report;
  private final Map<Integer, L> held = new HashMap<>();

  TraceReplay(ReplayReport report) {
    this.report = report;
  }

  /**
   * Does the next operation and compares.
   *
   * @throws IllegalArgumentException if the trace contradicts itself, for example by releasing a
   *     lock that is not held
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
      unlock(released(unlock.lock()));
    }
    compare(step.counts());
  }

  /** Keeps a lock under its name in the trace. */
  final void hold(int name, L lock) {
    if (held.putIfAbsent(name, lock) != null) {
      throw new IllegalArgumentException("lock " + name + " is taken while it is held");
    }
  }

  private L released(int name) {
    L lock = held.remove(name);
    if (lock == null) {
      throw new IllegalArgumentException("lock " + name + " is released but not held");
    }
    return lock;
  }

  abstract void insert(TraceOperation.Insert insert);

  abstract void match(TraceOperation.Match match);

  abstract void evict(TraceOperation.Evict evict);

  abstract void unlock(L lock);

  abstract void compare(TraceCounts expected);
}
