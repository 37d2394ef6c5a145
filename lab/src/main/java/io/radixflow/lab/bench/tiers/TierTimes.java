package io.radixflow.lab.bench.tiers;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.bench.Figures;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** Collects times to the first token by the tier of the pages, and compares them. */
final class TierTimes {
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

  /** Adds the time of opening an engine after a crash. */
  void addOpening(double time) {
    opening.add(time);
  }

  private double times(PagePlace slower, PagePlace faster) {
    return seconds.get(slower).median() / seconds.get(faster).median();
  }

  void addTo(Figures figures) {
    ObjectNode ratios = figures.json().putObject("times_faster_than_recomputing");
    Figures table = figures.section("seconds", "first token, ms; pages");
    seconds.forEach(
        (place, samples) -> {
          String name = place.name().toLowerCase(Locale.ROOT);
          double ratio = times(PagePlace.GONE, place);
          ratios.put(name, ratio);
          table.add("%s, %.1fx faster".formatted(place.text(), ratio), name, samples, 1e3);
        });
    figures.add("opening the engine after the crash", "opening_seconds", opening, 1e3);
    double restart = times(PagePlace.RESTART, PagePlace.DISK);
    figures.json().put("restart_to_disk", restart);
    figures.note("after a crash against before: %.2f times as long", restart);
  }
}
