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
 * file system. The default methods describe an engine that has only its device ({@link #NONE}): no
 * page is ever found, kept or awaited.
 *
 * <p>Owned by the engine thread, which calls all methods except {@link #name}. Nothing blocks
 * except {@link #attach}, {@link #close}, {@link #calibrate} and {@link #awaitCopies}.
 */
public interface Tiers extends AutoCloseable {

  /** The tiers of an engine that has only its device. */
  Tiers NONE = new Tiers() {};

  /**
   * Opens the tiers that the options ask for.
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
   * Follows another, empty tree, because the pool's pages are void; waits for copies in progress.
   * Copies below the device stay.
   *
   * @param cache the tree's cache, which already uses its component
   */
  default void attach(RadixCache cache, PageAllocator allocator) {}

  /** Publishes pages that enter or leave host memory from now on. */
  default void listen(KvEventListener listener) {}

  /** Returns the pages in host memory, each after its parent. */
  default List<KvEvent.Stored> content() {
    return List.of();
  }

  // ---- device to host

  /** Copies the pages that are due up to the node where an ended request's lock ends. */
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
   * Names the pages of a key by their digests, which costs one SHA-256 per page; returns null
   * without tiers. Any thread may call it.
   *
   * @param tenant owner of the key's namespace; null if pages are only looked for, so that the
   *     owner does not matter
   */
  default PageChain name(RadixKey key, String tenant) {
    return null;
  }

  /**
   * Starts loading the available pages of a waiting request's prefix.
   *
   * @param devicePages pages of it that the device has
   * @param limit end of the useful pages
   * @return null if no page is available
   */
  default LoadBack loadBack(PageChain chain, int devicePages, int limit) {
    return null;
  }

  /**
   * Starts bringing pages of an announced turn to host memory, immediately or when other
   * announcements have ended.
   *
   * @param devicePages pages of its prefix that the device has
   * @param onEnd runs when the load-back has ended by itself, and not before this method returns
   * @return null if there is nothing to bring
   */
  default LoadBack announce(PageChain chain, int devicePages, Runnable onEnd) {
    return null;
  }

  /**
   * Returns how many pages of a prefix are on the device or in host memory, up to the first page
   * that is in neither.
   *
   * @param devicePages pages of it that the device has
   */
  default int pagesAtHand(PageChain chain, int devicePages) {
    return devicePages;
  }

  /**
   * Starts the copies that {@link LoadBack#copy} added, before the step that reads it is submitted.
   */
  default void startCopies() {}

  /** Waits for the copy to the device; after a step that reads it has ended, the wait is short. */
  default void awaitCopies() {}

  /** Handles finished work and starts the next; returns whether there was any. */
  default boolean poll() {
    return false;
  }

  /**
   * Returns the nanoseconds after which the engine has to {@link #poll} even if nothing wakes it; 0
   * for never.
   */
  default long pollNanos() {
    return 0;
  }

  /** Reports how long a prefill of {@code tokens} tokens from {@code position} on took. */
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
   * @param pages the pages, each after its parent
   * @return completes when no file contains the pages' bytes; the value says whether there was a
   *     store
   */
  default CompletableFuture<Boolean> erase(PageId[] pages) {
    return CompletableFuture.completedFuture(false);
  }

  /**
   * Erases, as {@link #erase(PageId[])} does, all pages of a tenant except public pages, whether
   * other pages follow them or not.
   */
  default CompletableFuture<Boolean> eraseTenant(String tenant) {
    return CompletableFuture.completedFuture(false);
  }

  /** Erases, as {@link #erase(PageId[])} does, all pages. */
  default CompletableFuture<Boolean> eraseAll() {
    return CompletableFuture.completedFuture(false);
  }

  // ---- administration

  /**
   * Counts the pages of a prefix in each tier; no page counts as used.
   *
   * @param devicePages pages of it that the device has
   * @param then receives the counts by {@link KvTier#ordinal}: the pages in host memory that follow
   *     the device's, and the pages in the stores that follow these
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

  /** Asks the store to report its content for {@link #stats}; returns whether there is a store. */
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
