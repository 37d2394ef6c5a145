package io.radixflow.lab.hitrates;

import java.util.List;

/**
 * The hits of a model with sliding-window layers in pools of several sizes, next to the hits of a
 * model without them.
 *
 * @param inputBlocks blocks of all prompts: what rates are shares of
 * @param unlimited hits of a cache that holds everything
 * @param shares parts of the pages that have window parts
 * @param rows one for each size, ascending
 */
public record WindowRates(long inputBlocks, long unlimited, List<Double> shares, List<Row> rows) {

  /**
   * A size of the pool.
   *
   * @param capacity its bytes, in pages of all layers
   * @param full hits with as many pages
   * @param windows one for each share
   */
  public record Row(int capacity, long full, List<Cell> windows) {}

  /**
   * A pool with window parts.
   *
   * @param pages as many as the bytes have room for
   */
  public record Cell(int pages, long hits) {}

  /** A count of hits as a share of all blocks, in percent; 0 if there are no blocks. */
  public double percent(long hits) {
    return inputBlocks == 0 ? 0 : 100.0 * hits / inputBlocks;
  }
}
