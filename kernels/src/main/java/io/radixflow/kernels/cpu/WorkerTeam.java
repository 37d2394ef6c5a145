package io.radixflow.kernels.cpu;

import io.radixflow.kernels.cpu.kernel.NativeKernels;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that share the tasks of one parallel region at a time. The thread that calls {@link #run}
 * is worker 0 and takes tasks too; one thread may call it at a time.
 *
 * <p>A worker claims the next task by a compare-and-set on a word that holds the region's number
 * and the tasks left, so a worker that was not scheduled in time delays no other: its claim fails.
 * The caller waits for tasks, not for workers. Between regions workers spin for some microseconds,
 * then park; a team without work costs nothing. Where all cores compute, threads that move records
 * come first: they need them for microseconds, and a client waits for what they move.
 */
final class WorkerTeam implements AutoCloseable {

  /** The body of a parallel region; tasks must not depend on each other. */
  @FunctionalInterface
  interface Region {
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

  private static final int LEFT_BITS = 32;
  private static final long LEFT_MASK = (1L << LEFT_BITS) - 1;

  private final Thread[] threads;
  private final AtomicIntegerArray parked;
  private final AtomicLong work = new AtomicLong();
  private final AtomicInteger finished = new AtomicInteger();
  private volatile Region region;
  private volatile int tasks;
  private volatile Throwable failure;
  private volatile boolean closed;
  private volatile boolean measured;

  /** Nanoseconds in tasks of each worker, a cache line apart. */
  private final AtomicLongArray taskNanos;

  /**
   * @param size workers, the caller of {@link #run} included
   */
  WorkerTeam(int size) {
    parked = new AtomicIntegerArray(size);
    taskNanos = new AtomicLongArray(size * LINE);
    threads = new Thread[size - 1];
    for (int i = 0; i < threads.length; i++) {
      int worker = i + 1;
      threads[i] = new Thread(() -> serve(worker), "radixflow-cpu-" + worker);
      threads[i].setDaemon(true);
      threads[i].start();
    }
  }

  /** Number of workers, the caller of {@link #run} included. */
  int size() {
    return threads.length + 1;
  }

  /**
   * Runs the region's tasks and returns when all have ended.
   *
   * @throws RuntimeException or Error: the first that a task threw
   */
  void run(int count, Region body) {
    if (count <= 1 || threads.length == 0) {
      for (int task = 0; task < count; task++) {
        measuredTask(body, task, 0);
      }
      return;
    }
    long number = (work.get() >>> LEFT_BITS) + 1;
    region = body;
    tasks = count;
    finished.set(0);
    work.set(number << LEFT_BITS | count);
    wake();
    takeTasks(number, 0);
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

  private void takeTasks(long number, int worker) {
    for (; ; ) {
      long claim = work.get();
      int left = (int) (claim & LEFT_MASK);
      if (claim >>> LEFT_BITS != number || left == 0) {
        return;
      }
      Region body = region;
      int task = tasks - left;
      if (work.compareAndSet(claim, claim - 1)) {
        // The region cannot have ended before, so body and tasks were its own.
        runTask(body, task, worker);
      }
    }
  }

  private void runTask(Region body, int task, int worker) {
    try {
      measuredTask(body, task, worker);
    } catch (RuntimeException | Error e) {
      failure = failure == null ? e : failure;
    } finally {
      finished.incrementAndGet();
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

  private void serve(int worker) {
    NativeKernels.deferToOthers(NICE);
    long seen = 0;
    while (!closed) {
      seen = awaitRegion(seen, worker);
      takeTasks(seen, worker);
    }
  }

  private long awaitRegion(long seen, int worker) {
    int spins = 0;
    for (; ; ) {
      long number = work.get() >>> LEFT_BITS;
      if (number != seen || closed) {
        return number;
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
    if (work.get() >>> LEFT_BITS == seen && !closed) {
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
