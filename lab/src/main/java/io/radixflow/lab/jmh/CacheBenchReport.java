package io.radixflow.lab.jmh;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.tools.cli.common.JsonLineOutput;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The measurements of {@code cache bench}, each next to its goal. */
final class CacheBenchReport {
  private static final double MOST_GROWTH = 3;
  private static final String EVICT = "evict ";

  private final List<Row> rows = new ArrayList<>();

  /** Times in microseconds. */
  private record Row(CacheBenchCase of, double p50, double p99, long samples) {}

  void add(CacheBenchCase measured, double p50, double p99, long samples) {
    rows.add(new Row(measured, p50, p99, samples));
  }

  void print(PrintWriter out, CacheFootprint footprint) {
    out.printf("%-32s %8s %8s   %-14s%n", "microseconds", "p50", "p99", "goal, at most");
    for (Row row : rows) {
      String goal = row.of.goal();
      String met = goal.isEmpty() ? "" : row.of.isMet(row.p50, row.p99) ? "met" : "MISSED";
      out.printf(
          Locale.ROOT,
          "%-32s %8.2f %8.2f   %-14s %s%n",
          row.of.name(),
          row.p50,
          row.p99,
          goal,
          met);
    }
    out.printf(Locale.ROOT, "of a turn with SHA-256, hashing takes %.2f at p50%n", hashing50());
    out.printf(
        Locale.ROOT,
        "evict, most leaves over fewest: %.1fx at p50, %.1fx at p99; goal at most %.0fx: %s%n",
        growth50(),
        growth99(),
        MOST_GROWTH,
        growth99() <= MOST_GROWTH ? "met" : "MISSED");
    out.printf(
        Locale.ROOT,
        "a match allocates %.1f bytes, its result is %.1f; goal no more than that: %s%n",
        footprint.matchBytes(),
        footprint.handleBytes(),
        isLean(footprint) ? "met" : "MISSED");
    out.printf(
        Locale.ROOT,
        "a cached page takes %.0f bytes of heap (%,d pages of chats), %.0f as a leaf of its own%n",
        footprint.pageBytes(),
        footprint.pages(),
        footprint.leafBytes());
  }

  private double hashing50() {
    return p50(CacheBenchCase.HASHED_TURN) - p50(CacheBenchCase.TURN);
  }

  private double p50(String name) {
    return rows.stream().filter(row -> row.of.name().equals(name)).findFirst().orElseThrow().p50;
  }

  private double growth50() {
    List<Row> evictions = evictions();
    return evictions.get(evictions.size() - 1).p50 / evictions.get(0).p50;
  }

  private double growth99() {
    List<Row> evictions = evictions();
    return evictions.get(evictions.size() - 1).p99 / evictions.get(0).p99;
  }

  private List<Row> evictions() {
    return rows.stream().filter(row -> row.of.name().startsWith(EVICT)).toList();
  }

  /** Allows one byte in ten matches: the counter also counts what other code allocates. */
  private static boolean isLean(CacheFootprint footprint) {
    return footprint.matchBytes() < footprint.handleBytes() + 0.1;
  }

  ObjectNode json(CacheFootprint footprint) {
    ObjectNode json = JsonLineOutput.object();
    ArrayNode results = json.putArray("results");
    for (Row row : rows) {
      ObjectNode result = results.addObject();
      result.put("name", row.of.name()).put("samples", row.samples);
      result.put("p50_us", row.p50).put("p99_us", row.p99);
      put(result, "goal_p50_us", row.of.goal50());
      put(result, "goal_p99_us", row.of.goal99());
      result.put("goal_met", row.of.isMet(row.p50, row.p99));
    }
    json.put("turn_hashing_p50_us", hashing50());
    json.putObject("evict_growth")
        .put("p50", growth50())
        .put("p99", growth99())
        .put("goal", MOST_GROWTH)
        .put("goal_met", growth99() <= MOST_GROWTH);
    json.put("match_allocated_bytes", footprint.matchBytes());
    json.put("handle_bytes", footprint.handleBytes());
    json.put("allocation_goal_met", isLean(footprint));
    json.put("cached_page_bytes", footprint.pageBytes());
    json.put("leaf_page_bytes", footprint.leafBytes());
    return json;
  }

  private static void put(ObjectNode json, String name, double value) {
    if (!Double.isNaN(value)) {
      json.put(name, value);
    }
  }
}
