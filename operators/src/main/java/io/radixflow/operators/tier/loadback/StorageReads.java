package io.radixflow.operators.tier.loadback;

import io.radixflow.operators.tier.host.Checksums;
import io.radixflow.operators.tier.host.HostPage;
import io.radixflow.operators.tier.host.HostTier;
import io.radixflow.operators.tier.host.StoreLink;
import io.radixflow.operators.tier.host.TierWorker.Kind;
import io.radixflow.operators.tier.loadback.LoadBack.State;
import io.radixflow.operators.tier.page.MissReason;
import io.radixflow.operators.tier.store.PageStore;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * Takes {@link LoadBack}s from NEW to READY: reads pages of the stores into host memory. One store
 * after the other is asked, from the top, each for what those above it did not have; pages come in
 * batches, so that a request need not wait for the last. Engine thread only.
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

  /** Pages read from the stores. */
  public long pages() {
    return readPages;
  }

  /** Pages on their way from the stores. */
  public int queuedPages() {
    return reading;
  }

  /** Returns whether there are stores, and so many pages are enough to ask them. */
  boolean areWorth(int pages) {
    return link.store() != null && model.isEnough(pages);
  }

  /** Begins to ask the stores for the pages that host memory does not have. */
  void begin(LoadBack each) {
    each.top = link.store();
    ask(each, each.top);
  }

  /** Asks a store, or the next below it that is worth it; with none the load-back is ready. */
  private void ask(LoadBack each, PageStore first) {
    int from = each.end();
    int limit = each.limit;
    PageStore asked = model.isEnough(limit - from) ? first : null;
    while (asked != null && !model.isWorthAsking(asked.tier(), from, limit - from)) {
      asked = asked.below();
    }
    if (asked == null) {
      ready(each);
      return;
    }
    each.to(State.ASKING);
    each.store = asked;
    each.askedAt = nanoClock.getAsLong();
    PageStore source = asked;
    link.run(
        Kind.of(source.tier()),
        () -> source.find(each.chain.ids(), from, limit),
        0,
        pages -> answered(each, source, from, pages));
  }

  private void answered(LoadBack each, PageStore source, int from, int pages) {
    model.asked(source.tier(), nanoClock.getAsLong() - each.askedAt);
    if (source.below() == null) {
      host.misses().add(MissReason.ABSENT, each.limit - from - pages);
    }
    each.storeEnd = model.isWorthFetching(source.tier(), from, pages) ? from + pages : from;
    next(each);
  }

  private void ready(LoadBack each) {
    each.to(State.READY);
    each.progressed(nanoClock.getAsLong());
  }

  /** Continues with the next pages, unless a request was admitted or does without them. */
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
    } else {
      ask(each, each.store.below());
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
        () -> {
          int count = source.read(each.chain.ids(), namespaces, from, to, into);
          int[] sums = new int[count];
          for (int i = 0; i < count; i++) {
            sums[i] = Checksums.crc(into[from + i].clear());
          }
          return sums;
        },
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

  /** Locked host pages for the next batch, up to the first that host memory has or no room for. */
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
    // a page that one store has may be missing in the other, and is given to both when it is used
    boolean everywhere = each.top.below() == null;
    boolean wanted = each.state().isReadingStores();
    for (int i = 0; i < batch.size(); i++) {
      HostPage page = batch.get(i);
      if (i < sums.length) {
        page.stored = everywhere;
        host.ready(page, sums[i]);
      } else {
        host.remove(page);
      }
      if (i < sums.length && wanted) {
        each.add(page);
      } else {
        host.unlock(page);
      }
    }
    if (wanted) {
      each.progressed(nanoClock.getAsLong());
    }
  }

  /** Takes pages that came for another load-back, once they are there and verified. */
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
