package io.radixflow.lab.hitrates;

/** Hits of a workload; rates are shares of its prompts' blocks. */
interface Rates {
  /** Returns the number of blocks of all prompts. */
  long inputBlocks();

  /** Returns the hits of an unlimited cache. */
  long unlimited();

  /** Returns a count of hits as a percentage of all blocks; 0 for a workload without blocks. */
  default double percent(long hits) {
    return inputBlocks() == 0 ? 0 : 100.0 * hits / inputBlocks();
  }
}
