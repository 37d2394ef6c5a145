package io.radixflow.lab.hitrates;

/** Hits of a workload, which are shares of its prompts' blocks. */
interface Rates {
  /** Blocks of all prompts. */
  long inputBlocks();

  /** Hits of an unlimited cache. */
  long unlimited();

  /** Returns a count of hits as a percentage of all blocks; 0 for a workload without blocks. */
  default double percent(long hits) {
    return inputBlocks() == 0 ? 0 : 100.0 * hits / inputBlocks();
  }
}
