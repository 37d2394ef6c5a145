package io.radixflow.engine.tier.loadback;

import io.radixflow.engine.tier.host.Checksums;
import io.radixflow.engine.tier.host.HostPage;
import io.radixflow.engine.tier.host.HostTier;
import io.radixflow.engine.tier.host.StoreLink;
import io.radixflow.engine.tier.host.TierWorker.Kind;
import io.radixflow.engine.tier.loadback.LoadBack.State;
import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.store.PageStore;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Takes {@link LoadBack}s from NEW to READY: reads pages of the stores into host memory. The stores
 * are asked one after another, from the top, each for the pages that the stores above it lack.
 * Pages arrive in batches, so a request need not wait for the last page. Engine thread only.
 */
public final class StorageReads {
  /** Pages that a load-back reads at a time. */
  private static final int BATCH = 16;

  private final StoreLink link;
  private final HostTier host;
  private final Checksums checksums;
  private final LoadCostModel model;
  private final LongSupplier nanoClock;

  /** Load-backs in state SHARING, and some that have ended since. */
  private final List<LoadBack> sharing = new ArrayList<>();

  private int reading;
  private long readPages;

  StorageReads(
      StoreLink link,
      HostTier host,
      Checksums checksums,
      LoadCostModel model,
      LongSupplier nanoClock) {
    this.link = link;
    this.host = host;
    this.checksums = checksums;
    this.model = model;
    this.nanoClock = nanoClock;
  }

  public long pages() {
    return readPages;
  }

  /** Returns the number of pages on their way from the stores. */
  public int queuedPages() {
    return reading;
  }

  /** Returns whether a store exists and {@code pages} is enough to be worth a read. */
  boolean areWorth(int pages) {
    return link.store() != null && model.isEnough(pages);
  }

  /** Starts asking the stores for the pages that host memory does not have. */
  void begin(LoadBack each) {
    each.top = link.store();
    ask(each, each.top);
  }

  /** Returns the end of the pages that can be used with the parts in host memory. */
  private int usableEnd(LoadBack each) {
    return each.windows.usableEnd(
        each.end(), page -> each.windows.has(page) || host.isWindowReady(each.chain, page));
  }

  /**
   * Asks a store, or the next store below it that is worth asking. If there is none, the load-back
   * is ready.
   */
  private void ask(LoadBack each, PageStore first) {
    int from = each.end();
    int usable = usableEnd(each);
    int limit = each.limit;
    PageStore asked = model.isEnough(limit - usable) ? first : null;
    while (asked != null && !model.isWorthAsking(asked.tier(), usable, limit - usable)) {
      asked = asked.below();
    }
    if (asked == null) {
      ready(each);
      return;
    }
    each.to(State.ASKING);
    PageStore before = each.store;
    each.store = asked;
    each.askedAt = nanoClock.getAsLong();
    PageStore source = asked;
    if (asked != before) {
      each.windowLimit = Integer.MAX_VALUE;
    }
    int most = Math.min(limit, each.windowLimit);
    BitSet onHost = windowsOnHost(each, most);
    link.run(
        Kind.of(source.tier()),
        () -> {
          int end = from >= most ? most : from + source.find(each.chain.ids(), from, most);
          return onHost == null ? end : each.windows.storedEnd(source, each.chain, end, onHost);
        },
        0,
        end -> answered(each, source, usable, end));
  }

  /** Returns the pages whose window parts are in host memory; null if the pool has no parts. */
  private BitSet windowsOnHost(LoadBack each, int end) {
    if (each.windows.endPages() == 0) {
      return null;
    }
    BitSet there = new BitSet();
    for (int page = each.windows.first(); page < end; page++) {
      there.set(page, each.windows.has(page) || host.isWindowReady(each.chain, page));
    }
    return there;
  }

  /**
   * @param usable end of the pages that can be used without this store
   * @param end end of the pages that can be used with this store
   */
  private void answered(LoadBack each, PageStore source, int usable, int end) {
    model.asked(source.tier(), nanoClock.getAsLong() - each.askedAt);
    int gained = Math.max(0, end - usable);
    if (source.below() == null) {
      host.misses().add(MissReason.ABSENT, each.limit - usable - gained);
    }
    each.storeEnd = gained > 0 && model.isWorthFetching(source.tier(), usable, gained) ? end : 0;
    next(each);
  }

  private void ready(LoadBack each) {
    each.to(State.READY);
    each.progressed(nanoClock.getAsLong());
  }

  /** Continues with the next pages, unless the request was admitted or no longer needs them. */
  private void next(LoadBack each) {
    if (!each.state().isReadingStores()) {
      return;
    }
    int from = each.end();
    boolean attached = each.top == link.store();
    if (from < each.storeEnd && host.get(each.chain.id(from)) != null) {
      takeOver(each);
    } else if (!attached) {
      ready(each);
    } else if (from < each.storeEnd) {
      read(each);
    } else if (!getWindows(each)) {
      ask(each, each.store.below());
    }
  }

  /**
   * Gets the window parts that are needed before the end of the pages that a store has.
   *
   * @return false if no part is missing
   */
  private boolean getWindows(LoadBack each) {
    List<Integer> missing = new ArrayList<>();
    List<Integer> ready = new ArrayList<>();
    boolean coming = false;
    int first = each.windows.from(each.storeEnd);
    for (int page = first; page < each.storeEnd; page++) {
      if (!each.windows.has(page)) {
        HostPage onHost = host.get(each.chain.id(page).window());
        boolean there = host.isWindowReady(each.chain, page);
        coming |= onHost != null && !there;
        (there ? ready : missing).add(page);
      }
    }
    if (!ready.isEmpty()) {
      takeOverWindows(each, ready);
    } else if (coming) {
      each.to(State.SHARING);
      sharing.add(each);
    } else if (!missing.isEmpty()) {
      readWindows(each, missing.subList(0, Math.min(BATCH, missing.size())));
    }
    return !ready.isEmpty() || !missing.isEmpty();
  }

  /** Takes window parts of host memory after verifying them. */
  private void takeOverWindows(LoadBack each, List<Integer> pages) {
    List<HostPage> windows = new ArrayList<>();
    pages.forEach(page -> windows.addAll(host.lockWindows(each.chain, page, page + 1)));
    each.to(State.VERIFYING);
    checksums.verify(
        windows,
        good -> {
          boolean wanted = each.state().isReadingStores();
          takeWindows(each, pages, windows, wanted ? good : 0);
          next(each);
        });
  }

  private void readWindows(LoadBack each, List<Integer> pages) {
    List<HostPage> batch = new ArrayList<>();
    for (int page : pages) {
      HostPage window = host.allocate(each.chain.page(page).window(), true);
      if (window == null) {
        break;
      }
      batch.add(window);
    }
    if (batch.isEmpty()) {
      ready(each);
      return;
    }
    each.to(State.READING);
    PageId[] ids = batch.stream().map(window -> window.page.id()).toArray(PageId[]::new);
    String[] names = batch.stream().map(window -> window.page.namespace()).toArray(String[]::new);
    ByteBuffer[] into = batch.stream().map(host::buffer).toArray(ByteBuffer[]::new);
    PageStore source = each.store;
    reading += batch.size();
    link.run(
        Kind.of(source.tier()),
        () -> sums(into, 0, source.read(ids, names, 0, ids.length, into)),
        new int[0],
        sums -> {
          reading -= batch.size();
          windowsArrived(each, pages, batch, sums);
        });
  }

  private void windowsArrived(
      LoadBack each, List<Integer> pages, List<HostPage> batch, int[] sums) {
    boolean wanted = each.state().isReadingStores();
    keep(each, batch, sums);
    takeWindows(each, pages, batch, wanted ? sums.length : 0);
    if (wanted && sums.length < batch.size() && each.top == link.store()) {
      each.windowLimit = pages.get(sums.length);
      ask(each, each.store);
    } else {
      next(each);
    }
  }

  /** Takes the first {@code good} of some window parts, and releases the others. */
  private void takeWindows(LoadBack each, List<Integer> pages, List<HostPage> windows, int good) {
    for (int i = 0; i < windows.size(); i++) {
      if (i < good) {
        each.windows.put(pages.get(i), windows.get(i));
      } else {
        host.unlock(windows.get(i));
      }
    }
    if (good > 0) {
      each.progressed(nanoClock.getAsLong());
    }
  }

  private void read(LoadBack each) {
    int from = each.end();
    List<HostPage> batch = allocate(each, from);
    if (batch.isEmpty()) {
      ready(each);
      return;
    }
    each.to(State.READING);
    int to = from + batch.size();
    ByteBuffer[] into = new ByteBuffer[to];
    for (int i = from; i < to; i++) {
      into[i] = host.buffer(batch.get(i - from));
    }
    long began = nanoClock.getAsLong();
    String[] namespaces = each.chain.namespaces();
    PageStore source = each.store;
    reading += batch.size();
    link.run(
        Kind.of(source.tier()),
        () -> sums(into, from, source.read(each.chain.ids(), namespaces, from, to, into)),
        new int[0],
        sums -> {
          reading -= batch.size();
          if (sums.length > 0) {
            model.fetched(source.tier(), sums.length, nanoClock.getAsLong() - began);
          }
          if (sums.length < batch.size()) {
            each.storeEnd = from + sums.length;
          }
          arrived(each, batch, sums);
          next(each);
        });
  }

  private static int[] sums(ByteBuffer[] pages, int from, int count) {
    int[] sums = new int[count];
    for (int i = 0; i < count; i++) {
      sums[i] = Checksums.crc(pages[from + i].clear());
    }
    return sums;
  }

  /**
   * Returns locked host pages for the next batch, up to the first page that host memory already has
   * or has no room for.
   */
  private List<HostPage> allocate(LoadBack each, int from) {
    List<HostPage> batch = new ArrayList<>(BATCH);
    int end = Math.min(each.storeEnd, from + BATCH);
    for (int i = from; i < end && host.locked() <= host.total() / 2; i++) {
      boolean absent = host.get(each.chain.id(i)) == null;
      HostPage page = absent ? host.allocate(each.chain.page(i), true) : null;
      if (page == null) {
        break;
      }
      batch.add(page);
    }
    return batch;
  }

  private void arrived(LoadBack each, List<HostPage> batch, int[] sums) {
    readPages += sums.length;
    boolean wanted = each.state().isReadingStores();
    keep(each, batch, sums);
    for (int i = 0; i < batch.size(); i++) {
      if (i < sums.length && wanted) {
        each.add(batch.get(i));
      } else {
        host.unlock(batch.get(i));
      }
    }
    if (wanted) {
      each.progressed(nanoClock.getAsLong());
    }
  }

  /** Keeps the pages that were read in host memory, and removes the others. */
  private void keep(LoadBack each, List<HostPage> batch, int[] sums) {
    // a page of one store may be missing in the other, and is offered to both when it is used
    boolean everywhere = each.top.below() == null;
    for (int i = 0; i < batch.size(); i++) {
      if (i < sums.length) {
        batch.get(i).stored = everywhere;
        host.ready(batch.get(i), sums[i]);
      } else {
        host.remove(batch.get(i));
      }
    }
  }

  /** Takes pages that another load-back has requested, after they have arrived and are verified. */
  private void takeOver(LoadBack each) {
    List<HostPage> ready = host.lockReady(each.chain, each.end(), each.storeEnd);
    if (ready.isEmpty()) {
      each.to(State.SHARING);
      sharing.add(each);
      return;
    }
    each.to(State.VERIFYING);
    checksums.verify(
        ready,
        good -> {
          for (int i = 0; i < ready.size(); i++) {
            if (i < good && each.state().isReadingStores()) {
              each.add(ready.get(i));
            } else {
              host.unlock(ready.get(i));
            }
          }
          next(each);
        });
  }

  /** Looks again for pages that were on their way for another load-back. */
  void poll() {
    if (!sharing.isEmpty()) {
      List<LoadBack> all = List.copyOf(sharing);
      sharing.clear();
      all.forEach(this::next);
    }
  }
}
