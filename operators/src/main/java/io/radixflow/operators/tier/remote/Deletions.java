package io.radixflow.operators.tier.remote;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes removed pages in the background. A step that fails is tried again until it succeeds or
 * the threads are shut down. Safe for several threads.
 */
final class Deletions {
  private static final Logger LOG = LoggerFactory.getLogger(Deletions.class);
  private static final long RETRY_MILLIS = 500;

  private final ScheduledExecutorService threads;
  private final Set<CompletableFuture<Void>> pending = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean failing = new AtomicBoolean();

  /** A deletion, which may be done more than once. */
  @FunctionalInterface
  interface Step {
    void run() throws IOException;
  }

  /**
   * @param threads ignore tasks once they are shut down
   */
  Deletions(ScheduledExecutorService threads) {
    this.threads = threads;
  }

  /** Begins a step soon; never blocks. */
  void add(Step step) {
    CompletableFuture<Void> done = new CompletableFuture<>();
    pending.add(done);
    threads.execute(() -> attempt(step, done));
  }

  private void attempt(Step step, CompletableFuture<Void> done) {
    try {
      step.run();
    } catch (IOException | RuntimeException | Error e) { // pages must go whatever the cause
      if (failing.compareAndSet(false, true)) {
        LOG.warn("Removed pages of the remote tier are not deleted yet; retrying", e);
      }
      threads.schedule(() -> attempt(step, done), RETRY_MILLIS, TimeUnit.MILLISECONDS);
      return;
    }
    pending.remove(done);
    failing.compareAndSet(true, !pending.isEmpty());
    done.complete(null);
  }

  /** Completes when all steps have succeeded that were added before the call. */
  CompletableFuture<Void> done() {
    return CompletableFuture.allOf(pending.toArray(CompletableFuture[]::new));
  }
}
