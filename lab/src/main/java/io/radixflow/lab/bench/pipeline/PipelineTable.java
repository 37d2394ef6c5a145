package io.radixflow.lab.bench.pipeline;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.Samples;
import java.io.PrintWriter;
import java.util.Locale;

/**
 * Compares the times to the first text from the engine alone with the times through the pipeline.
 */
record PipelineTable(FirstTexts bare, FirstTexts piped) {

  private double added(double share) {
    return piped.seconds().quantile(share) - bare.seconds().quantile(share);
  }

  private double addedOutside(double share) {
    return piped.outside().quantile(share) - bare.outside().quantile(share);
  }

  void print(PrintWriter out) {
    out.printf(
        Locale.ROOT,
        "%d requests; %.1f tokens of a prompt, %.1f of them cached, and %.1f and %.1f%n",
        piped.count(),
        bare.averagePromptTokens(),
        bare.averageCachedTokens(),
        piped.averagePromptTokens(),
        piped.averageCachedTokens());
    out.printf(
        "%-48s %14s %20s %9s %9s%n",
        "milliseconds, p50 and p99; averages of turns",
        "engine alone",
        "Kafka, Flink, Kafka",
        "mid fifth",
        "slowest");
    line(out, "to the first text", bare.seconds(), piped.seconds());
    out.println();
    for (Hop hop : Hop.values()) {
      if (piped.seconds(hop) != null) {
        line(out, "  until " + hop.title(), bare.seconds(hop), piped.seconds(hop));
        double middle = piped.averageSeconds(hop, 0.4, 0.6);
        double slowest = piped.averageSeconds(hop, 0.98, 1);
        out.printf(Locale.ROOT, " %9.2f %9.2f%n", middle * 1e3, slowest * 1e3);
      }
    }
    line(out, "outside the engine", bare.outside(), piped.outside());
    out.println();
    added(out, "added", added(0.5), added(0.99));
    added(out, "added outside the engine", addedOutside(0.5), addedOutside(0.99));
  }

  private static void added(PrintWriter out, String name, double median, double late) {
    out.printf(Locale.ROOT, "%s: %.1f at p50, %.1f at p99%n", name, median * 1e3, late * 1e3);
  }

  private static void line(PrintWriter out, String name, Samples alone, Samples through) {
    out.printf("%-48s %14s %20s", name, alone == null ? "" : times(alone), times(through));
  }

  private static String times(Samples seconds) {
    return String.format(
        Locale.ROOT, "%.2f %8.2f", seconds.median() * 1e3, seconds.quantile(0.99) * 1e3);
  }

  void putInto(ObjectNode json) {
    json.put("added_seconds_p50", added(0.5)).put("added_seconds_p99", added(0.99));
    json.put("added_outside_seconds_p50", addedOutside(0.5));
    json.put("added_outside_seconds_p99", addedOutside(0.99));
    put(json.putObject("engine_seconds"), bare);
    put(json.putObject("pipeline_seconds"), piped);
  }

  private static void put(ObjectNode json, FirstTexts texts) {
    put(json.putObject("first_text"), texts.seconds());
    for (Hop hop : Hop.values()) {
      if (texts.seconds(hop) != null) {
        put(json.putObject(hop.name().toLowerCase(Locale.ROOT)), texts.seconds(hop));
      }
    }
  }

  private static void put(ObjectNode json, Samples seconds) {
    seconds.putInto(json);
    json.put("p99", seconds.quantile(0.99));
  }
}
