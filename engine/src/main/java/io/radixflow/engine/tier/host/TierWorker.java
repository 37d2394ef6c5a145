package io.radixflow.engine.tier.host;

import io.radixflow.protocol.record.kv.KvTier;
import java.util.Locale;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads for slow work of the tiers. Checksums, reads and writes each have their own threads,
 * so that no kind of work waits for another. Results are passed to the engine thread. Callers bound
 * the work that they submit.
 */
public final class TierWorker {
  private static final Logger LOG = LoggerFactory.getLogger(TierWorker.class);
  private static final long CLOSE_SECONDS = 30;

  /** Kinds of work. */
  public enum Kind {
    /** Checksums of pages from the device; in order, so that each page follows its parent. */
    SUM(1),
    CHECK(2),
    READ(2),
    /** Separate, so that a slow remote store does not delay the disk. */
    READ_REMOTE(2),
    WRITE(1);

    private final int threads;

    /** Returns the kind of work that finds and reads pages in a tier. */
    public static Kind of(KvTier tier) {
      return tier == KvTier.REMOTE ? READ_REMOTE : READ;
    }

    Kind(int threads) {
      this.threads = threads;
    }
  }

  private final Executor engine;
  private final ThreadPoolExecutor[] threads = new ThreadPoolExecutor[Kind.values().length];

  /**
   * @param engine runs tasks on the engine thread
   */
  public TierWorker(Executor engine) {
    this.engine = engine;
    for (Kind kind : Kind.values()) {
      threads[kind.ordinal()] = open(kind);
    }
  }

  private static ThreadPoolExecutor open(Kind kind) {
    String name = "radixflow-tier-" + kind.name().toLowerCase(Locale.ROOT) + "-";
    AtomicInteger number = new AtomicInteger();
    ThreadPoolExecutor executor =
        new ThreadPoolExecutor(
            kind.threads,
            kind.threads,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, name + number.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            },
            new ThreadPoolExecutor.DiscardPolicy());
    executor.allowCoreThreadTimeOut(true);
    return executor;
  }

  /** Work that returns a result. */
  @FunctionalInterface
  public interface Work<T> {
    T run() throws Exception;
  }

  /**
   * Does work on a thread of its kind, and passes the result to the engine thread.
   *
   * @param failed the result if the work fails
   * @param then receives the result, on the engine thread
   */
  <T> void run(Kind kind, Work<T> work, T failed, Consumer<T> then) {
    threads[kind.ordinal()].execute(
        () -> {
          T result = failed;
          try {
            result = work.run();
          } catch (Exception | Error e) { // after any failure, the locked pages must be released
            LOG.warn("Task {} of the tiers failed; its pages count as missing", kind, e);
          }
          T given = result;
          engine.execute(() -> then.accept(given));
        });
  }

  /** Wakes the engine thread, which publishes the changes. */
  void wake() {
    engine.execute(() -> {});
  }

  /** Ends the threads after their current tasks; returns false if a thread does not end. */
  public boolean stop() {
    boolean ended = true;
    for (ThreadPoolExecutor each : threads) {
      each.shutdown();
      each.getQueue().clear();
    }
    for (ThreadPoolExecutor each : threads) {
      try {
        ended &= each.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        ended = false;
      }
    }
    return ended;
  }
}
