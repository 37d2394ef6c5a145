package io.radixflow.lab.hitrates;

import java.util.List;

/**
 * The hits of a workload on the device and in the tiers below it.
 *
 * @param inputBlocks blocks of all prompts; rates are shares of this number
 * @param unlimited hits of an unlimited cache
 * @param devicePages pages of each tier
 * @param rows one row per policy
 */
public record TierRates(
    long inputBlocks, long unlimited, int devicePages, int hostPages, int diskPages, List<Row> rows)
    implements Rates {

  /** Hits under one policy of the device. Each hit counts for the tier that the page came from. */
  public record Row(String policy, long device, long host, long disk) {
    public long all() {
      return device + host + disk;
    }
  }
}
