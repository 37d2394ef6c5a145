package io.radixflow.operators.tier.remote;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A store's own thread: destroys what was removed, and does what else writers and readers need not
 * wait for.
 */
final class StoreUpkeep implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StoreUpkeep.class);
  private static final long RETRY_MILLIS = 500;
  private static final long JOIN_MILLIS = 10_000;

  private final Semaphore work = new Semaphore(0);
  private final Erasure erasure;
  private final Runnable upkeep;
  private final Thread thread;
  private volatile boolean closed;

  /**
   * @param erasure steps that {@code upkeep} runs; while some are left it is done again soon
   * @param upkeep done once now, and then when there is work
   */
  StoreUpkeep(String name, Erasure erasure, Runnable upkeep) {
    this.erasure = erasure;
    this.upkeep = upkeep;
    this.thread = new Thread(this::run, name);
    thread.setDaemon(true);
    thread.start();
    wake();
  }

  /** There is something to do. */
  void wake() {
    work.release();
  }

  /** Completes, on this thread, when what was removed before is destroyed. */
  CompletableFuture<Void> erased() {
    CompletableFuture<Void> done = erasure.done();
    wake();
    return done;
  }

  private void run() {
    while (!closed) {
      try {
        if (erasure.isEmpty()) {
          work.acquire();
        } else {
          work.tryAcquire(RETRY_MILLIS, TimeUnit.MILLISECONDS);
        }
        work.drainPermits();
        if (!closed) {
          upkeep.run();
        }
      } catch (InterruptedException e) {
        return;
      } catch (RuntimeException | Error e) { // without this thread nothing is destroyed any more
        LOG.warn("The upkeep of a tier failed once", e);
      }
    }
  }

  @Override
  public void close() {
    closed = true;
    wake();
    try {
      thread.join(JOIN_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
