package io.radixflow.lab.hitrates;

import io.radixflow.lab.simulate.CacheSimulation;
import java.util.List;

/**
 * The hits of a workload in caches of several sizes under several policies.
 *
 * @param policies names, in the order of the results
 * @param inputBlocks blocks of all prompts: what rates are shares of
 * @param unlimited hits of a cache that holds everything
 * @param rows one a capacity, ascending
 */
public record HitRates(List<String> policies, long inputBlocks, long unlimited, List<Row> rows) {

  /**
   * One capacity.
   *
   * @param capacity pages
   * @param results one a policy
   * @param bound the most hits that any policy could have
   */
  public record Row(int capacity, List<CacheSimulation.Result> results, long bound) {}

  /** A count of hits as a share of all blocks, in percent; 0 if there are no blocks. */
  public double percent(long hits) {
    return inputBlocks == 0 ? 0 : 100.0 * hits / inputBlocks;
  }
}
