package io.radixflow.lab.hitrates;

import java.util.List;

/**
 * The hits of a workload on the device and in the tiers below it.
 *
 * @param inputBlocks blocks of all prompts: what rates are shares of
 * @param unlimited hits of a cache that holds everything
 * @param devicePages pages of each tier
 * @param rows one a policy
 */
public record TierRates(
    long inputBlocks,
    long unlimited,
    int devicePages,
    int hostPages,
    int diskPages,
    List<Row> rows) {

  /** Hits under one policy of the device, each counted where the page came from. */
  public record Row(String policy, long device, long host, long disk) {
    public long all() {
      return device + host + disk;
    }
  }

  /** A count of hits as a share of all blocks, in percent; 0 if there are no blocks. */
  public double percent(long hits) {
    return inputBlocks == 0 ? 0 : 100.0 * hits / inputBlocks;
  }
}
