package io.radixflow.lab.hitrates;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.lab.simulate.CacheSimulation;
import io.radixflow.lab.workload.Workload;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

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

  @Override
  public void printRows(Workload workload, PrintWriter out) {
    out.printf(
        Locale.ROOT,
        "%nhit rate in %%; a cache that holds everything has %.2f%n%n",
        percent(unlimited));
    out.printf("%12s %15s", "pages", "tokens");
    policies.forEach(name -> out.printf(" %9s", name));
    out.printf(" | %7s%n", "bound");
    for (Row row : rows) {
      long tokens = (long) row.capacity * workload.pageTokens();
      out.printf(Locale.ROOT, "%,12d %,15d", row.capacity, tokens);
      row.results.forEach(result -> out.printf(Locale.ROOT, " %9.2f", percent(result.hits())));
      out.printf(Locale.ROOT, " | %7.2f%n", percent(row.bound));
    }
    out.println();
    out.println(
        "bound: the most that any policy could have, since it knows the future (Belady's MIN with"
            + " bypass); no policy");
  }

  @Override
  public void putRows(Workload workload, ObjectNode json) {
    ArrayNode capacities = json.putArray("capacities");
    for (Row row : rows) {
      ObjectNode one = capacities.addObject().put("pages", row.capacity);
      one.put("tokens", (long) row.capacity * workload.pageTokens());
      ObjectNode each = one.putObject("policies");
      for (int i = 0; i < policies.size(); i++) {
        CacheSimulation.Result result = row.results.get(i);
        ObjectNode policy = each.putObject(policies.get(i));
        policy.put("hit_rate", percent(result.hits()) / 100).put("hit_pages", result.hits());
        policy.put("evicted_pages", result.evicted()).put("freed_pages", result.freed());
      }
      ObjectNode bound = one.putObject("bound");
      bound.put("hit_rate", percent(row.bound) / 100).put("hit_pages", row.bound);
    }
  }
}
