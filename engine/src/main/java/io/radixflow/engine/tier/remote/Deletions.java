package io.radixflow.engine.tier.remote;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Queue;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes removed pages in the background, two at a time. A failed step is tried again half a
 * second later, after the other steps, until it succeeds or the threads are shut down. Thread-safe.
 */
final class Deletions {
  private static final Logger LOG = LoggerFactory.getLogger(Deletions.class);
  private static final int AT_ONCE = 2;
  private static final long RETRY_MILLIS = 500;

  private final ScheduledExecutorService threads;
  private final Queue<Numbered> queue = new ArrayDeque<>();

  /** The numbers of the steps that have not succeeded. */
  private final NavigableSet<Long> pending = new TreeSet<>();

  private final Queue<Waiter> waiters = new ArrayDeque<>();
  private long last;
  private int active;
  private boolean failing;

  /** A deletion. It may run more than once. */
  @FunctionalInterface
  interface Step {
    void run() throws IOException;
  }

  private record Numbered(long number, Step step) {}

  /**
   * @param upTo number of the last step to wait for
   */
  private record Waiter(long upTo, CompletableFuture<Void> done) {}

  /**
   * @param threads an executor that ignores new tasks after its shutdown
   */
  Deletions(ScheduledExecutorService threads) {
    this.threads = threads;
  }

  /** Queues a step; never blocks. */
  synchronized void add(Step step) {
    pending.add(++last);
    queue.add(new Numbered(last, step));
    if (active < AT_ONCE) {
      active++;
      threads.execute(this::next);
    }
  }

  /**
   * Runs one step. The next step is a new task, so that the thread can run other tasks in between.
   */
  private void next() {
    Numbered next;
    synchronized (this) {
      next = queue.poll();
      if (next == null) {
        active--;
        return;
      }
    }
    try {
      next.step.run();
    } catch (IOException | RuntimeException | Error e) { // pages must be deleted after any failure
      failed(next, e);
      return;
    }
    succeeded(next.number);
    threads.execute(this::next);
  }

  private synchronized void failed(Numbered step, Throwable e) {
    if (!failing) {
      LOG.warn("Removed pages of the remote tier are not deleted yet; retrying", e);
    }
    failing = true;
    queue.add(step);
    threads.schedule(this::next, RETRY_MILLIS, TimeUnit.MILLISECONDS);
  }

  private void succeeded(long number) {
    List<CompletableFuture<Void>> ready = new ArrayList<>();
    synchronized (this) {
      pending.remove(number);
      failing &= !pending.isEmpty();
      while (!waiters.isEmpty() && (pending.isEmpty() || waiters.peek().upTo < pending.first())) {
        ready.add(waiters.poll().done);
      }
    }
    ready.forEach(done -> done.complete(null));
  }

  /**
   * Returns a future that completes when all steps that were added before the call have succeeded.
   */
  synchronized CompletableFuture<Void> done() {
    if (pending.isEmpty()) {
      return CompletableFuture.completedFuture(null);
    }
    Waiter waiter = new Waiter(last, new CompletableFuture<>());
    waiters.add(waiter);
    return waiter.done;
  }
}
