package io.radixflow.lab.hitrates;

import io.radixflow.tools.cli.common.CliException;
import java.util.List;

/**
 * Sizes of device, host and disk in percent of a workload's pages.
 *
 * @param disk 0 for none
 */
record TierShares(double device, double host, double disk) {

  /**
   * Parses the option of a user.
   *
   * @throws CliException if it is not three numbers, or a tier would be negative or empty
   */
  static TierShares parse(List<String> given) {
    try {
      if (given.size() == 3) {
        TierShares shares =
            new TierShares(
                Double.parseDouble(given.get(0)),
                Double.parseDouble(given.get(1)),
                Double.parseDouble(given.get(2)));
        if (shares.device > 0 && shares.host > 0 && shares.disk >= 0) {
          return shares;
        }
      }
    } catch (NumberFormatException e) {
      // reported below
    }
    throw new CliException(
        "--tier-sizes must be three percentages DEVICE,HOST,DISK, the first two above 0");
  }

  /** Pages of a share of a workload; 0 of none, else at least 1. */
  static int pages(double percent, int all) {
    return (int) Math.min(Integer.MAX_VALUE / Long.BYTES, Math.ceil(percent / 100 * all));
  }
}
