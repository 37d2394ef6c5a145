package io.radixflow.gateway.http;

import io.radixflow.operators.fair.FairExecutor;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads for what takes longer than an event loop may: large bodies, tokens. Tenants share them by
 * the time that their work takes. Safe for many threads.
 */
final class Workers implements AutoCloseable {

  static final int THREADS = 2;

  private final ThreadPoolExecutor threads;
  private final FairExecutor tenants;

  /**
   * @param weights of tenants
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

  /** Does work of a tenant; the result completes on the context. */
  <T> Future<T> run(String tenant, Context context, Callable<T> work) {
    Promise<T> promise = Promise.promise();
    Executor loop = task -> context.runOnContext(ignored -> task.run());
    tenants.execute(
        tenant,
        () -> {
          try {
            T result = work.call();
            loop.execute(() -> promise.complete(result));
          } catch (Exception | Error e) { // the exchange must end, whatever it is
            loop.execute(() -> promise.fail(e));
          }
        });
    return promise.future();
  }

  /** Ends the threads; what waits is not done. */
  @Override
  public void close() {
    threads.shutdownNow();
  }
}
