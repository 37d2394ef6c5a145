package io.radixflow.operators.engine;

import io.radixflow.operators.cache.RadixKey;
import io.radixflow.operators.record.KvTier;
import io.radixflow.operators.record.TierTokens;
import io.radixflow.operators.tier.PageChain;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Tells where pages of a text are, and changes nothing by it: no page counts as used, none is
 * locked. The names of the pages are made on an intake thread, the store is asked on one of its
 * own; the engine thread looks into the radix cache and the host's directory, once a page.
 */
final class PageLocator {
  private final KvPages pages;
  private final Executor intake;
  private final Executor engine;

  /**
   * @param intake makes prompts
   * @param engine runs what touches pages
   */
  PageLocator(KvPages pages, Executor intake, Executor engine) {
    this.pages = pages;
    this.intake = intake;
    this.engine = engine;
  }

  /** See {@link Engine#locate}. */
  CompletableFuture<TierTokens> locate(String namespace, EngineRequest.PromptSource text) {
    CompletableFuture<TierTokens> located = new CompletableFuture<>();
    intake.execute(
        () -> {
          try {
            int[] ids = text.ids();
            int publicTokens = Math.min(text.publicTokens(), ids.length);
            RadixKey key = new RadixKey(namespace, ids, ids.length, publicTokens);
            PageChain chain = pages.tiers().chain(key);
            engine.execute(() -> look(key, chain, located));
          } catch (PromptException | RuntimeException e) {
            located.completeExceptionally(e);
          }
        });
    return located;
  }

  private void look(RadixKey key, PageChain chain, CompletableFuture<TierTokens> located) {
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
