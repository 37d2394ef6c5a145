package io.radixflow.lab.bench.tiers;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.Samples;
import java.io.PrintWriter;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** Collects times to the first token by the tier of the pages, and compares them. */
final class TierTimes {
  private static final Map<PagePlace, Double> AIMS =
      Map.of(PagePlace.HOST, 20.0, PagePlace.DISK, 8.0);
  private static final double RESTART_AIM = 1.2;

  private final Map<PagePlace, Samples> seconds = new EnumMap<>(PagePlace.class);
  private final Samples opening = new Samples();

  TierTimes() {
    for (PagePlace place : PagePlace.values()) {
      seconds.put(place, new Samples());
    }
  }

  void add(PagePlace place, double time) {
    seconds.get(place).add(time);
  }

  /** Adds the time that opening an engine after a crash took. */
  void addOpening(double time) {
    opening.add(time);
  }

  private double speedup(PagePlace place) {
    return seconds.get(PagePlace.GONE).median() / seconds.get(place).median();
  }

  private double restartToDisk() {
    return seconds.get(PagePlace.RESTART).median() / seconds.get(PagePlace.DISK).median();
  }

  void print(PrintWriter out) {
    String head = "%-26s %9s %9s %9s %9s %8s %6s%n";
    out.printf(head, "first token, ms; pages", "p50", "min", "max", "samples", "faster", "aim");
    seconds.forEach(
        (place, samples) ->
            out.printf(
                Locale.ROOT,
                "%-26s %9.1f %9.1f %9.1f %9d %7.1fx %6s%n",
                place.text(),
                samples.median() * 1e3,
                samples.min() * 1e3,
                samples.max() * 1e3,
                samples.count(),
                speedup(place),
                AIMS.containsKey(place) ? "%.0fx".formatted(AIMS.get(place)) : ""));
    out.printf(
        Locale.ROOT,
        "after a crash against before: %.2f times as long (aim: %.1f); opening the engine took"
            + " %.2f s%n",
        restartToDisk(),
        RESTART_AIM,
        opening.median());
  }

  ObjectNode json() {
    ObjectNode json = JsonLineOutput.object();
    ObjectNode times = json.putObject("seconds");
    ObjectNode ratios = json.putObject("times_faster_than_recomputing");
    seconds.forEach(
        (place, samples) -> {
          String name = place.name().toLowerCase(Locale.ROOT);
          samples.putInto(times.putObject(name));
          ratios.put(name, speedup(place));
        });
    opening.putInto(json.putObject("opening_seconds"));
    json.put("restart_to_disk", restartToDisk());
    return json;
  }
}
