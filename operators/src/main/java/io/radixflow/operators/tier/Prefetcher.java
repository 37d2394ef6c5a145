package io.radixflow.operators.tier;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Fetches pages of the store into host memory for turns that are expected. What has come is locked
 * until its prefetch ends, and then may be evicted as any other page.
 *
 * <p>All prefetches under way ask for at most half of host memory, as in SGLang; others wait for
 * them, in order. How long one may go on is the {@link PrefetchPolicy}'s to say: under {@code
 * TIMEOUT} as long as a request would wait, else until it is done or its turn comes. That turn
 * waits by the same policy for what has not come yet.
 *
 * <p>Engine thread only.
 */
public final class Prefetcher {
  private static final int HOST_SHARE = 2;

  private final HostTier host;
  private final StoreFetches fetches;
  private final Retrievals retrievals;
  private final ArrayDeque<Prefetch> waiting = new ArrayDeque<>();
  private final List<Prefetch> underWay = new ArrayList<>();

  /** Host pages that those under way may take. */
  private int asked;

  private long begun;
  private long pages;
  private long cutShort;

  Prefetcher(HostTier host, StoreFetches fetches, Retrievals retrievals) {
    this.host = host;
    this.fetches = fetches;
    this.retrievals = retrievals;
  }

  PrefetchStats stats() {
    return new PrefetchStats(begun, pages, cutShort);
  }

  /** Whether pages are being fetched that no request waits for. */
  public boolean isUnderWay() {
    return !underWay.isEmpty();
  }

  /**
   * How many pages of a prefix are on the device or in host memory, up to the first that is not.
   *
   * @param devicePages pages of it that the device has
   */
  public int pagesAtHand(PageChain chain, int devicePages) {
    return devicePages + host.readyPages(chain, devicePages);
  }

  /**
   * Begins to fetch pages of a prefix, at once or when others have ended.
   *
   * @param devicePages pages of it that the device has
   * @param onEnd runs when it has ended by itself, and not before this returns
   * @return null if there is nothing to fetch
   */
  public Prefetch add(PageChain chain, int devicePages, Runnable onEnd) {
    int missing = chain.pages() - pagesAtHand(chain, devicePages);
    if (!fetches.areAskedFor(missing)) {
      return null;
    }
    Prefetch prefetch = new Prefetch(chain, devicePages, onEnd);
    begun++;
    waiting.add(prefetch);
    startNext();
    return prefetch;
  }

  private void startNext() {
    int budget = Math.max(1, host.total() / HOST_SHARE);
    for (Prefetch next = waiting.peek(); next != null; next = waiting.peek()) {
      int from = pagesAtHand(next.chain, next.devicePages);
      int limit = Math.min(next.chain.pages(), from + budget);
      if (asked > 0 && asked + limit - from > budget) {
        return;
      }
      waiting.poll();
      start(next, from, limit);
    }
  }

  private void start(Prefetch prefetch, int from, int limit) {
    prefetch.retrieval = new Retrieval(prefetch.chain, from, limit);
    underWay.add(prefetch);
    asked += prefetch.asked();
    // if there is nothing left to fetch it ends in poll(): who adds it does not know it yet
    fetches.fetch(prefetch.retrieval, () -> {});
  }

  /** Ends what is done, or has taken too long, and starts what has room now; whether any was. */
  boolean poll() {
    boolean ended = false;
    for (int i = underWay.size() - 1; i >= 0; i--) {
      Prefetch prefetch = underWay.get(i);
      if (!prefetch.retrieval.fetching || fetches.isLate(prefetch.retrieval)) {
        end(prefetch);
        prefetch.onEnd.run();
        ended = true;
      }
    }
    return ended;
  }

  /** Ends a prefetch; what has come stays, what is being read still comes. Idempotent. */
  public void end(Prefetch prefetch) {
    if (prefetch.ended) {
      return;
    }
    prefetch.ended = true;
    cutShort += prefetch.isWhole() ? 0 : 1;
    if (prefetch.retrieval == null) {
      waiting.remove(prefetch);
    } else {
      underWay.remove(prefetch);
      asked -= prefetch.asked();
      pages += prefetch.retrieval.fetched;
      retrievals.release(prefetch.retrieval);
    }
    startNext();
  }
}
