package io.radixflow.operators.tier;

import io.radixflow.kernels.device.KvPool;
import io.radixflow.operators.cache.KvEventListener;
import io.radixflow.operators.cache.PageAllocator;
import io.radixflow.operators.cache.RadixCache;
import io.radixflow.operators.cache.TreeNode;
import io.radixflow.operators.cache.key.RadixKey;
import io.radixflow.operators.cache.session.SessionPosition;
import io.radixflow.operators.record.KvEvent;
import io.radixflow.operators.tier.loadback.LoadBack;
import io.radixflow.operators.tier.page.PageChain;
import io.radixflow.operators.tier.page.PageId;
import io.radixflow.operators.tier.store.PageStore;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * What an engine has below its device: copies of its pages in host memory, on a disk and in a
 * remote file system. An engine without tiers has {@link NoTiers}.
 *
 * <p>Owned by the engine thread, which calls all methods but {@link #name}. Nothing blocks but
 * {@link #attach}, {@link #close}, {@link #calibrate} and {@link #awaitCopies}.
 */
public interface Tiers extends AutoCloseable {

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
      return new NoTiers();
    }
    PageStore store =
        options.store() == null
            ? null
            : options.store().open(numericsEpoch, Math.toIntExact(pool.pageBytes()));
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
   * progress. What was copied below the device stays.
   */
  void attach(RadixCache cache, PageAllocator allocator);

  /** Publishes pages that enter or leave host memory from now on. */
  void listen(KvEventListener listener);

  /** The pages in host memory, none before its parent. */
  List<KvEvent.Stored> content();

  // ---- device to host

  /** A request has ended whose lock ends at a node: pages up to there that are due are copied. */
  void used(TreeNode end);

  /** Whether a page that leaves the tree may have to be copied before it is free. */
  boolean copiesLeavingPages();

  /** Number of pages that have left the tree and are free once they have been copied. */
  int leavingPages();

  /** Whether a page is one of {@link #leavingPages}; only the tiers may free it. */
  boolean isLeaving(int page);

  /** Calls {@code visitor} for each of {@link #leavingPages}. */
  void forEachLeavingPage(IntConsumer visitor);

  // ---- stores and host to device

  /**
   * Names the pages of a key by their digests. Any thread may call it.
   *
   * @param tenant whose the key's namespace is; null if that does not matter, as pages are only
   *     looked for
   */
  PageChain name(RadixKey key, String tenant);

  /**
   * Begins to get what can be had of a waiting request's prefix.
   *
   * @param devicePages pages of it that the device has
   * @param limit end of the pages that are of use
   * @return null if nothing can be had
   */
  LoadBack loadBack(PageChain chain, int devicePages, int limit);

  /**
   * Begins to bring pages of an announced turn to host memory, at once or when others have ended.
   *
   * @param devicePages pages of its prefix that the device has
   * @param onEnd runs when that has ended by itself, and not before this returns
   * @return null if there is nothing to bring
   */
  LoadBack announce(PageChain chain, int devicePages, Runnable onEnd);

  /**
   * How many pages of a prefix are on the device or in host memory, up to the first that is not.
   *
   * @param devicePages pages of it that the device has
   */
  int pagesAtHand(PageChain chain, int devicePages);

  /**
   * Whether a request has to wait for its load-back.
   *
   * @param devicePages pages of its prefix that the device has now
   */
  boolean mustWait(LoadBack loadBack, int devicePages);

  /**
   * Adds what is worth it of a load-back to the copy that {@link #startCopies} begins; the rest is
   * faster computed.
   *
   * @param devicePages pages of the prefix that the device has
   * @param table the request's page table, whose pages {@code devicePages .. end-1} are its own
   * @return how many pages after those are copied; with none the load-back is still to be released
   */
  int copy(LoadBack loadBack, int devicePages, int end, int[] table);

  /** Begins to copy what was added, before the step that reads it is submitted. */
  void startCopies();

  /** Waits for the copy to the device; at most a moment once a step that reads it has ended. */
  void awaitCopies();

  /** Ends a load-back unless its pages are being copied, which ends it soon. Idempotent. */
  void release(LoadBack loadBack);

  /** Handles what has ended and begins what is next; returns whether there was any. */
  boolean poll();

  /**
   * Nanoseconds after which the engine has to {@link #poll} though nothing wakes it; 0 for never.
   */
  long pollNanos();

  /** Reports that a prefill of so many tokens from a position on took so long. */
  void computed(int position, int tokens, long nanos);

  /**
   * Measures what loading and computing take, before anything is served.
   *
   * @param prefills computes a few prompts and reports each to {@link #computed}
   */
  void calibrate(Runnable prefills);

  // ---- erasing: bytes go from host memory and the stores; the device keeps what is in use

  /** Erases what a closed session had before its positions and the device has for no other. */
  void closed(List<SessionPosition> positions);

  /**
   * Erases what a session had before a place that it does not go on from.
   *
   * @param left null if there is none
   * @param others where the session goes on; what they begin with stays
   */
  void left(SessionPosition left, List<SessionPosition> others);

  /** Erases the pages of a text that the device does not have. */
  void erase(RadixKey key);

  /**
   * Erases pages, but for those that another page follows there which stays: they are the beginning
   * of another text, too. The device's copies of them do not come down again unless a request uses
   * them.
   *
   * @param pages none before its parent
   * @return completes when no file holds their bytes, with whether there was a store
   */
  CompletableFuture<Boolean> erase(PageId[] pages);

  /** As {@link #erase(PageId[])}, of all pages of a tenant but public ones, followed or not. */
  CompletableFuture<Boolean> eraseTenant(String tenant);

  /** As {@link #erase(PageId[])}, of all pages there are. */
  CompletableFuture<Boolean> eraseAll();

  // ---- administration

  /**
   * Counts how many pages of a prefix are where; no page counts as used.
   *
   * @param devicePages pages of it that the device has
   * @param then gets, by {@link io.radixflow.operators.record.KvTier#ordinal}, how many come after
   *     those in host memory, and after these in the stores
   */
  void locate(PageChain chain, int devicePages, Consumer<int[]> then);

  /**
   * Changes what is below the device while requests run.
   *
   * @throws IllegalStateException if the engine has no tiers
   */
  TierSwitches switches();

  /** Whether pages are being copied to or from the device, or wait to be copied to host memory. */
  boolean isMoving();

  TierStats stats();

  /** Has the store report what it holds, for {@link #stats}; returns whether there is one. */
  boolean refreshStats();

  /** Whether host pages and their counters agree; walks everything. */
  boolean audit();

  /** Ends copies and threads, and frees host memory. */
  @Override
  void close();
}
