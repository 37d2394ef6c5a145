package io.radixflow.operators.tier;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadPoolExecutor;

/**
 * Reads the pages of a chain up to the first that is missing or bad, several runs of them at a
 * time, and sees to it that a bad page is not found again. Safe for several threads.
 */
final class ChainReader implements AutoCloseable {
  private static final int RETRIES = 3;
  private static final PageReader.Outcome NOTHING = new PageReader.Outcome(0, null, true);

  private final PageReader pages;
  private final SegmentLog log;
  private final PageIndex index;
  private final StoreCounters counters;
  private final SegmentRepair repair;
  private final ThreadPoolExecutor helpers;

  /**
   * @param readers threads that one read may use, the caller's included
   */
  ChainReader(
      PageReader pages,
      SegmentLog log,
      PageIndex index,
      StoreCounters counters,
      SegmentRepair repair,
      int readers) {
    this.pages = pages;
    this.log = log;
    this.index = index;
    this.counters = counters;
    this.repair = repair;
    this.helpers = readers == 1 ? null : TransferThreads.open("disk-tier-reader", readers - 1);
  }

  /** See {@link PageStore#read}. */
  int read(PageId[] chain, String[] namespaces, int from, int to, ByteBuffer[] into) {
    PageDirectory.Entry[] entries = new PageDirectory.Entry[to];
    PageReader.Request request = new PageReader.Request(chain, namespaces, entries, into);
    int at = from;
    int retries = 0;
    while (at < to) {
      int found = index.directory().get(chain, at, to, entries);
      PageReader.Outcome outcome = readFound(request, at, at + found);
      index.marks().use(chain, at, at + outcome.read());
      counters.read.add(outcome.read());
      at += outcome.read();
      if (at == to) {
        break;
      }
      // a page may have been moved or removed while it was read
      boolean moved = outcome.miss() != null && !index.isAt(entries[at]);
      if (!moved || ++retries > RETRIES) {
        missed(outcome.miss() == null ? null : entries[at], outcome);
        break;
      }
    }
    return at - from;
  }

  /** See {@link PageStore#copy}. A page that is not there is no miss, as nobody asked for it. */
  boolean copy(TierPage page, ByteBuffer into) {
    PageId[] chain = {page.id()};
    PageDirectory.Entry[] entries = new PageDirectory.Entry[1];
    ByteBuffer[] buffers = {into};
    String[] namespaces = {page.namespace()};
    PageReader.Request request = new PageReader.Request(chain, namespaces, entries, buffers);
    int found = index.directory().get(chain, 0, 1, entries);
    return readFound(request, 0, found).read() == 1;
  }

  private PageReader.Outcome readFound(PageReader.Request request, int from, int to) {
    List<CompletableFuture<PageReader.Outcome>> reads = new ArrayList<>();
    List<PageReader.Run> runs = pages.runs(request.entries(), from, to);
    // the first is the caller's, and comes last into the list of what is begun
    for (int i = 1; i < runs.size(); i++) {
      PageReader.Run run = runs.get(i);
      reads.add(
          helpers == null
              ? CompletableFuture.completedFuture(pages.read(request, run))
              : CompletableFuture.supplyAsync(() -> pages.read(request, run), helpers));
    }
    if (!runs.isEmpty()) {
      reads.add(0, new CompletableFuture<>());
      try {
        reads.get(0).complete(pages.read(request, runs.get(0)));
      } catch (RuntimeException | Error e) {
        reads.get(0).completeExceptionally(e);
      }
    }
    // all are waited for: the buffers are the caller's again when this returns, or throws
    CompletableFuture.allOf(reads.toArray(CompletableFuture[]::new))
        .exceptionally(e -> null)
        .join();
    PageReader.Outcome all = NOTHING;
    for (CompletableFuture<PageReader.Outcome> read : reads) {
      PageReader.Outcome next = read.join();
      if (all.miss() == null) {
        all = new PageReader.Outcome(all.read() + next.read(), next.miss(), next.whole());
      }
    }
    return all;
  }

  /**
   * Counts a miss, and forgets a page that would be missed again, so that it can be written anew.
   *
   * @param entry where it should have been; null if it is not in the directory
   */
  private void missed(PageDirectory.Entry entry, PageReader.Outcome outcome) {
    counters.miss(entry == null ? MissReason.ABSENT : outcome.miss());
    boolean interrupted = outcome.miss() == MissReason.IO && Thread.currentThread().isInterrupted();
    if (entry == null || outcome.miss() == MissReason.NAMESPACE || interrupted) {
      return;
    }
    synchronized (log) {
      if (!index.isAt(entry)) {
        return;
      }
      if (outcome.whole()) {
        repair.destroy(entry);
      } else {
        repair.later(entry.segment());
      }
      index.drop(List.of(entry.page()));
    }
  }

  @Override
  public void close() {
    if (helpers != null) {
      helpers.shutdown();
    }
  }
}
