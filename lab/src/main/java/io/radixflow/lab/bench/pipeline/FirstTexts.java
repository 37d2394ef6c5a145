package io.radixflow.lab.bench.pipeline;

import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.bench.Figures;
import io.radixflow.protocol.record.Usage;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;

/** The times to the first text of several turns, in total and from hop to hop. */
final class FirstTexts {
  private final List<Turn> turns = new ArrayList<>();

  /**
   * The times of a turn.
   *
   * @param seconds seconds to its first text
   * @param nanos time of each hop that the turn passed
   */
  record Turn(double seconds, TreeMap<Hop, Long> nanos, Usage usage) {

    /** Returns the seconds from the previous hop; 0 if the turn did not pass this hop. */
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

  Samples seconds() {
    return samples(Turn::seconds, turn -> true);
  }

  /** Returns the seconds to the first text, except the time in the engine. */
  Samples outside() {
    return samples(turn -> turn.seconds() - turn.seconds(Hop.SIGNALLED), turn -> true);
  }

  /** Adds the times to the first text, in total and from hop to hop. */
  void addTo(Figures figures) {
    figures.add("to the first text", "first_text", seconds(), 1e3);
    for (Hop hop : Hop.values()) {
      figures.add(
          "  until " + hop.title(),
          hop.name().toLowerCase(Locale.ROOT),
          samples(turn -> turn.seconds(hop), turn -> turn.came(hop)),
          1e3);
    }
    figures.add("outside the engine", "outside", outside(), 1e3);
    Samples prompt = samples(turn -> turn.usage().promptTokens(), turn -> true);
    Samples cached = samples(turn -> turn.usage().cachedTokens(), turn -> true);
    figures.add("tokens of a prompt", "prompt_tokens", prompt, 1);
    figures.add("tokens of it that were cached", "cached_tokens", cached, 1);
  }
}
