package io.radixflow.lab.hitrates;

import io.radixflow.lab.simulate.CacheSimulation;
import java.util.List;

/**
 * The hits of a workload in caches of several sizes under several policies.
 *
 * @param policies names, in the order of the results
 * @param inputBlocks blocks of all prompts; rates are shares of this number
 * @param unlimited hits of an unlimited cache
 * @param rows one row per capacity, ascending
 */
public record HitRates(List<String> policies, long inputBlocks, long unlimited, List<Row> rows)
    implements Rates {

  /**
   * One capacity.
   *
   * @param capacity capacity in pages
   * @param results one result per policy
   * @param bound the most hits that any policy could have
   */
  public record Row(int capacity, List<CacheSimulation.Result> results, long bound) {}
}
