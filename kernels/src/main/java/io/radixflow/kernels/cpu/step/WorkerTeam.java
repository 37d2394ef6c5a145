package io.radixflow.kernels.cpu.step;

import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.RowMemory;
import io.radixflow.kernels.device.ThreadPriority;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that share the tasks of one parallel region at a time. The thread that calls {@link #run}
 * is worker 0 and also runs tasks. Only one thread may call it at a time.
 *
 * <p>Task t belongs to worker t modulo the team's size. So a worker gets the same tasks in each
 * step, and workers that keep pace never write to the same cache line. A worker whose own tasks
 * have all begun takes tasks of other workers, so a worker that is scheduled late does not delay
 * the region. The caller waits for tasks, not for workers. Between regions, workers spin for a few
 * microseconds and then park, so an idle team costs nothing. Workers have a low priority, because
 * threads that move records need a core only for microseconds while a client waits for the records.
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

  /**
   * About 30 µs. This is longer than the gap between two regions of a step, but too short to
   * disturb a busy machine.
   */
  private static final int SPINS = 1000;

  /**
   * At this nice value a thread has weight 110. A waking thread of the usual weight, 1024, preempts
   * it.
   */
  static final int NICE = 10;

  private static final int LINE = 8;

  private static final int COUNT_BITS = 24;

  /** The largest number of tasks per region. Region numbers have 39 bits, which last for years. */
  private static final int MOST_TASKS = (1 << COUNT_BITS) - 1;

  private final RowMemory memory = new RowMemory();
  private final ThreadPriority priority;
  private final Thread[] threads;
  private final AtomicIntegerArray parked;

  /** The region's number; the low bits are the number of its tasks. */
  private final AtomicLong work = new AtomicLong();

  /**
   * Per worker, each in its own cache line: the region's number and how many of the worker's tasks
   * have begun.
   */
  private final AtomicLongArray begun;

  private final AtomicInteger finished = new AtomicInteger();
  private volatile Region region;
  private volatile Throwable failure;
  private volatile boolean closed;
  private volatile boolean measured;

  /** Per worker, each in its own cache line: the nanoseconds that it spent in tasks. */
  private final AtomicLongArray taskNanos;

  /** Creates a team with the default priority. */
  public WorkerTeam(int size) {
    this(size, ThreadPriority.NICE);
  }

  /**
   * @param size number of workers, including the caller of {@link #run}
   * @param priority priority of all workers except that caller
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

  /** The memory of the rows that the workers compute, until the team is closed. */
  public RowMemory memory() {
    return memory;
  }

  /** Number of workers, including the caller of {@link #run}. */
  public int size() {
    return threads.length + 1;
  }

  /**
   * Runs the region's tasks and returns when all have ended.
   *
   * @throws RuntimeException the first exception that a task threw; an Error likewise
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

  /** Runs the worker's own tasks, then tasks of other workers that have not begun. */
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
   * @return the index of the task among the owner's {@code share} tasks; -1 if all have begun or
   *     the region has ended
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

  /** Turns the measuring of task times on or off. Called between two regions. */
  void measure(boolean on) {
    measured = on;
  }

  /** Nanoseconds that all workers spent in tasks while the time was measured. */
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

  /**
   * Marks the worker as parked before it checks the region's number for the last time, so that no
   * wake-up is lost.
   */
  private void park(long seen, int worker) {
    parked.set(worker, 1);
    if (work.get() == seen && !closed) {
      LockSupport.park(this);
    }
    parked.set(worker, 0);
  }

  /** Stops the threads and frees the memory. No region may run. */
  @Override
  public void close() {
    closed = true;
    for (Thread thread : threads) {
      LockSupport.unpark(thread);
    }
    memory.close();
  }
}
