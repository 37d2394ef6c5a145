package io.radixflow.gateway.http;

import io.radixflow.protocol.fair.FairExecutor;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Threads for work that takes too long for an event loop, such as parsing large bodies and
 * tokenizing. Tenants share the threads fairly, by the time that their work takes. Thread-safe.
 */
final class Workers implements AutoCloseable {

  static final int THREADS = 2;

  private final ThreadPoolExecutor threads;
  private final FairExecutor tenants;

  /**
   * @param weights weights of tenants
   */
  Workers(Map<String, Integer> weights) {
    AtomicInteger number = new AtomicInteger();
    threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> {
              Thread thread = new Thread(task, "gateway-worker-" + number.getAndIncrement());
              thread.setDaemon(true);
              return thread;
            },
            new ThreadPoolExecutor.DiscardPolicy());
    threads.allowCoreThreadTimeOut(true);
    tenants = new FairExecutor(threads, weights);
  }

  /**
   * Runs work of a tenant.
   *
   * @param loop runs {@code then} and {@code failed}
   * @param then receives the result
   * @param failed receives the exception of the work
   */
  <T> void run(
      String tenant,
      Executor loop,
      Callable<T> work,
      Consumer<? super T> then,
      Consumer<Throwable> failed) {
    tenants.execute(
        tenant,
        () -> {
          try {
            T result = work.call();
            loop.execute(() -> then.accept(result));
          } catch (Exception | Error e) { // the exchange must end after any failure
            loop.execute(() -> failed.accept(e));
          }
        });
  }

  /** Stops the threads. Waiting work is dropped. */
  @Override
  public void close() {
    threads.shutdownNow();
  }
}
