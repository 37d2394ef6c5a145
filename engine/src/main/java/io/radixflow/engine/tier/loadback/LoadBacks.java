package io.radixflow.engine.tier.loadback;

import io.radixflow.engine.cache.CacheComponent;
import io.radixflow.engine.tier.Tiers;
import io.radixflow.engine.tier.host.Checksums;
import io.radixflow.engine.tier.host.HostPage;
import io.radixflow.engine.tier.host.HostTier;
import io.radixflow.engine.tier.host.StoreLink;
import io.radixflow.engine.tier.loadback.LoadBack.State;
import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.kernels.device.KvPool;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Starts and ends the {@link LoadBack}s of an engine, and decides which of their pages are worth
 * waiting for and copying. Engine thread only.
 *
 * <p>A load-back of a waiting request locks the pages of its prefix that are in host memory, and
 * asks the stores for the rest. It ends when its pages have been copied or the request continues
 * without them.
 *
 * <p>A load-back of an announced turn brings pages of the stores only to host memory. All these
 * load-backs together ask for at most half of host memory, as in SGLang; further load-backs wait,
 * in order. Under {@link PrefetchPolicy#TIMEOUT}, such a load-back lasts as long as a request would
 * wait. Under other policies it lasts until it is done or its turn arrives; the turn then waits for
 * missing pages by the same policy.
 */
public final class LoadBacks {
  private static final int HOST_SHARE = 2;

  private final HostTier host;
  private final Checksums checksums;
  private final StorageReads reads;
  private final LoadCostModel model;
  private final HostToDeviceCopies copies;
  private final LongSupplier nanoClock;

  /** Announced load-backs in state NEW. */
  private final ArrayDeque<LoadBack> queued = new ArrayDeque<>();

  /** Announced load-backs whose pages are being read. */
  private final List<LoadBack> announced = new ArrayList<>();

  /** Host pages that {@link #announced} may take. */
  private int asked;

  /** Number of load-backs of requests that are not admitted yet. */
  private int awaited;

  private CacheComponent component = CacheComponent.NONE;
  private long announcements;
  private long announcedPages;
  private long cutShort;

  /**
   * @param nanoClock nanoseconds that never decrease
   */
  public LoadBacks(
      KvPool pool,
      HostTier host,
      Checksums checksums,
      StoreLink link,
      LoadBackOptions options,
      LongSupplier nanoClock) {
    this.host = host;
    this.checksums = checksums;
    this.nanoClock = nanoClock;
    this.model = new LoadCostModel(host.pageTokens(), options);
    this.reads = new StorageReads(link, host, checksums, model, nanoClock);
    this.copies = new HostToDeviceCopies(pool, host, model, this::end, nanoClock);
  }

  /** Loads into the pool of these parts from now on. */
  public void attach(CacheComponent parts) {
    component = parts;
    copies.attach(parts);
  }

  /** Records how long {@code tokens} tokens of a prefill from {@code position} on took. */
  public void computed(int position, int tokens, long nanos) {
    model.computed(position, tokens, nanos);
  }

  /** Returns the reads from the stores to host memory. */
  public StorageReads reads() {
    return reads;
  }

  /** Returns the copies from host memory to the device. */
  public HostToDeviceCopies copies() {
    return copies;
  }

  /** See {@link Tiers#loadBack}. */
  public LoadBack begin(PageChain chain, int devicePages, int usefulPages) {
    int limit = Math.min(usefulPages, chain.pages());
    boolean busy = host.isHeld() || host.locked() > host.total() / 2;
    if (devicePages >= limit || busy) {
      return null;
    }
    LoadBack begun = open(chain, devicePages, limit, null);
    begun.found(host.lockReady(chain, devicePages, limit));
    if (!begun.pages.isEmpty()) {
      begun.verifies();
      checksums.verify(
          begun.pages,
          good -> {
            begun.verified(good);
            begun.verifiedAt(nanoClock.getAsLong());
          });
      verifyWindows(begun);
    }
    reads.begin(begun);
    if (begun.isVerified() && !begun.state().isReadingStores()) {
      host.misses().add(MissReason.ABSENT, limit - devicePages);
      return null;
    }
    awaited++;
    return begun;
  }

  private LoadBack open(PageChain chain, int devicePages, int limit, Runnable onEnd) {
    LoadBack made = new LoadBack(this, chain, devicePages, limit, onEnd, nanoClock.getAsLong());
    made.windows = new LoadedWindows(devicePages, limit, component.endPages());
    return made;
  }

  /** Locks and verifies the window parts that host memory has before the end of its pages. */
  private void verifyWindows(LoadBack each) {
    int end = each.windows.usableEnd(each.end(), page -> host.isWindowReady(each.chain, page));
    List<HostPage> windows = host.lockWindows(each.chain, each.windows.from(end), end);
    if (windows.isEmpty()) {
      return;
    }
    each.verifies();
    checksums.verify(
        windows,
        good -> {
          for (int i = 0; i < windows.size(); i++) {
            HostPage window = windows.get(i);
            if (i < good && each.state() != State.ENDED) {
              each.windows.put(each.windows.from(end) + i, window);
            } else {
              host.unlock(window);
            }
          }
          each.verifiedAt(nanoClock.getAsLong());
        });
  }

  /** See {@link LoadBack#mustWait}. */
  boolean mustWait(LoadBack each, int devicePages) {
    return !each.isVerified()
        || isWorthWaitingFor(each)
        || copies.isInProgress() && loadable(each, devicePages) > 0;
  }

  /** Returns whether pages that may still come from the stores are worth a request's wait. */
  private boolean isWorthWaitingFor(LoadBack each) {
    return each.state().isReadingStores()
        && model.isWorthWaitingFor(
            each.store.tier(), waited(each), each.end() - each.readPages(), each.limit)
        && !isLate(each);
  }

  private long waited(LoadBack each) {
    return nanoClock.getAsLong() - each.askedAt;
  }

  private boolean isLate(LoadBack each) {
    return each.state().isReadingStores() && model.isLate(waited(each), each.limit - each.from);
  }

  /** Returns how many pages to load for a request that is admitted now. */
  private int loadable(LoadBack each, int devicePages) {
    int available = usableEnd(each, devicePages, each.usableEnd()) - devicePages;
    if (devicePages < each.from || available <= 0) {
      return 0;
    }
    int pages = model.pagesToLoad(devicePages, available);
    return usableEnd(each, devicePages, devicePages + pages) - devicePages;
  }

  private static int usableEnd(LoadBack each, int devicePages, int end) {
    boolean all = devicePages < each.from || end <= devicePages;
    return all ? end : each.windows.usableEnd(devicePages, end);
  }

  /** See {@link LoadBack#copy}. */
  int copy(LoadBack each, int devicePages, int end, int[] table) {
    int count = Math.min(loadable(each, devicePages), end - devicePages);
    int copied = copies.add(each, devicePages, count, table);
    awaited -= copied > 0 ? 1 : 0;
    return copied;
  }

  /** See {@link LoadBack#release}. */
  void release(LoadBack each) {
    if (each.state() == State.ENDED || each.isCopying()) {
      return;
    }
    if (!each.isAnnounced()) {
      awaited--;
      end(each);
      return;
    }
    cutShort += each.isWhole() ? 0 : 1;
    if (each.state() == State.NEW) {
      queued.remove(each);
    } else {
      announced.remove(each);
      asked -= each.limit - each.from;
      announcedPages += each.readPages();
    }
    end(each);
    beginQueued();
  }

  private void end(LoadBack each) {
    each.to(State.ENDED);
    each.pages.forEach(host::unlock);
    each.pages.clear();
    each.windows.release(host::unlock);
  }

  /** See {@link Tiers#pagesAtHand}. */
  public int pagesAtHand(PageChain chain, int devicePages) {
    int end = devicePages + host.readyPages(chain, devicePages);
    return LoadedWindows.usableEnd(
        devicePages, end, component.endPages(), page -> host.isWindowReady(chain, page));
  }

  /** See {@link Tiers#announce}. */
  public LoadBack announce(PageChain chain, int devicePages, Runnable onEnd) {
    int missing = chain.pages() - pagesAtHand(chain, devicePages);
    if (!reads.areWorth(missing)) {
      return null;
    }
    LoadBack each = open(chain, devicePages, chain.pages(), onEnd);
    announcements++;
    queued.add(each);
    beginQueued();
    return each;
  }

  /**
   * Starts announced load-backs for which there is room; {@link #poll} ends load-backs with nothing
   * to do.
   */
  private void beginQueued() {
    int budget = Math.max(1, host.total() / HOST_SHARE);
    for (LoadBack next = queued.peek(); next != null; next = queued.peek()) {
      int from = pagesAtHand(next.chain, next.from);
      int limit = Math.min(next.chain.pages(), from + budget);
      if (asked > 0 && asked + limit - from > budget) {
        return;
      }
      queued.poll();
      next.from = from;
      next.limit = limit;
      asked += limit - from;
      announced.add(next);
      reads.begin(next);
    }
  }

  /**
   * Continues load-backs that wait for others, and ends load-backs that are done or too late; never
   * blocks.
   *
   * @return whether any has ended
   */
  public boolean poll() {
    reads.poll();
    boolean ended = false;
    for (int i = announced.size() - 1; i >= 0; i--) {
      LoadBack each = announced.get(i);
      if (!each.state().isReadingStores() || isLate(each)) {
        release(each);
        each.onEnd.run();
        ended = true;
      }
    }
    return copies.poll() || ended;
  }

  /** Returns whether a request or an announced turn waits for pages, so that time matters. */
  public boolean areAwaited() {
    return awaited > 0 || !announced.isEmpty();
  }

  public AnnouncementStats announcementStats() {
    return new AnnouncementStats(announcements, announcedPages, cutShort);
  }
}
