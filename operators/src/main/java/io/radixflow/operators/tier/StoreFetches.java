package io.radixflow.operators.tier;

import io.radixflow.operators.record.KvTier;
import io.radixflow.operators.tier.TierWorker.Kind;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * The way from the stores to host memory. One store after the other is asked, from the top, each
 * for what those above it did not have; pages come in batches, so that a request need not wait for
 * the last. Engine thread only.
 */
final class StoreFetches {
  /** Pages that a request asks for at a time. */
  private static final int BATCH = 16;

  private final StoreLink link;
  private final HostTier host;
  private final Checks checks;
  private final Misses misses;
  private final LoadModel model;
  private final TierOptions options;
  private final int pageTokens;
  private final LongSupplier nanoClock;

  /** What waits for pages that are on their way for another request. */
  private final List<Runnable> blocked = new ArrayList<>();

  private int reading;
  private long fetchedPages;

  StoreFetches(
      StoreLink link,
      HostTier host,
      Checks checks,
      Misses misses,
      LoadModel model,
      TierOptions options,
      int pageTokens,
      LongSupplier nanoClock) {
    this.link = link;
    this.host = host;
    this.checks = checks;
    this.misses = misses;
    this.model = model;
    this.options = options;
    this.pageTokens = pageTokens;
    this.nanoClock = nanoClock;
  }

  /** Pages read from the stores. */
  long pages() {
    return fetchedPages;
  }

  /** Pages on their way from the stores. */
  int queuedPages() {
    return reading;
  }

  private boolean byCost() {
    return options.loadBackThreshold() == TierOptions.BY_COST;
  }

  /** Whether there are stores, and so many pages enough to ask them. */
  boolean areAskedFor(int pages) {
    return link.store() != null && pages > 0 && pages * pageTokens >= options.prefetchThreshold();
  }

  /** Begins to ask the stores for what a retrieval has not found in host memory. */
  void fetch(Retrieval retrieval, Runnable progressed) {
    ask(retrieval, link.store(), link.store(), progressed);
  }

  /**
   * Asks a store, or the next below it that is worth it.
   *
   * @param top the store on top of it, which is no longer used when it has been detached
   * @return false if there is none
   */
  private boolean ask(Retrieval retrieval, PageStore top, PageStore first, Runnable progressed) {
    int from = retrieval.from + retrieval.found + retrieval.fetched;
    int missing = retrieval.limit - from;
    if (missing <= 0 || missing * pageTokens < options.prefetchThreshold()) {
      return false;
    }
    PageStore asked = first;
    while (asked != null && byCost() && !model.isWorthAsking(asked.tier(), from, missing)) {
      asked = asked.below();
    }
    if (asked == null) {
      return false;
    }
    ask(retrieval, top, asked, from, progressed);
    return true;
  }

  private void ask(
      Retrieval retrieval, PageStore top, PageStore asked, int from, Runnable progressed) {
    long began = nanoClock.getAsLong();
    retrieval.fetching = true;
    retrieval.fetchedSince = began;
    retrieval.store = asked;
    link.run(
        Kind.of(asked.tier()),
        () -> asked.find(retrieval.chain.ids(), from, retrieval.limit),
        0,
        pages -> {
          model.asked(asked.tier(), nanoClock.getAsLong() - began);
          if (asked.below() == null) {
            misses.add(MissReason.ABSENT, retrieval.limit - from - pages);
          }
          boolean worth =
              pages * pageTokens >= options.prefetchThreshold()
                  && (!byCost() || model.isWorthFetching(asked.tier(), from, pages));
          retrieval.fetchEnd = worth ? from + pages : from;
          fetchNext(retrieval, top, progressed);
        });
  }

  private void fetchNext(Retrieval retrieval, PageStore top, Runnable progressed) {
    int from = retrieval.from + retrieval.found + retrieval.fetched;
    if (!retrieval.ended && from < retrieval.fetchEnd && isElsewhere(retrieval, from)) {
      takeOver(retrieval, from, top, progressed);
      return;
    }
    List<HostEntry> batch = new ArrayList<>(BATCH);
    boolean wanted = !retrieval.ended && top == link.store();
    if (wanted) {
      int end = Math.min(retrieval.fetchEnd, from + BATCH);
      for (int i = from; i < end && host.locked() <= host.total() / 2; i++) {
        HostEntry entry =
            host.get(retrieval.chain.id(i)) == null
                ? host.allocate(retrieval.chain.page(i), true)
                : null;
        if (entry == null) {
          break;
        }
        batch.add(entry);
      }
    }
    if (!batch.isEmpty()) {
      read(retrieval, from, batch, top, progressed);
    } else if (!wanted
        || from < retrieval.fetchEnd
        || !ask(retrieval, top, retrieval.store.below(), progressed)) {
      retrieval.fetching = false;
      progressed.run();
    }
  }

  private void read(
      Retrieval retrieval, int from, List<HostEntry> batch, PageStore top, Runnable progressed) {
    int to = from + batch.size();
    ByteBuffer[] into = new ByteBuffer[to];
    for (int i = from; i < to; i++) {
      into[i] = host.buffer(batch.get(i - from));
    }
    long began = nanoClock.getAsLong();
    String[] namespaces = retrieval.chain.namespaces();
    PageStore source = retrieval.store;
    reading += batch.size();
    link.run(
        Kind.of(source.tier()),
        () -> {
          int count = source.read(retrieval.chain.ids(), namespaces, from, to, into);
          int[] sums = new int[count];
          for (int i = 0; i < count; i++) {
            sums[i] = Checks.crc(into[from + i].clear());
          }
          return sums;
        },
        new int[0],
        sums -> {
          reading -= batch.size();
          if (sums.length > 0) {
            model.fetched(source.tier(), sums.length, nanoClock.getAsLong() - began);
          }
          arrived(retrieval, batch, sums, top);
          if (sums.length < batch.size()) {
            retrieval.fetchEnd = from + sums.length;
          }
          progressed.run();
          fetchNext(retrieval, top, progressed);
        });
  }

  /** Whether a page has come, or is coming, to host memory for another request. */
  private boolean isElsewhere(Retrieval retrieval, int index) {
    return host.get(retrieval.chain.id(index)) != null;
  }

  /** Takes pages that came for another request, once they are there. */
  private void takeOver(Retrieval retrieval, int from, PageStore top, Runnable progressed) {
    List<HostEntry> ready = new ArrayList<>();
    for (int i = from; i < retrieval.fetchEnd; i++) {
      HostEntry entry = host.get(retrieval.chain.id(i));
      if (entry == null || !entry.ready) {
        break;
      }
      ready.add(entry);
    }
    if (ready.isEmpty()) {
      blocked.add(() -> fetchNext(retrieval, top, progressed));
      return;
    }
    ready.forEach(host::lock);
    checks.verify(
        ready,
        good -> {
          for (int i = 0; i < ready.size(); i++) {
            if (i < good && !retrieval.ended) {
              add(retrieval, ready.get(i));
            } else {
              host.unlock(ready.get(i));
            }
          }
          fetchNext(retrieval, top, progressed);
        });
  }

  private static void add(Retrieval retrieval, HostEntry entry) {
    retrieval.entries.add(entry);
    retrieval.fetched++;
    retrieval.fetchedOf[retrieval.store.tier().ordinal()]++;
  }

  /** Looks again for pages that were on their way for another request. */
  void poll() {
    if (!blocked.isEmpty()) {
      List<Runnable> again = List.copyOf(blocked);
      blocked.clear();
      again.forEach(Runnable::run);
    }
  }

  private void arrived(Retrieval retrieval, List<HostEntry> batch, int[] sums, PageStore top) {
    fetchedPages += sums.length;
    // a page that one store has may be missing in the other, and is given to both when it is used
    boolean everywhere = top.below() == null;
    for (int i = 0; i < batch.size(); i++) {
      HostEntry entry = batch.get(i);
      if (i < sums.length) {
        entry.stored = everywhere;
        host.ready(entry, sums[i]);
      } else {
        host.remove(entry);
      }
      if (i < sums.length && !retrieval.ended) {
        add(retrieval, entry);
      } else {
        host.unlock(entry);
      }
    }
  }

  /** Whether a request has to wait for pages of the stores. */
  boolean mustWait(Retrieval retrieval) {
    if (!retrieval.fetching || options.prefetchPolicy() == PrefetchPolicy.BEST_EFFORT) {
      return false;
    }
    long waited = nanoClock.getAsLong() - retrieval.fetchedSince;
    if (retrieval.store.tier() == KvTier.REMOTE && byCost() && model.knowsCompute()) {
      // who waits longer than it takes to compute the pages had better compute them
      int from = retrieval.from + retrieval.found;
      if (waited * 1e-9 > model.computeSeconds(from, retrieval.limit)) {
        return false;
      }
    }
    return !isLate(retrieval);
  }

  /** Whether the stores have had as long as the policy gives them. */
  boolean isLate(Retrieval retrieval) {
    if (!retrieval.fetching || options.prefetchPolicy() != PrefetchPolicy.TIMEOUT) {
      return false;
    }
    long waited = nanoClock.getAsLong() - retrieval.fetchedSince;
    int tokens = (retrieval.limit - retrieval.from) * pageTokens;
    return TimeUnit.NANOSECONDS.toMillis(waited) >= TierOptions.prefetchMillis(tokens);
  }
}
