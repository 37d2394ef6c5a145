package io.radixflow.lab.hitrates;

import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.lab.workload.Workload;
import java.io.PrintWriter;
import java.util.Locale;

/** Prints hit rates, by capacity or by tier, as tables. */
final class HitRateTable {
  private HitRateTable() {}

  static void print(Workload workload, HitRates rates, PrintWriter out) {
    head(workload, out);
    out.printf(
        Locale.ROOT,
        "%nhit rate in %%; a cache that holds everything has %.2f%n%n",
        rates.percent(rates.unlimited()));
    out.printf("%12s %15s", "pages", "tokens");
    rates.policies().forEach(name -> out.printf(" %9s", name));
    out.printf(" | %7s%n", "bound");
    rates.rows().forEach(row -> line(out, workload, rates, row));
    out.println();
    out.println(
        "bound: the most that any policy could have, since it knows the future (Belady's MIN with"
            + " bypass); no policy");
    out.flush();
  }

  private static void head(Workload workload, PrintWriter out) {
    CacheWorkload requests = workload.requests();
    out.printf(
        Locale.ROOT,
        "%s: %,d requests; %,d pages of %,d tokens in their prompts, %,d different pages in all%n",
        workload.format(),
        requests.requests(),
        requests.inputBlocks(),
        workload.pageTokens(),
        requests.distinctBlocks());
    workload.notes().forEach(note -> out.println("note: " + note));
  }

  private static void line(PrintWriter out, Workload workload, HitRates rates, HitRates.Row row) {
    long tokens = (long) row.capacity() * workload.pageTokens();
    out.printf(Locale.ROOT, "%,12d %,15d", row.capacity(), tokens);
    row.results()
        .forEach(result -> out.printf(Locale.ROOT, " %9.2f", rates.percent(result.hits())));
    out.printf(Locale.ROOT, " | %7.2f%n", rates.percent(row.bound()));
  }

  static void print(Workload workload, WindowRates rates, PrintWriter out) {
    head(workload, out);
    out.printf(
        Locale.ROOT,
        "%nhit rate in %%, and pages, of pools of equal bytes; one that holds everything has"
            + " %.2f%n%n",
        rates.percent(rates.unlimited()));
    out.printf("%12s %9s", "all layers", "full");
    rates.shares().forEach(share -> out.printf(Locale.ROOT, " %19s", "share " + share));
    out.println();
    for (WindowRates.Row row : rates.rows()) {
      out.printf(Locale.ROOT, "%,12d %9.2f", row.capacity(), rates.percent(row.full()));
      row.windows()
          .forEach(
              cell ->
                  out.printf(
                      Locale.ROOT,
                      " %11s %7.2f",
                      "%,d".formatted(cell.pages()),
                      rates.percent(cell.hits())));
      out.println();
    }
    out.flush();
  }

  static void print(Workload workload, TierRates rates, PrintWriter out) {
    head(workload, out);
    out.printf(
        Locale.ROOT,
        "%nhit rate in %% by where pages came from: device %,d pages, host %,d, disk %,d%n%n",
        rates.devicePages(),
        rates.hostPages(),
        rates.diskPages());
    out.printf(
        "%10s %9s %9s %9s %9s | %9s%n", "policy", "device", "host", "disk", "all", "infinite");
    rates.rows().forEach(row -> line(out, rates, row));
    out.println();
    out.println("infinite: a cache that holds everything");
    out.flush();
  }

  private static void line(PrintWriter out, TierRates rates, TierRates.Row row) {
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
