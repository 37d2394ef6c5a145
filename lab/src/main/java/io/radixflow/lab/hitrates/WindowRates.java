package io.radixflow.lab.hitrates;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.lab.workload.Workload;
import java.io.PrintWriter;
import java.util.List;
import java.util.Locale;

/**
 * The hits of a model with sliding-window layers in pools of several sizes, next to the hits of a
 * model without them.
 *
 * @param inputBlocks blocks of all prompts; rates are shares of this number
 * @param unlimited hits of an unlimited cache
 * @param shares parts of the pages that have window parts
 * @param rows one row per size, ascending
 */
public record WindowRates(long inputBlocks, long unlimited, List<Double> shares, List<Row> rows)
    implements Rates {

  /**
   * A size of the pool.
   *
   * @param capacity its bytes, in pages of all layers
   * @param full hits with {@code capacity} pages
   * @param windows one cell per share
   */
  public record Row(int capacity, long full, List<Cell> windows) {}

  /**
   * A pool with window parts.
   *
   * @param pages the number of pages that fit in the bytes
   */
  public record Cell(int pages, long hits) {}

  @Override
  public void printRows(Workload workload, PrintWriter out) {
    out.printf(
        Locale.ROOT,
        "%nhit rate in %%, and pages, of pools of equal bytes; one that holds everything has"
            + " %.2f%n%n",
        percent(unlimited));
    out.printf("%12s %9s", "all layers", "full");
    shares.forEach(share -> out.printf(Locale.ROOT, " %19s", "share " + share));
    out.println();
    for (Row row : rows) {
      out.printf(Locale.ROOT, "%,12d %9.2f", row.capacity, percent(row.full));
      row.windows.forEach(
          cell -> out.printf(Locale.ROOT, " %,11d %7.2f", cell.pages, percent(cell.hits)));
      out.println();
    }
  }

  @Override
  public void putRows(Workload workload, ObjectNode json) {
    ArrayNode capacities = json.putArray("capacities");
    for (Row row : rows) {
      ObjectNode one = capacities.addObject().put("pages_of_all_layers", row.capacity);
      one.put("full_hit_rate", percent(row.full) / 100);
      ArrayNode cells = one.putArray("window_shares");
      for (int i = 0; i < shares.size(); i++) {
        Cell cell = row.windows.get(i);
        ObjectNode share = cells.addObject().put("share", shares.get(i));
        share.put("pages", cell.pages).put("hit_rate", percent(cell.hits) / 100);
      }
    }
  }
}
