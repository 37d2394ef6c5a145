package io.radixflow.kernels.cpu.step;

import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.device.ThreadPriority;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that share the tasks of one parallel region at a time. The thread that calls {@link #run}
 * is worker 0 and also takes tasks. One thread may call it at a time.
 *
 * <p>Task t belongs to worker t modulo the team's size, so a worker has the same tasks of equal
 * regions step after step, and workers that keep pace never write to the same cache line. A worker
 * whose own tasks have all begun takes other workers' tasks, so a worker that is scheduled late
 * delays no other worker. The caller waits for tasks, not for workers. Between regions workers spin
 * for a few microseconds and then park, so a team without work costs nothing. If all cores compute,
 * threads that move records have priority: they need a core only for microseconds, and a client
 * waits for the records.
 */
public final class WorkerTeam implements AutoCloseable {

  /** The body of a parallel region; tasks must not depend on each other. */
  @FunctionalInterface
  public interface Region {
    /**
     * @param task 0 to tasks - 1, each once
     * @param worker 0 to size - 1; no two tasks run at once on one worker
     */
    void run(int task, int worker);
  }

  /** About 30 µs: longer than the gap between two regions of a step, short for a busy machine. */
  private static final int SPINS = 1000;

  /** A thread of weight 1024 that wakes takes the core of one of weight 110. */
  static final int NICE = 10;

  private static final int LINE = 8;

  private static final int COUNT_BITS = 24;

  /** Tasks of a region, at most. Numbers of regions have 39 bits: they last for years. */
  private static final int MOST_TASKS = (1 << COUNT_BITS) - 1;

  private final ThreadPriority priority;
  private final Thread[] threads;
  private final AtomicIntegerArray parked;

  /** The region's number, and the number of its tasks in the low bits. */
  private final AtomicLong work = new AtomicLong();

  /**
   * For each worker, in its own cache line: the region's number, and how many of its tasks the
   * worker has begun.
   */
  private final AtomicLongArray begun;

  private final AtomicInteger finished = new AtomicInteger();
  private volatile Region region;
  private volatile Throwable failure;
  private volatile boolean closed;
  private volatile boolean measured;

  /** For each worker, in its own cache line: the nanoseconds that it spent in tasks. */
  private final AtomicLongArray taskNanos;

  /** A team of the usual priority. */
  public WorkerTeam(int size) {
    this(size, ThreadPriority.NICE);
  }

  /**
   * @param size workers, the caller of {@link #run} included
   * @param priority of the workers, without that caller's
   */
  public WorkerTeam(int size, ThreadPriority priority) {
    this.priority = priority;
    parked = new AtomicIntegerArray(size);
    taskNanos = new AtomicLongArray(size * LINE);
    begun = new AtomicLongArray(size * LINE);
    threads = new Thread[size - 1];
    for (int i = 0; i < threads.length; i++) {
      int worker = i + 1;
      threads[i] = new Thread(() -> serve(worker), "radixflow-cpu-" + worker);
      threads[i].setDaemon(true);
      threads[i].start();
    }
  }

  /** Number of workers, the caller of {@link #run} included. */
  public int size() {
    return threads.length + 1;
  }

  /**
   * Runs the region's tasks and returns when all have ended.
   *
   * @throws RuntimeException or Error: the first that a task threw
   */
  public void run(int count, Region body) {
    if (count <= 1 || threads.length == 0) {
      for (int task = 0; task < count; task++) {
        measuredTask(body, task, 0);
      }
      return;
    }
    if (count > MOST_TASKS) {
      throw new IllegalArgumentException(count + " tasks are more than " + MOST_TASKS);
    }
    long next = ((work.get() >>> COUNT_BITS) + 1) << COUNT_BITS | count;
    region = body;
    finished.set(0);
    work.set(next);
    wake();
    takeTasks(next, 0);
    awaitTasks(count);
    Throwable thrown = failure;
    if (thrown != null) {
      failure = null;
      rethrow(thrown);
    }
  }

  private static void rethrow(Throwable thrown) {
    if (thrown instanceof Error error) {
      throw error;
    }
    throw (RuntimeException) thrown;
  }

  private void awaitTasks(int count) {
    int spins = 0;
    while (finished.get() < count) {
      if (++spins < SPINS * 4) {
        Thread.onSpinWait();
      } else {
        Thread.yield();
      }
    }
  }

  private void wake() {
    for (int i = 0; i < threads.length; i++) {
      if (parked.get(i + 1) != 0) {
        LockSupport.unpark(threads[i]);
      }
    }
  }

  /** Runs tasks of the worker, then what others have not begun. */
  private void takeTasks(long work, int worker) {
    long number = work >>> COUNT_BITS;
    int count = (int) work & MOST_TASKS;
    int ran = 0;
    for (int i = 0; i < size(); i++) {
      int owner = (worker + i) % size();
      int share = (count - owner + size() - 1) / size();
      for (int nth = begin(number, owner, share); nth >= 0; nth = begin(number, owner, share)) {
        runTask(region, owner + nth * size(), worker); // the region lasts until this task has ended
        ran++;
      }
    }
    if (ran > 0) {
      finished.addAndGet(ran);
    }
  }

  /**
   * Claims the owner's next task.
   *
   * @return which of its {@code share} tasks; -1 if all have begun, or the region has ended
   */
  private int begin(long number, int owner, int share) {
    for (; ; ) {
      long word = begun.get(owner * LINE);
      long last = word >>> COUNT_BITS;
      int nth = last == number ? (int) word & MOST_TASKS : 0;
      if (last > number || nth >= share) {
        return -1;
      }
      if (begun.compareAndSet(owner * LINE, word, number << COUNT_BITS | (nth + 1))) {
        return nth;
      }
    }
  }

  private void runTask(Region body, int task, int worker) {
    try {
      measuredTask(body, task, worker);
    } catch (RuntimeException | Error e) {
      failure = failure == null ? e : failure;
    }
  }

  private void measuredTask(Region body, int task, int worker) {
    if (!measured) {
      body.run(task, worker);
      return;
    }
    long start = System.nanoTime();
    body.run(task, worker);
    taskNanos.addAndGet(worker * LINE, System.nanoTime() - start);
  }

  /** Whether the time in tasks is measured from now on; called between two regions. */
  void measure(boolean on) {
    measured = on;
  }

  /** Nanoseconds that all workers together spent in tasks while they were measured. */
  long taskNanos() {
    long sum = 0;
    for (int worker = 0; worker < size(); worker++) {
      sum += taskNanos.get(worker * LINE);
    }
    return sum;
  }

  /** Gives the calling thread the priority of the team's workers. */
  public void defer() {
    switch (priority) {
      case NICE -> NativeKernels.deferToOthers(NICE);
      case IDLE -> NativeKernels.runWhenIdle();
    }
  }

  private void serve(int worker) {
    defer();
    long seen = 0;
    while (!closed) {
      seen = awaitRegion(seen, worker);
      takeTasks(seen, worker);
    }
  }

  private long awaitRegion(long seen, int worker) {
    int spins = 0;
    for (; ; ) {
      long current = work.get();
      if (current != seen || closed) {
        return current;
      }
      if (++spins < SPINS) {
        Thread.onSpinWait();
      } else {
        park(seen, worker);
      }
    }
  }

  /** Announces the nap before the last look at the region's number, so that no wake-up is lost. */
  private void park(long seen, int worker) {
    parked.set(worker, 1);
    if (work.get() == seen && !closed) {
      LockSupport.park(this);
    }
    parked.set(worker, 0);
  }

  /** Ends the threads after the tasks in flight. */
  @Override
  public void close() {
    closed = true;
    for (Thread thread : threads) {
      LockSupport.unpark(thread);
    }
  }
}
