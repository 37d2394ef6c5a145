package io.radixflow.engine.pages;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.request.Request;
import io.radixflow.engine.tier.Tiers;
import io.radixflow.engine.tier.loadback.LoadBack;
import io.radixflow.protocol.record.kv.KvTier;
import io.radixflow.protocol.record.kv.TierUsage;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;

/**
 * The load-backs of requests. A request whose pages are on their way to the device counts them as
 * computed, and the copy as a step in flight: until the copy has ended, no request takes or shares
 * the pages, and no token that depends on them is sent. If the copy fails, the pages are computed.
 *
 * <p>Engine thread only, except {@link #name}.
 */
public final class RequestLoads {
  /**
   * The maximum number of times that a request looks again because pages have left the device in
   * the meantime.
   */
  private static final int LOOKS = 3;

  private final Tiers tiers;
  private final int pageTokens;
  private final ToIntFunction<Request> devicePages;
  private final Settled settled;

  /** Requests whose pages are on their way to the device, or have just arrived. */
  private final List<Request> copying = new ArrayList<>();

  /** Receives each request whose copy has ended. */
  @FunctionalInterface
  interface Settled {
    /**
     * @param failed whether the pages did not arrive
     */
    void settled(Request request, boolean failed);
  }

  /**
   * @param devicePages counts the pages of a waiting request's prefix that the device has
   * @param settled called before steps that read the pages are undone
   */
  RequestLoads(Tiers tiers, int pageTokens, ToIntFunction<Request> devicePages, Settled settled) {
    this.settled = settled;
    this.tiers = tiers;
    this.pageTokens = pageTokens;
    this.devicePages = devicePages;
  }

  /** Forgets all copies after the pool was emptied; all requests have lost their pages. */
  void reset() {
    copying.forEach(request -> request.pages.endLoad());
    copying.clear();
  }

  /** Names the pages of a request's tokens; any thread that owns the request. */
  void name(Request request) {
    RadixKey key =
        new RadixKey(
            request.spec.namespace(),
            request.tokens.ids(),
            request.tokens.length(),
            request.tokens.publicTokens());
    request.pages.name(tiers.name(key, request.spec.service().tenant()));
  }

  /** Starts looking for pages in lower tiers for a request that starts to wait. */
  public void look(Request request) {
    request.pages.lookAgain();
    if (tiers.copiesLeavingPages() && request.reply.scores() == null) {
      look(request, devicePages.applyAsInt(request));
    }
  }

  private void look(Request request, int onDevice) {
    if (request.pages.chain() == null
        || request.pages.chain().pages() != request.tokens.length() / pageTokens) {
      name(request);
    }
    // the last token is computed in any case
    int useful = (request.tokens.length() - 1) / pageTokens;
    request.pages.look(tiers.loadBack(request.pages.chain(), onDevice, useful));
  }

  /** Returns whether a waiting request waits for pages of lower tiers. */
  public boolean mustWait(Request request) {
    if (request.pages.loadBack() == null) {
      return false;
    }
    int onDevice = devicePages.applyAsInt(request);
    if (request.pages.loadBack().mustWait(onDevice)) {
      return true;
    }
    if (onDevice >= request.pages.loadBack().from() || request.pages.looks() >= LOOKS) {
      return false;
    }
    drop(request);
    look(request, onDevice);
    return request.pages.loadBack() != null;
  }

  /** Gives up the pages for which a request has waited. */
  public void drop(Request request) {
    if (request.pages.loadBack() != null && !request.pages.loadBack().isCopied()) {
      request.pages.loadBack().release();
      request.pages.endLoad();
    }
  }

  /**
   * Loads the pages that are worth loading for a request that is being admitted and already has its
   * own pages.
   *
   * @param onDevice pages of its prefix that the device has
   * @return how many pages are loaded after those
   */
  int load(Request request, int onDevice, int[] table) {
    if (request.pages.loadBack() == null) {
      return 0;
    }
    int pages = request.pages.loadBack().copy(onDevice, request.pages.count(), table);
    if (pages == 0) {
      drop(request);
      return 0;
    }
    request.steps.copy();
    copying.add(request);
    return pages;
  }

  /** Returns the tokens that a newly admitted request gets from the tiers below the device. */
  public TierUsage usage(Request request) {
    LoadBack loadBack = request.pages.loadBack();
    if (loadBack == null) {
      return TierUsage.NONE;
    }
    return new TierUsage(
        loadBack.copiedPages(KvTier.HOST) * pageTokens,
        loadBack.copiedPages(KvTier.DISK) * pageTokens,
        loadBack.copiedPages(KvTier.REMOTE) * pageTokens,
        loadBack.micros());
  }

  /** Returns the end of a request's tokens that are computed or completely loaded. */
  int settledTokens(Request request) {
    return isCopying(request)
        ? request.pages.loadBack().copiedFrom() * pageTokens
        : request.steps.computed();
  }

  private static boolean isCopying(Request request) {
    return request.pages.loadBack() != null && request.pages.loadBack().isCopied();
  }

  /**
   * Handles copies that have ended; never blocks.
   *
   * @param ended receives each ended request whose copy was the last to use its pages
   */
  public void poll(Consumer<Request> ended) {
    for (int i = 0; i < copying.size(); ) {
      Request request = copying.get(i);
      boolean failed = request.pages.loadBack().failure() != null;
      // a step that has read missing pages is undone when it ends
      if (request.pages.loadBack().isCopying() || failed && request.steps.inFlight() > 1) {
        i++;
        continue;
      }
      settle(request);
      if (request.steps.inFlight() == 0) {
        ended.accept(request);
      }
    }
  }

  /**
   * Waits for the pages of a request. One of its steps has ended, so the pages have arrived or will
   * not arrive.
   *
   * @return why the pages did not arrive, or null
   */
  public Throwable await(Request request) {
    if (!isCopying(request)) {
      return null;
    }
    if (request.pages.loadBack().isCopying()) {
      tiers.awaitCopies();
    }
    return settle(request);
  }

  private Throwable settle(Request request) {
    Throwable failure = request.pages.loadBack().failure();
    copying.remove(request);
    request.steps.end();
    if (failure != null) {
      request.steps.cut(request.pages.loadBack().copiedFrom() * pageTokens);
    }
    request.pages.endLoad();
    settled.settled(request, failure != null);
    return failure;
  }

  /** Returns the requests whose pages are being copied; some may have ended. */
  public List<Request> copying() {
    return copying;
  }
}
