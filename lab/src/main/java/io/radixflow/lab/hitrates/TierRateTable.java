package io.radixflow.lab.hitrates;

import io.radixflow.lab.workload.Workload;
import java.io.PrintWriter;
import java.util.Locale;

/** Prints hit rates by tier as a table. */
final class TierRateTable {
  private final Workload workload;
  private final TierRates rates;

  TierRateTable(Workload workload, TierRates rates) {
    this.workload = workload;
    this.rates = rates;
  }

  void print(PrintWriter out) {
    HitRateTable.head(workload, out);
    out.printf(
        Locale.ROOT,
        "%nhit rate in %% by where pages came from: device %,d pages, host %,d, disk %,d%n%n",
        rates.devicePages(),
        rates.hostPages(),
        rates.diskPages());
    out.printf(
        "%10s %9s %9s %9s %9s | %9s%n", "policy", "device", "host", "disk", "all", "infinite");
    rates.rows().forEach(row -> line(out, row));
    out.println();
    out.println("infinite: a cache that holds everything");
    out.flush();
  }

  private void line(PrintWriter out, TierRates.Row row) {
    out.printf(
        Locale.ROOT,
        "%10s %9.2f %9.2f %9.2f %9.2f | %9.2f%n",
        row.policy(),
        rates.percent(row.device()),
        rates.percent(row.host()),
        rates.percent(row.disk()),
        rates.percent(row.all()),
        rates.percent(rates.unlimited()));
  }
}
