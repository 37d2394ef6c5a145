package io.radixflow.lab.hitrates;

import java.util.List;

/**
 * The hits of a model with sliding-window layers in pools of several sizes, next to the hits of a
 * model without them.
 *
 * @param inputBlocks blocks of all prompts; rates are shares of this number
 * @param unlimited hits of an unlimited cache
 * @param shares parts of the pages that have window parts
 * @param rows one row per size, ascending
 */
public record WindowRates(long inputBlocks, long unlimited, List<Double> shares, List<Row> rows)
    implements Rates {

  /**
   * A size of the pool.
   *
   * @param capacity its bytes, in pages of all layers
   * @param full hits with {@code capacity} pages
   * @param windows one cell per share
   */
  public record Row(int capacity, long full, List<Cell> windows) {}

  /**
   * A pool with window parts.
   *
   * @param pages the number of pages that fit in the bytes
   */
  public record Cell(int pages, long hits) {}
}
