package io.radixflow.operators.engine;

import io.radixflow.operators.record.KvEvent;
import io.radixflow.operators.tier.HiRadixCache;
import io.radixflow.operators.tier.PageId;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What others than requests have done with an engine's pages: they are forgotten, listed, moved.
 * Any thread may ask; it is done on the engine thread, when that comes by, and the answer completes
 * there. None does once the engine is closed.
 */
final class PageTasks {
  private final KvPages pages;
  private final Prefetches prefetches;
  private final Executor intake;
  private final Executor engine;

  /**
   * @param intake runs tasks on a thread that may compute for a while
   * @param engine runs tasks on the engine thread
   */
  PageTasks(KvPages pages, Prefetches prefetches, Executor intake, Executor engine) {
    this.pages = pages;
    this.prefetches = prefetches;
    this.intake = intake;
    this.engine = engine;
  }

  /** See {@link Engine#forget}. */
  CompletableFuture<Boolean> forget(Supplier<PageId[]> named) {
    return CompletableFuture.supplyAsync(named, intake)
        .thenComposeAsync(pages.tiers().forgetting()::forget, engine);
  }

  /** See {@link Engine#forgetTenant}. */
  CompletableFuture<Boolean> forgetTenant(String tenant) {
    return ask(() -> {
          prefetches.erased(tenant);
          return pages.tiers().forgetting().forgetTenant(tenant);
        })
        .thenCompose(Function.identity());
  }

  /** See {@link Engine#forgetAll}. */
  CompletableFuture<Boolean> forgetAll() {
    return ask(pages.tiers().forgetting()::forgetAll).thenCompose(Function.identity());
  }

  /** See {@link ContinuousBatchingEngine#cacheContent}. */
  CompletableFuture<List<KvEvent.Stored>> content() {
    return ask(pages::content);
  }

  /** See {@link ContinuousBatchingEngine#onTiers}. */
  <T> CompletableFuture<T> onTiers(Function<HiRadixCache, T> task) {
    return ask(
        () -> {
          HiRadixCache tiers = pages.tiers().tiers();
          if (tiers == null) {
            throw new IllegalStateException("the engine has no tiers below the device");
          }
          return task.apply(tiers);
        });
  }

  private <T> CompletableFuture<T> ask(Supplier<T> task) {
    return CompletableFuture.supplyAsync(task, engine);
  }
}
