package io.radixflow.operators.engine;

import io.radixflow.kernels.device.KvPool;
import io.radixflow.operators.cache.KvEventListener;
import io.radixflow.operators.cache.NamespaceKey;
import io.radixflow.operators.cache.PageAllocator;
import io.radixflow.operators.cache.RadixCache;
import io.radixflow.operators.cache.RadixKey;
import io.radixflow.operators.cache.TreeNode;
import io.radixflow.operators.record.KvEvent;
import io.radixflow.operators.record.KvTier;
import io.radixflow.operators.record.TierUsage;
import io.radixflow.operators.tier.HiRadixCache;
import io.radixflow.operators.tier.PageChain;
import io.radixflow.operators.tier.PageStore;
import io.radixflow.operators.tier.Prefetch;
import io.radixflow.operators.tier.Retrieval;
import io.radixflow.operators.tier.TierOptions;
import io.radixflow.operators.tier.TierStats;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * What requests get from the tiers below the device. A request whose pages are on their way counts
 * them as computed, and the copy as a step in flight: until it has ended, nobody takes the pages
 * away or shares them, and no token that depends on them goes out. If it fails they are computed.
 *
 * <p>Engine thread only, but for {@link #name}. Does nothing in an engine without tiers.
 */
final class TierLoads {
  /** How often a request looks again because pages have left the device since it looked. */
  private static final int LOOKS = 3;

  private static final long MOVING_NANOS = 50_000;
  private static final long WAITING_NANOS = 5_000_000;

  private final TierOptions options;
  private final int pageTokens;

  /** Null without tiers. */
  private final HiRadixCache tiers;

  private final TierForgetting forgetting;

  private final List<Request> loading = new ArrayList<>();

  /** Requests that have pages looked for; how many. */
  private int waiting;

  /**
   * @param engine runs tasks on the engine thread
   */
  TierLoads(TierOptions options, KvPool pool, String numericsEpoch, Executor engine) {
    this.options = options;
    this.pageTokens = pool.pageTokens();
    this.tiers = options.enabled() ? open(options, pool, numericsEpoch, engine) : null;
    this.forgetting = new TierForgetting(tiers, options, pageTokens);
  }

  private static HiRadixCache open(
      TierOptions options, KvPool pool, String numericsEpoch, Executor engine) {
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

  /** Null without tiers. */
  HiRadixCache tiers() {
    return tiers;
  }

  /** Follows another cache, which is empty; all requests have lost their pages. */
  void attach(RadixCache cache, PageAllocator allocator) {
    for (Request request : loading) {
      request.loadedFrom = -1;
      request.retrieval = null;
    }
    loading.clear();
    forgetting.attach(cache);
    if (tiers != null) {
      tiers.attach(cache, allocator);
    }
  }

  void listen(KvEventListener listener) {
    if (tiers != null) {
      tiers.listen(listener);
    }
  }

  List<KvEvent.Stored> content() {
    return tiers == null ? List.of() : tiers.content();
  }

  /** Names the pages of a request's tokens; any thread that owns the request. */
  void name(Request request) {
    if (tiers != null) {
      request.chain =
          PageChain.of(
              new RadixKey(
                  request.spec.namespace(), request.tokens, request.length, request.publicTokens),
              pageTokens,
              tenantOf(request));
    }
  }

  private long tenantOf(Request request) {
    boolean open = request.spec.namespace().equals(NamespaceKey.PUBLIC);
    return open || options.tenants() == null
        ? 0
        : options.tenants().tenantTag(request.spec.service().tenant());
  }

  /** Begins to look for what lower tiers have of a request that begins to wait. */
  void look(Request request, KvPages pages) {
    if (tiers != null) {
      request.looks = 0;
      look(request, pages.match(request).pages());
    }
  }

  private void look(Request request, int devicePages) {
    if (request.chain == null || request.chain.pages() != request.length / pageTokens) {
      name(request);
    }
    tiers.owns(tenantOf(request), request.spec.namespace());
    request.looks++;
    request.retrieval = tiers.retrieve(request.chain, devicePages, usefulPages(request));
    waiting += request.retrieval == null ? 0 : 1;
  }

  /**
   * Begins to bring what the store has of an expected turn's prompt to host memory.
   *
   * @param ended runs when that has ended by itself
   * @return null if there is nothing to bring
   */
  Prefetch prefetch(Request expected, int devicePages, Runnable ended) {
    if (tiers == null) {
      return null;
    }
    tiers.owns(tenantOf(expected), expected.spec.namespace());
    return tiers.prefetcher().add(expected.chain, devicePages, ended);
  }

  /** Ends a prefetch; what has come stays. */
  void end(Prefetch prefetch) {
    tiers.prefetcher().end(prefetch);
  }

  /** How many pages of an expected turn's prompt are on the device or in host memory. */
  int pagesAtHand(Request expected, int devicePages) {
    return tiers == null
        ? devicePages
        : tiers.prefetcher().pagesAtHand(expected.chain, devicePages);
  }

  /** Whole pages before the last token, which is computed in any case. */
  private int usefulPages(Request request) {
    return (request.length - 1) / pageTokens;
  }

  /** Whether a waiting request waits for pages of lower tiers. */
  boolean mustWait(Request request, KvPages pages) {
    return request.retrieval != null && mustWait(request, pages.match(request).pages());
  }

  private boolean mustWait(Request request, int devicePages) {
    if (tiers.mustWait(request.retrieval, devicePages)) {
      return true;
    }
    if (devicePages >= request.retrieval.from() || request.looks >= LOOKS) {
      return false;
    }
    drop(request);
    look(request, devicePages);
    return request.retrieval != null;
  }

  /** A request does not wait for pages any more. */
  void drop(Request request) {
    if (request.retrieval != null && request.loadedFrom < 0) {
      tiers.release(request.retrieval);
      request.retrieval = null;
      waiting--;
    }
  }

  /**
   * Loads what is worth it for a request that is being admitted and has pages of its own.
   *
   * @param devicePages pages of its prefix that the device has
   * @return how many pages are loaded after those
   */
  int load(Request request, int devicePages, int[] table) {
    Retrieval retrieval = request.retrieval;
    if (retrieval == null) {
      return 0;
    }
    int pages = tiers.load(retrieval, devicePages, tiers.loadable(retrieval, devicePages), table);
    if (pages == 0) {
      drop(request);
      return 0;
    }
    request.loadedFrom = devicePages * pageTokens;
    request.stepsInFlight++;
    loading.add(request);
    waiting--;
    return pages;
  }

  /** What a request that has just been admitted gets from below the device. */
  TierUsage usage(Request request) {
    Retrieval retrieval = request.retrieval;
    if (retrieval == null) {
      return TierUsage.NONE;
    }
    return new TierUsage(
        retrieval.loadedPages(KvTier.HOST) * pageTokens,
        retrieval.loadedPages(KvTier.DISK) * pageTokens,
        retrieval.loadedPages(KvTier.REMOTE) * pageTokens,
        retrieval.micros());
  }

  /** Begins to load, before the step is submitted that reads the pages. */
  void start() {
    if (tiers != null) {
      tiers.startLoads();
    }
  }

  /**
   * Takes note of copies that have ended; never blocks.
   *
   * @param ended gets each request that has ended and whose copy was the last to use its pages
   * @return whether there were any, or others have begun
   */
  boolean poll(Consumer<Request> ended) {
    if (tiers == null) {
      return false;
    }
    boolean worked = tiers.poll();
    for (int i = 0; i < loading.size(); ) {
      Request request = loading.get(i);
      boolean failed = request.retrieval.failure() != null;
      // a step that has read what did not come is undone when it ends
      if (request.retrieval.isLoading() || failed && request.stepsInFlight > 1) {
        i++;
        continue;
      }
      settle(request);
      if (request.stepsInFlight == 0) {
        ended.accept(request);
      }
    }
    return worked;
  }

  /**
   * Waits for the pages of a request of which a step has ended, and which therefore are there or
   * will not come.
   *
   * @return why they did not come, or null
   */
  Throwable await(Request request) {
    if (request.loadedFrom < 0) {
      return null;
    }
    if (request.retrieval.isLoading()) {
      tiers.awaitLoads();
    }
    return settle(request);
  }

  private Throwable settle(Request request) {
    Throwable failure = request.retrieval.failure();
    loading.remove(request);
    request.stepsInFlight--;
    if (failure != null) {
      request.computed = request.loadedFrom;
      if (request.stepsInFlight == 0) {
        request.rewind();
      }
    }
    request.loadedFrom = -1;
    request.retrieval = null;
    return failure;
  }

  /** Requests whose pages are on their way; some may have ended. */
  List<Request> loading() {
    return loading;
  }

  /** A request has ended, or was put back, whose lock ends at a node. */
  void used(TreeNode end) {
    if (tiers != null) {
      tiers.used(end);
    }
  }

  /** What is taken from the tiers for good. */
  TierForgetting forgetting() {
    return forgetting;
  }

  /** Names the pages of a key; null without tiers. Any thread. */
  PageChain chain(RadixKey key) {
    return tiers == null ? null : PageChain.of(key, pageTokens, 0);
  }

  /**
   * Tells how many pages of a prefix tiers below the device have; see {@link HiRadixCache#locate}.
   *
   * @param chain null without tiers
   */
  void locate(PageChain chain, int devicePages, Consumer<int[]> then) {
    if (tiers == null) {
      then.accept(new int[KvTier.values().length]);
    } else {
      tiers.locate(chain, devicePages, then);
    }
  }

  /** Pages that have left the cache and will be free. */
  int leavingPages() {
    return tiers == null ? 0 : tiers.leavingPages();
  }

  /** Whether a page in flight is one of those. */
  boolean isLeaving(int page) {
    return tiers != null && tiers.isLeaving(page);
  }

  void forEachLeavingPage(IntConsumer visitor) {
    if (tiers != null) {
      tiers.forEachLeavingPage(visitor);
    }
  }

  /** Nanoseconds after which somebody has to look at copies and waits again; 0 for never. */
  long pollNanos() {
    if (tiers == null) {
      return 0;
    }
    if (tiers.isMoving()) {
      return MOVING_NANOS;
    }
    return waiting > 0 || tiers.prefetcher().isUnderWay() ? WAITING_NANOS : 0;
  }

  /** A prefill of so many tokens from a position on took so long. */
  void computed(int position, int tokens, long nanos) {
    if (tiers != null) {
      tiers.computed(position, tokens, nanos);
    }
  }

  boolean audit() {
    return tiers == null || tiers.audit();
  }

  TierStats stats() {
    return tiers == null ? TierStats.NONE : tiers.stats();
  }

  void close() {
    if (tiers != null) {
      tiers.close();
    }
  }
}
