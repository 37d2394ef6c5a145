package io.radixflow.operators.tier;

import java.util.function.LongSupplier;

/**
 * What waiting requests get from below the device: locks what host memory has of a prefix, has it
 * verified, asks the store for the rest, and says how much of it is worth loading.
 *
 * <p>Engine thread only.
 */
final class Retrievals {
  private final HostTier host;
  private final StoreFetches fetches;
  private final Checks checks;
  private final Misses misses;
  private final LoadModel model;
  private final TierOptions options;
  private final int pageTokens;
  private final LongSupplier nanoClock;

  Retrievals(
      HostTier host,
      StoreFetches fetches,
      Checks checks,
      Misses misses,
      LoadModel model,
      TierOptions options,
      int pageTokens,
      LongSupplier nanoClock) {
    this.host = host;
    this.fetches = fetches;
    this.checks = checks;
    this.misses = misses;
    this.model = model;
    this.options = options;
    this.pageTokens = pageTokens;
    this.nanoClock = nanoClock;
  }

  /** See {@link HiRadixCache#retrieve}. */
  Retrieval begin(PageChain chain, int devicePages, int limit) {
    Retrieval retrieval = new Retrieval(chain, devicePages, Math.min(limit, chain.pages()));
    boolean busy = host.isHeld() || host.locked() > host.total() / 2;
    if (devicePages >= retrieval.limit || busy) {
      return null;
    }
    retrieval.began = nanoClock.getAsLong();
    for (int i = devicePages; i < retrieval.limit; i++) {
      HostEntry entry = host.get(chain.id(i));
      if (entry == null || !entry.ready) {
        break;
      }
      host.lock(entry);
      retrieval.entries.add(entry);
    }
    retrieval.found = retrieval.entries.size();
    if (retrieval.found > 0) {
      checks.verify(retrieval, () -> progressed(retrieval));
    }
    fetches.fetch(retrieval, () -> progressed(retrieval));
    if (!retrieval.checking && !retrieval.fetching) {
      misses.add(MissReason.ABSENT, retrieval.limit - devicePages);
      return null;
    }
    return retrieval;
  }

  private void progressed(Retrieval retrieval) {
    retrieval.nanos = nanoClock.getAsLong() - retrieval.began;
  }

  /** Whether pages are being looked at or fetched that a request waits for. */
  boolean mustWait(Retrieval retrieval) {
    return retrieval.checking || fetches.mustWait(retrieval);
  }

  /** See {@link HiRadixCache#loadable}. */
  int loadable(Retrieval retrieval, int devicePages) {
    int available = retrieval.usableEnd() - devicePages;
    if (devicePages < retrieval.from || available <= 0) {
      return 0;
    }
    if (options.loadBackThreshold() != TierOptions.BY_COST) {
      return available * pageTokens >= options.loadBackThreshold() ? available : 0;
    }
    return model.pagesToLoad(devicePages, available);
  }

  /** See {@link HiRadixCache#release}. */
  void release(Retrieval retrieval) {
    if (retrieval.ended || retrieval.loading) {
      return;
    }
    retrieval.ended = true;
    if (!retrieval.checking) {
      retrieval.entries.forEach(host::unlock);
      retrieval.entries.clear();
    }
  }
}
