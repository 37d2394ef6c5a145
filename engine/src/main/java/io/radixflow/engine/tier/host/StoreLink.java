package io.radixflow.engine.tier.host;

import io.radixflow.engine.tier.Tiers;
import io.radixflow.engine.tier.host.TierWorker.Kind;
import io.radixflow.engine.tier.page.MissReason;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.engine.tier.store.PageStoreStats;
import io.radixflow.protocol.record.kv.KvTier;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.Consumer;

/**
 * Connects host memory to the store, which may have another store below it. A bounded number of
 * writes waits; further writes are dropped. Engine thread only.
 */
public final class StoreLink {
  /** One part in this many of host memory may wait to be written. */
  private static final int WRITE_SHARE = 4;

  private final HostTier host;
  private final TierWorker worker;
  private PageStore store;

  /** Statistics of each store after the last operation on it, by tier. */
  private final AtomicReferenceArray<PageStoreStats> stats =
      new AtomicReferenceArray<>(KvTier.values().length);

  /** Reads and writes in progress, including reads and writes of stores that are being detached. */
  private int inProgress;

  /** A store that is being detached, and a future that completes when it is closed. */
  private record Leaving(PageStore store, CompletableFuture<Void> closed) {}

  /** Stores to close when nothing is in progress. */
  private final List<Leaving> leaving = new ArrayList<>();

  private int writing;
  private long droppedWrites;

  public StoreLink(PageStore store, HostTier host, TierWorker worker) {
    this.store = store;
    this.host = host;
    this.worker = worker;
    if (store != null) {
      store.whenChanged(worker::wake);
    }
  }

  /** Returns the store, or null. */
  public PageStore store() {
    return store;
  }

  public long droppedWrites() {
    return droppedWrites + (store == null ? 0 : store.droppedPages());
  }

  /** Returns the number of pages of host memory that are being written to stores. */
  public int writingPages() {
    return writing;
  }

  /**
   * Returns the number of pages that are on their way to a store, or wait in a store to be written
   * to the store below.
   */
  public int queuedPages() {
    return writing + (store == null ? 0 : store.queuedPages());
  }

  public void closing() {
    if (store != null) {
      store.closing();
    }
  }

  /** Attaches a store; returns false if a store is already attached. */
  public boolean attach(PageStore other) {
    if (store != null) {
      return false;
    }
    store = other;
    store.whenChanged(worker::wake);
    for (PageStore each = other; each != null; each = each.below()) {
      stats.set(each.tier().ordinal(), null);
    }
    host.clearStored();
    refreshStats();
    return true;
  }

  /**
   * Detaches the store. The future completes when the store is closed; returns null if there is no
   * store.
   */
  public CompletableFuture<Void> detach() {
    if (store == null) {
      return null;
    }
    Leaving each = new Leaving(store, new CompletableFuture<>());
    leaving.add(each);
    store = null;
    closeLeaving();
    return each.closed;
  }

  private void closeLeaving() {
    if (inProgress == 0 && !leaving.isEmpty()) {
      List<Leaving> closing = List.copyOf(leaving);
      leaving.clear();
      run(
          Kind.WRITE,
          () -> {
            closing.forEach(each -> each.store.close());
            return true;
          },
          false,
          closed -> closing.forEach(each -> each.closed.complete(null)));
    }
  }

  /**
   * Runs work with the store, or with a store below it. The store is not closed before the work has
   * ended.
   */
  public <T> void run(Kind kind, TierWorker.Work<T> work, T failed, Consumer<T> then) {
    inProgress++;
    PageStore asked = store;
    worker.run(
        kind,
        () -> {
          try {
            return work.run();
          } finally {
            for (PageStore each = asked; each != null; each = each.below()) {
              stats.set(each.tier().ordinal(), each.stats());
            }
          }
        },
        failed,
        result -> {
          inProgress--;
          then.accept(result);
          closeLeaving();
        });
  }

  /**
   * Erases pages in the store, after all earlier writes.
   *
   * @return completes when the pages' bytes are deleted; true if a store on disk is attached
   */
  public CompletableFuture<Boolean> erase(Consumer<PageStore> erasure) {
    if (store == null) {
      return CompletableFuture.completedFuture(false);
    }
    PageStore target = store;
    CompletableFuture<Boolean> erased = new CompletableFuture<>();
    run(
        Kind.WRITE,
        () -> {
          erasure.accept(target);
          return target.erased();
        },
        CompletableFuture.<Void>failedFuture(new IOException("the store failed")),
        gone ->
            gone.whenComplete(
                (none, failure) -> {
                  if (failure == null) {
                    erased.complete(target.tier() == KvTier.DISK);
                  } else {
                    erased.completeExceptionally(failure);
                  }
                }));
    return erased;
  }

  /** Reads the store's statistics on its own thread. */
  public void refreshStats() {
    change(unchanged -> {});
  }

  public boolean isAttached() {
    return store != null;
  }

  /**
   * Changes the contents of the store, after all earlier writes; returns false if no store is
   * attached.
   */
  public boolean change(Consumer<PageStore> change) {
    if (store == null) {
      return false;
    }
    PageStore target = store;
    run(
        Kind.WRITE,
        () -> {
          change.accept(target);
          return true;
        },
        false,
        changed -> {});
    return true;
  }

  /** Returns the latest statistics of the store of a tier; null if there is none. */
  public PageStoreStats stats(KvTier tier) {
    PageStore asked = store;
    while (asked != null && asked.tier() != tier) {
      asked = asked.below();
    }
    // a remote store counts its own work, so its thread need not be asked
    if (asked == null) {
      return null;
    }
    return tier == KvTier.REMOTE ? asked.stats() : stats.get(tier.ordinal());
  }

  /**
   * Writes ready pages to the store, and then releases one lock of each. Their checksums are
   * verified once more, because the store computes its own checksums from these bytes.
   */
  public void write(List<HostPage> entries) {
    List<HostPage> wanted = new ArrayList<>(entries.size());
    for (HostPage entry : entries) {
      if (entry.removed || store == null) {
        host.unlock(entry);
      } else if (writing >= Math.max(1, host.total() / WRITE_SHARE)) {
        droppedWrites++;
        host.unlock(entry);
      } else {
        writing++;
        entry.stored = true;
        wanted.add(entry);
      }
    }
    if (wanted.isEmpty()) {
      return;
    }
    TierPage[] pages = wanted.stream().map(entry -> entry.page).toArray(TierPage[]::new);
    ByteBuffer[] bytes = wanted.stream().map(host::buffer).toArray(ByteBuffer[]::new);
    int[] sums = wanted.stream().mapToInt(entry -> entry.checksum).toArray();
    PageStore target = store;
    run(
        Kind.WRITE,
        () -> {
          int good = Checksums.goodPages(bytes, sums);
          int failed = target.write(pages, bytes, good);
          return new Written(good, failed == 0);
        },
        new Written(-1, false),
        written -> written(wanted, written, target));
  }

  /**
   * The result of writing pages to the store.
   *
   * @param good how many pages had right checksums, up to the first wrong checksum
   * @param stored whether the store has stored these pages
   */
  private record Written(int good, boolean stored) {}

  /** Releases written pages, and removes the first page with a wrong checksum. */
  private void written(List<HostPage> entries, Written written, PageStore target) {
    writing -= entries.size();
    for (int i = 0; i < entries.size(); i++) {
      // a store that was attached in the meantime does not have these pages
      entries.get(i).stored = i < written.good() && written.stored() && target == store;
      if (i == written.good()) {
        host.misses().add(MissReason.CHECKSUM, 1);
        host.remove(entries.get(i));
      }
      host.unlock(entries.get(i));
    }
  }

  /** Writes a page to the store after an earlier write was dropped because too many waited. */
  public void writeAgain(HostPage entry) {
    if (store != null && entry.ready && !entry.stored && !entry.removed && !host.isHeld()) {
      host.lock(entry);
      write(List.of(entry));
    }
  }

  /**
   * Asks the store for the pages of a chain that follow those on the device and the host.
   *
   * @param then see {@link Tiers#locate}
   */
  public void locate(PageChain chain, int devicePages, int hostPages, Consumer<int[]> then) {
    PageStore source = store;
    int from = devicePages + hostPages;
    int[] none = new int[KvTier.values().length];
    none[KvTier.HOST.ordinal()] = hostPages;
    if (source == null || from >= chain.pages()) {
      then.accept(none);
      return;
    }
    run(
        Kind.of(source.below() == null ? source.tier() : KvTier.REMOTE),
        () -> {
          int[] pages = source.findByTier(chain.ids(), from, chain.pages());
          pages[KvTier.HOST.ordinal()] = hostPages;
          return pages;
        },
        none,
        then);
  }

  /** Closes the store; nothing may be in progress. */
  public void close() {
    if (store != null) {
      store.close();
    }
    leaving.forEach(each -> each.store.close());
  }
}
