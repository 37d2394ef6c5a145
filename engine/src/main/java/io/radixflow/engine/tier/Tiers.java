package io.radixflow.engine.tier;

import io.radixflow.engine.cache.KvEventListener;
import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.tier.loadback.LoadBack;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * The tiers below an engine's device: copies of its pages in host memory, on a disk and in a remote
 * file system. The methods' default is an engine that has only its device ({@link #NONE}): no page
 * is ever found, kept or awaited.
 *
 * <p>Owned by the engine thread, which calls all methods but {@link #name}. Nothing blocks but
 * {@link #attach}, {@link #close}, {@link #calibrate} and {@link #awaitCopies}.
 */
public interface Tiers extends AutoCloseable {

  /** The tiers of an engine that has only its device. */
  Tiers NONE = new Tiers() {};

  /**
   * Opens the tiers that options ask for.
   *
   * @param pool the device's pages
   * @param numericsEpoch what decides the bits of the engine's pages
   * @param engine runs tasks on the engine thread
   * @throws IllegalArgumentException if there is not enough memory
   */
  static Tiers open(TierOptions options, KvPool pool, String numericsEpoch, Executor engine) {
    if (!options.enabled()) {
      return NONE;
    }
    PageSizes sizes = PageSizes.of(pool);
    PageStore store =
        options.store() == null ? null : options.store().open(sizes.epoch(numericsEpoch), sizes);
    try {
      return new HiRadixCache(pool, options, store, engine, System::nanoTime);
    } catch (RuntimeException | Error e) {
      if (store != null) {
        store.close();
      }
      throw e;
    }
  }

  /**
   * Follows another tree, which is empty, as the pool's pages are void; waits for copies in
   * progress. Copies below the device stay.
   *
   * @param cache uses its component already
   */
  default void attach(RadixCache cache, PageAllocator allocator) {}

  /** Publishes pages that enter or leave host memory from now on. */
  default void listen(KvEventListener listener) {}

  /** Returns the pages in host memory, none before its parent. */
  default List<KvEvent.Stored> content() {
    return List.of();
  }

  // ---- device to host

  /** Copies the pages that are due up to the node where the lock of an ended request is. */
  default void used(TreeNode end) {}

  /** Returns whether a page that leaves the tree may have to be copied before it is free. */
  default boolean copiesLeavingPages() {
    return false;
  }

  /** Returns how many parts of pages are locked until they have been copied to the host. */
  default int lockedParts() {
    return 0;
  }

  /** Calls {@code visitor} with the page of each of {@link #lockedParts}. */
  default void forEachLockedPart(IntConsumer visitor) {}

  /** Returns how many pages have left the tree and are free once they have been copied. */
  default int leavingPages() {
    return 0;
  }

  /** Returns whether a page is one of {@link #leavingPages}; only the tiers may free it. */
  default boolean isLeaving(int page) {
    return false;
  }

  /** Calls {@code visitor} for each of {@link #leavingPages}. */
  default void forEachLeavingPage(IntConsumer visitor) {}

  // ---- stores and host to device

  /**
   * Names the pages of a key by their digests, which costs a SHA-256 a page; null without tiers.
   * Any thread may call it.
   *
   * @param tenant owns the key's namespace; null if that does not matter, as pages are only looked
   *     for
   */
  default PageChain name(RadixKey key, String tenant) {
    return null;
  }

  /**
   * Begins to load the available pages of a waiting request's prefix.
   *
   * @param devicePages pages of it that the device has
   * @param limit end of the pages that are of use
   * @return null if no page is available
   */
  default LoadBack loadBack(PageChain chain, int devicePages, int limit) {
    return null;
  }

  /**
   * Begins to bring pages of an announced turn to host memory, at once or when others have ended.
   *
   * @param devicePages pages of its prefix that the device has
   * @param onEnd runs when that has ended by itself, and not before this returns
   * @return null if there is nothing to bring
   */
  default LoadBack announce(PageChain chain, int devicePages, Runnable onEnd) {
    return null;
  }

  /**
   * Returns how many pages of a prefix are on the device or in host memory, up to the first that is
   * not.
   *
   * @param devicePages pages of it that the device has
   */
  default int pagesAtHand(PageChain chain, int devicePages) {
    return devicePages;
  }

  /**
   * Begins the copies that {@link LoadBack#copy} added, before the step that reads it is submitted.
   */
  default void startCopies() {}

  /** Waits for the copy to the device; at most a moment once a step that reads it has ended. */
  default void awaitCopies() {}

  /** Handles finished work and begins the next; returns whether there was any. */
  default boolean poll() {
    return false;
  }

  /**
   * Nanoseconds after which the engine has to {@link #poll} though nothing wakes it; 0 for never.
   */
  default long pollNanos() {
    return 0;
  }

  /** Reports how long a prefill of {@code tokens} tokens from a position on took. */
  default void computed(int position, int tokens, long nanos) {}

  /**
   * Measures how long loading and computing take, before the first request.
   *
   * @param prefills computes a few prompts and reports each to {@link #computed}
   */
  default void calibrate(Runnable prefills) {}

  // ---- erasing: bytes go from host memory and the stores; the device keeps pages in use

  /**
   * Erases pages of a text, except pages that the device has and public pages.
   *
   * @param kept pages at the beginning of the text that stay
   */
  default void erase(RadixKey key, int kept) {}

  /**
   * Erases pages. A page stays if another page that stays follows it, because it is then also the
   * beginning of another text. The device's copies of erased pages do not come down again unless a
   * request uses them.
   *
   * @param pages none before its parent
   * @return completes when no file holds their bytes, with whether there was a store
   */
  default CompletableFuture<Boolean> erase(PageId[] pages) {
    return CompletableFuture.completedFuture(false);
  }

  /**
   * Erases, as {@link #erase(PageId[])} does, all pages of a tenant but public ones, followed or
   * not.
   */
  default CompletableFuture<Boolean> eraseTenant(String tenant) {
    return CompletableFuture.completedFuture(false);
  }

  /** Erases, as {@link #erase(PageId[])} does, all pages there are. */
  default CompletableFuture<Boolean> eraseAll() {
    return CompletableFuture.completedFuture(false);
  }

  // ---- administration

  /**
   * Counts the pages of a prefix in each tier; no page counts as used.
   *
   * @param devicePages pages of it that the device has
   * @param then gets, by {@link KvTier#ordinal}, how many come after those in host memory, and
   *     after these in the stores
   */
  default void locate(PageChain chain, int devicePages, Consumer<int[]> then) {
    then.accept(new int[KvTier.values().length]);
  }

  /**
   * Returns the switches that change the tiers below the device while requests run.
   *
   * @throws IllegalStateException if the engine has no tiers
   */
  default TierSwitches switches() {
    throw new IllegalStateException("the engine has no tiers below the device");
  }

  /**
   * Returns whether pages are being copied to or from the device, or wait to be copied to host
   * memory.
   */
  default boolean isMoving() {
    return false;
  }

  default TierStats stats() {
    return TierStats.NONE;
  }

  /** Has the store report what it holds, for {@link #stats}; returns whether there is one. */
  default boolean refreshStats() {
    return false;
  }

  /** Returns whether host pages and their counters agree; walks all pages. */
  default boolean audit() {
    return true;
  }

  /** Ends copies and threads, and frees host memory. */
  @Override
  default void close() {}
}
