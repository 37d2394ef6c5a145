package io.radixflow.lab.hitrates;

import io.radixflow.lab.simulate.CacheWorkload;
import io.radixflow.lab.workload.Workload;
import java.io.PrintWriter;
import java.util.Locale;

/** Prints hit rates as a table. */
final class HitRateTable {
  private final Workload workload;
  private final HitRates rates;

  HitRateTable(Workload workload, HitRates rates) {
    this.workload = workload;
    this.rates = rates;
  }

  void print(PrintWriter out) {
    head(workload, out);
    out.printf(
        Locale.ROOT,
        "%nhit rate in %%; a cache that holds everything has %.2f%n%n",
        rates.percent(rates.unlimited()));
    out.printf("%12s %15s", "pages", "tokens");
    rates.policies().forEach(name -> out.printf(" %9s", name));
    out.printf(" | %7s%n", "bound");
    rates.rows().forEach(row -> line(out, row));
    out.println();
    out.println(
        "bound: the most that any policy could have, since it knows the future (Belady's MIN with"
            + " bypass); no policy");
    out.flush();
  }

  /** Prints the workload that the rates belong to. */
  static void head(Workload workload, PrintWriter out) {
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

  private void line(PrintWriter out, HitRates.Row row) {
    long tokens = (long) row.capacity() * workload.pageTokens();
    out.printf(Locale.ROOT, "%,12d %,15d", row.capacity(), tokens);
    row.results()
        .forEach(result -> out.printf(Locale.ROOT, " %9.2f", rates.percent(result.hits())));
    out.printf(Locale.ROOT, " | %7.2f%n", rates.percent(row.bound()));
  }
}
