package io.radixflow.lab.bench.pipeline;

import io.radixflow.cli.command.common.Samples;
import io.radixflow.protocol.record.Usage;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** The times to the first text of several turns, as a whole and from place to place. */
final class FirstTexts {
  private final List<Turn> turns = new ArrayList<>();

  /**
   * A turn that was timed.
   *
   * @param seconds to its first text
   * @param nanos when it got to each hop that it came through
   */
  record Turn(double seconds, TreeMap<Hop, Long> nanos, Usage usage) {

    /** Returns the seconds from the hop before; 0 where the turn did not come there. */
    private double seconds(Hop to) {
      Long before = nanos.lowerEntry(to) == null ? null : nanos.lowerEntry(to).getValue();
      Long at = nanos.get(to);
      return at == null || before == null ? 0 : (at - before) * 1e-9;
    }

    private boolean came(Hop to) {
      return nanos.containsKey(to) && nanos.firstKey() != to;
    }
  }

  void add(Turn turn) {
    turns.add(turn);
  }

  private Samples samples(ToDoubleFunction<Turn> value, Predicate<Turn> counts) {
    Samples samples = new Samples();
    turns.stream().filter(counts).mapToDouble(value).forEach(samples::add);
    return samples;
  }

  int count() {
    return turns.size();
  }

  Samples seconds() {
    return samples(Turn::seconds, turn -> true);
  }

  /**
   * Returns the seconds to the first text without those in the engine, which other load lengthens.
   */
  Samples outside() {
    return samples(turn -> turn.seconds() - turn.seconds(Hop.SIGNALLED), turn -> true);
  }

  /** Returns the seconds that turns took to a hop from the one before; null if none came there. */
  Samples seconds(Hop to) {
    return turns.stream().anyMatch(turn -> turn.came(to))
        ? samples(turn -> turn.seconds(to), turn -> turn.came(to))
        : null;
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
