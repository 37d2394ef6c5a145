package io.radixflow.lab.hitrates;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.lab.workload.Workload;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

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

  @Override
  public void printRows(Workload workload, PrintWriter out) {
    out.printf(
        Locale.ROOT,
        "%nhit rate in %% by where pages came from: device %,d pages, host %,d, disk %,d%n%n",
        devicePages,
        hostPages,
        diskPages);
    out.printf(
        "%10s %9s %9s %9s %9s | %9s%n", "policy", "device", "host", "disk", "all", "infinite");
    for (Row row : rows) {
      out.printf(
          Locale.ROOT,
          "%10s %9.2f %9.2f %9.2f %9.2f | %9.2f%n",
          row.policy,
          percent(row.device),
          percent(row.host),
          percent(row.disk),
          percent(row.all()),
          percent(unlimited));
    }
    out.println();
    out.println("infinite: a cache that holds everything");
  }

  @Override
  public void putRows(Workload workload, ObjectNode json) {
    ObjectNode sizes = json.putObject("tier_pages");
    sizes.put("device", devicePages).put("host", hostPages).put("disk", diskPages);
    ObjectNode policies = json.putObject("policies");
    for (Row row : rows) {
      ObjectNode policy = policies.putObject(row.policy);
      policy.put("hit_rate", percent(row.all()) / 100).put("device_hit_pages", row.device);
      policy.put("host_hit_pages", row.host).put("disk_hit_pages", row.disk);
    }
  }
}
