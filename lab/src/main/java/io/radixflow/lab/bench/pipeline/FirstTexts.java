package io.radixflow.lab.bench.pipeline;

import io.radixflow.operators.record.Usage;
import io.radixflow.tools.cli.common.Samples;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The times to the first text of several turns, as a whole and from place to place. */
final class FirstTexts {
  private final Samples seconds = new Samples();
  private final Samples outside = new Samples();
  private final Map<Hop, Samples> hops = new EnumMap<>(Hop.class);
  private final List<Turn> turns = new ArrayList<>();

  /**
   * A turn that was timed.
   *
   * @param seconds to its first text
   * @param nanos when it got to each hop that it came through
   */
  record Turn(double seconds, Map<Hop, Long> nanos, Usage usage) {

    /** Returns the seconds from the hop before; 0 where the turn did not come there. */
    private double seconds(Hop to) {
      Long before = null;
      for (Map.Entry<Hop, Long> hop : nanos.entrySet()) {
        if (hop.getKey() == to && before != null) {
          return (hop.getValue() - before) * 1e-9;
        }
        before = hop.getValue();
      }
      return 0;
    }
  }

  void add(Turn turn) {
    seconds.add(turn.seconds());
    outside.add(turn.seconds() - turn.seconds(Hop.SIGNALLED));
    turns.add(turn);
    Long before = null;
    for (Map.Entry<Hop, Long> hop : turn.nanos().entrySet()) {
      if (before != null) {
        hops.computeIfAbsent(hop.getKey(), each -> new Samples())
            .add((hop.getValue() - before) * 1e-9);
      }
      before = hop.getValue();
    }
  }

  int count() {
    return seconds.count();
  }

  Samples seconds() {
    return seconds;
  }

  /**
   * Returns the seconds to the first text without those in the engine, which other load lengthens.
   */
  Samples outside() {
    return outside;
  }

  /** Returns the seconds that turns took to a hop from the one before; null if none came there. */
  Samples seconds(Hop to) {
    return hops.get(to);
  }

  /**
   * Returns what a hop took on average in the turns whose first text came neither before the one
   * quantile nor after the other: their hops, unlike medians, add up to the whole.
   */
  double averageSeconds(Hop to, double from, double until) {
    List<Turn> ordered = new ArrayList<>(turns);
    ordered.sort(Comparator.comparingDouble(Turn::seconds));
    int first = (int) (from * (ordered.size() - 1));
    int last = (int) Math.ceil(until * (ordered.size() - 1));
    return ordered.subList(first, last + 1).stream()
        .mapToDouble(turn -> turn.seconds(to))
        .average()
        .orElse(0);
  }

  double averagePromptTokens() {
    return turns.stream().mapToInt(turn -> turn.usage().promptTokens()).average().orElse(0);
  }

  double averageCachedTokens() {
    return turns.stream().mapToInt(turn -> turn.usage().cachedTokens()).average().orElse(0);
  }
}
