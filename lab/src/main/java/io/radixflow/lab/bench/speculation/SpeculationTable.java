package io.radixflow.lab.bench.speculation;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.Samples;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** The figures of replies, by the kind of their prompts. */
final class SpeculationTable {
  private final List<TimedReply> replies;
  private final Map<String, List<TimedReply>> kinds;

  SpeculationTable(List<TimedReply> replies) {
    this.replies = replies;
    kinds =
        replies.stream()
            .collect(
                Collectors.groupingBy(TimedReply::kind, LinkedHashMap::new, Collectors.toList()));
  }

  void print(PrintWriter out) {
    out.printf(
        "%-10s %9s %9s %7s %15s %9s %9s%n",
        "median", "off tok/s", "on tok/s", "gain", "least to most", "by drafts", "right");
    kinds.forEach((kind, each) -> print(out, kind, each));
  }

  private static void print(PrintWriter out, String kind, List<TimedReply> replies) {
    Samples off = new Samples();
    Samples on = new Samples();
    Samples gain = new Samples();
    long tokens = 0;
    long drafted = 0;
    long accepted = 0;
    for (TimedReply reply : replies) {
      off.add(reply.offSpeed());
      on.add(reply.onSpeed());
      gain.add(reply.onSpeed() / reply.offSpeed());
      tokens += reply.tokens();
      drafted += reply.drafted();
      accepted += reply.accepted();
    }
    out.printf(
        Locale.ROOT,
        "%-10s %9.1f %9.1f %6.2fx %6.2fx to %4.2fx %8.0f%% %8.0f%%%n",
        kind,
        off.median(),
        on.median(),
        gain.median(),
        gain.min(),
        gain.max(),
        100.0 * accepted / tokens,
        drafted == 0 ? 0 : 100.0 * accepted / drafted);
  }

  /** Adds each reply to the array {@code replies}. */
  void putInto(ObjectNode json) {
    for (TimedReply reply : replies) {
      json.withArray("replies")
          .addObject()
          .put("kind", reply.kind())
          .put("tokens", reply.tokens())
          .put("off_seconds", reply.offSeconds())
          .put("on_seconds", reply.onSeconds())
          .put("drafted", reply.drafted())
          .put("accepted", reply.accepted());
    }
  }
}
