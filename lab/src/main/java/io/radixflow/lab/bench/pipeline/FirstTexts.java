package io.radixflow.lab.bench.pipeline;

import io.radixflow.operators.record.Usage;
import io.radixflow.tools.cli.common.Samples;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The times to the first text of several turns, as a whole and from place to place. */
final class FirstTexts {
  private final Samples seconds = new Samples();
  private final Map<Hop, Samples> hops = new EnumMap<>(Hop.class);
  private final List<Usage> usages = new ArrayList<>();

  /**
   * A turn that was timed.
   *
   * @param seconds to its first text
   * @param nanos when it got to each hop that it came through
   */
  record Turn(double seconds, Map<Hop, Long> nanos, Usage usage) {}

  void add(Turn turn) {
    seconds.add(turn.seconds());
    usages.add(turn.usage());
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

  /** Returns the seconds that turns took to a hop from the one before; null if none came there. */
  Samples seconds(Hop to) {
    return hops.get(to);
  }

  double averagePromptTokens() {
    return usages.stream().mapToInt(Usage::promptTokens).average().orElse(0);
  }

  double averageCachedTokens() {
    return usages.stream().mapToInt(Usage::cachedTokens).average().orElse(0);
  }
}
