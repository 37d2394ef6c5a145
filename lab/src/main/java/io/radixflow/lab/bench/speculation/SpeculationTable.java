package io.radixflow.lab.bench.speculation;

import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.bench.Figures;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Sums the figures of replies by the kind of their prompts. */
final class SpeculationTable {
  private SpeculationTable() {}

  /**
   * A reply that was generated without speculation and with it.
   *
   * @param kind kind of its prompt
   * @param tokens number of tokens after the first
   * @param offSeconds seconds from the first token to the end without speculation
   * @param onSeconds the same with speculation
   * @param drafted drafts that were verified
   * @param accepted drafts that were right
   */
  record TimedReply(
      String kind, int tokens, double offSeconds, double onSeconds, long drafted, long accepted) {}

  static void add(List<TimedReply> replies, Figures figures) {
    figures.note(
        "%-10s %9s %9s %7s %15s %9s %9s",
        "median", "off tok/s", "on tok/s", "gain", "least to most", "by drafts", "right");
    Map<String, List<TimedReply>> kinds =
        replies.stream()
            .collect(
                Collectors.groupingBy(TimedReply::kind, LinkedHashMap::new, Collectors.toList()));
    kinds.forEach((kind, each) -> addKind(figures, kind, each));
    for (TimedReply reply : replies) {
      figures
          .json()
          .withArray("replies")
          .addObject()
          .put("kind", reply.kind)
          .put("tokens", reply.tokens)
          .put("off_seconds", reply.offSeconds)
          .put("on_seconds", reply.onSeconds)
          .put("drafted", reply.drafted)
          .put("accepted", reply.accepted);
    }
  }

  private static void addKind(Figures figures, String kind, List<TimedReply> replies) {
    Samples off = new Samples();
    Samples on = new Samples();
    Samples gain = new Samples();
    for (TimedReply reply : replies) {
      off.add(reply.tokens / reply.offSeconds);
      on.add(reply.tokens / reply.onSeconds);
      gain.add(reply.offSeconds / reply.onSeconds);
    }
    double tokens = replies.stream().mapToLong(TimedReply::tokens).sum();
    double accepted = replies.stream().mapToLong(TimedReply::accepted).sum();
    double drafted = replies.stream().mapToLong(TimedReply::drafted).sum();
    figures.note(
        "%-10s %9.1f %9.1f %6.2fx %6.2fx to %4.2fx %8.0f%% %8.0f%%",
        kind,
        off.median(),
        on.median(),
        gain.median(),
        gain.min(),
        gain.max(),
        100 * accepted / tokens,
        100 * accepted / Math.max(1, drafted));
  }
}
