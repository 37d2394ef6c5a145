package io.radixflow.operators.tier;

/** Pages that are fetched for a turn that is expected. Owned by the engine thread. */
public final class Prefetch {
  final PageChain chain;

  /** Pages of the prefix that the device had. */
  final int devicePages;

  final Runnable onEnd;

  /** Null before the store is asked. */
  Retrieval retrieval;

  boolean ended;

  Prefetch(PageChain chain, int devicePages, Runnable onEnd) {
    this.chain = chain;
    this.devicePages = devicePages;
    this.onEnd = onEnd;
  }

  /** Host pages that it may take. */
  int asked() {
    return retrieval.limit - retrieval.from;
  }

  /** Whether all has come that the store has. */
  boolean isWhole() {
    if (retrieval == null || retrieval.fetching) {
      return false;
    }
    int end = retrieval.from + retrieval.fetched;
    return end >= retrieval.fetchEnd && (end < retrieval.limit || end >= chain.pages());
  }
}
