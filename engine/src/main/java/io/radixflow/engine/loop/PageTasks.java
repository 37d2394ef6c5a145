package io.radixflow.engine.loop;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.PromptException;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.pages.KvPages;
import io.radixflow.engine.tier.Tiers;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import io.radixflow.protocol.record.kv.TierTokens;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Administrative operations on an engine's pages: erase, list, locate, move. Any thread may call
 * them. They run on the engine thread, which also completes their results. After the engine has
 * closed no result completes.
 *
 * @param intake runs tasks of a tenant on a thread that may compute for a while
 * @param engine runs tasks on the engine thread
 */
record PageTasks(
    KvPages pages,
    Announcements announcements,
    BiConsumer<String, Runnable> intake,
    Executor engine) {
  /** Erasures of all tenants are queued under this name, which no tenant can have. */
  private static final String ERASURES = "\0erasures";

  /** See {@link Engine#erase}. */
  CompletableFuture<Boolean> erase(Supplier<byte[]> names) {
    return CompletableFuture.supplyAsync(
            () -> PageId.all(names.get()), task -> intake.accept(ERASURES, task))
        .thenComposeAsync(pages.tiers()::erase, engine);
  }

  /** See {@link Engine#eraseTenant}. */
  CompletableFuture<Boolean> eraseTenant(String tenant) {
    return onEngine(
            () -> {
              announcements.erased(tenant);
              return pages.tiers().eraseTenant(tenant);
            })
        .thenCompose(Function.identity());
  }

  /** See {@link Engine#eraseAll}. */
  CompletableFuture<Boolean> eraseAll() {
    return onEngine(pages.tiers()::eraseAll).thenCompose(Function.identity());
  }

  /** See {@link ContinuousBatchingEngine#cacheContent}. */
  CompletableFuture<List<KvEvent.Stored>> content() {
    return onEngine(pages::content);
  }

  /** See {@link ContinuousBatchingEngine#onTiers}. */
  <T> CompletableFuture<T> onTiers(Function<Tiers, T> task) {
    return onEngine(() -> task.apply(pages.tiers()));
  }

  private <T> CompletableFuture<T> onEngine(Supplier<T> task) {
    return CompletableFuture.supplyAsync(task, engine);
  }

  /**
   * See {@link Engine#locate}. An intake thread makes the names of the pages, the stores answer on
   * their own threads, and the engine thread looks up each page in the radix cache and in host
   * memory. This does not lock pages, and does not count as a use of them.
   */
  CompletableFuture<TierTokens> locate(
      String tenant, String namespace, EngineRequest.PromptSource text) {
    CompletableFuture<TierTokens> located = new CompletableFuture<>();
    intake.accept(
        tenant,
        () -> {
          try {
            int[] ids = text.ids();
            int publicTokens = Math.min(text.publicTokens(), ids.length);
            RadixKey key = new RadixKey(namespace, ids, ids.length, publicTokens);
            PageChain chain = pages.tiers().name(key, null);
            engine.execute(() -> locate(key, chain, located));
          } catch (PromptException | RuntimeException e) {
            located.completeExceptionally(e);
          }
        });
    return located;
  }

  private void locate(RadixKey key, PageChain chain, CompletableFuture<TierTokens> located) {
    int device = pages.cache().match(key, Integer.MAX_VALUE).pages();
    pages
        .tiers()
        .locate(
            chain,
            device,
            below ->
                located.complete(
                    new TierTokens(
                        device * pages.pageTokens(),
                        tokens(below, KvTier.HOST),
                        tokens(below, KvTier.DISK),
                        tokens(below, KvTier.REMOTE))));
  }

  private int tokens(int[] pagesByTier, KvTier tier) {
    return pagesByTier[tier.ordinal()] * pages.pageTokens();
  }
}
