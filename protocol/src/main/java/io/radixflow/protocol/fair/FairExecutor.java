package io.radixflow.protocol.fair;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.function.LongSupplier;

/**
 * Shares threads among tenants. The next task is from the tenant whose tasks have used the least
 * time of these threads for its weight. So however much one tenant has queued, another tenant's
 * first task waits only for running tasks. Tasks of one tenant start in order. Thread-safe.
 */
public final class FairExecutor {
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  /** The least cost of a task, so that no tenant's tasks are free. */
  private static final long LEAST = 1000;

  private static final class Lane extends Share {
    final Queue<Runnable> tasks = new ArrayDeque<>();
    int running;

    Lane(String name, int weight) {
      super(name, weight);
    }
  }

  private final Executor threads;
  private final LongSupplier time;
  private final Shares<Lane> lanes;
  private int waiting;

  /**
   * @param threads runs the tasks
   * @param weights weights of tenants; a tenant that is not named has weight 1
   */
  public FairExecutor(Executor threads, Map<String, Integer> weights) {
    this(threads, weights, FairExecutor::threadNanos);
  }

  /**
   * @param time returns the CPU time of the current thread in nanoseconds
   */
  FairExecutor(Executor threads, Map<String, Integer> weights, LongSupplier time) {
    this.threads = threads;
    this.time = time;
    this.lanes = new Shares<>(weights, Lane::new);
  }

  private static long threadNanos() {
    return THREADS.isCurrentThreadCpuTimeSupported()
        ? THREADS.getCurrentThreadCpuTime()
        : System.nanoTime();
  }

  /** Queues a task of a tenant. */
  public void execute(String tenant, Runnable task) {
    synchronized (this) {
      Lane lane = lanes.of(tenant);
      if (lane.tasks.isEmpty()) {
        lanes.beginsToWait(lane);
      }
      lane.tasks.add(task);
      waiting++;
    }
    threads.execute(this::runNext);
  }

  /** Returns an executor of one tenant's tasks. */
  public Executor of(String tenant) {
    return task -> execute(tenant, task);
  }

  /** Removes and returns the waiting tasks, so that they never run; for the end of the threads. */
  public synchronized List<Runnable> drain() {
    List<Runnable> all = new ArrayList<>();
    lanes.backlogged().forEach(lane -> all.addAll(lane.tasks));
    List.copyOf(lanes.backlogged()).forEach(lanes::endsToWait);
    waiting = 0;
    return all;
  }

  /** Returns how many tasks wait. */
  public synchronized int waiting() {
    return waiting;
  }

  private void runNext() {
    Lane lane;
    Runnable task;
    synchronized (this) {
      if (waiting == 0) {
        return; // the tasks were drained
      }
      lane = Collections.min(lanes.backlogged());
      task = lane.tasks.remove();
      waiting--;
      lane.running++;
      lanes.begins(lane);
      if (lane.tasks.isEmpty()) {
        lanes.endsToWait(lane);
      }
    }
    long began = time.getAsLong();
    try {
      task.run();
    } finally {
      ran(lane, Math.max(LEAST, time.getAsLong() - began));
    }
  }

  private synchronized void ran(Lane lane, long nanos) {
    lanes.charge(lane, nanos);
    lane.running--;
    if (lane.running == 0 && lane.tasks.isEmpty()) {
      lanes.retire(lane);
    }
  }
}
