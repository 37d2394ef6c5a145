package io.radixflow.lab.drill;

import io.radixflow.lab.drill.RecoveryPhases.Phases;
import io.radixflow.lab.drill.RecoveryPhases.Summary;
import io.radixflow.lab.drill.RecoveryTimes.Times;

/** Formats a drill's result as text. */
final class DrillTable {
  private DrillTable() {}

  static String of(DrillResult result) {
    StringBuilder text = new StringBuilder();
    line(text, "faults in %d s", result.seconds());
    for (Fault fault : Fault.values()) {
      Integer times = result.faults().get(fault);
      if (times != null) {
        line(text, "  %5d  %s", times, fault.text());
      }
    }
    Verdict verdict = result.verdict();
    line(text, "turns");
    line(text, "  %5d  accepted", verdict.sent() - verdict.rejected());
    line(text, "  %5d  replied", verdict.replied());
    line(text, "  %5d  rejected", verdict.rejected());
    line(text, "  %5d  cancelled, %d of them in time", verdict.cancels(), verdict.cancelled());
    line(text, "  %5d  lost", verdict.lost());
    line(text, "  %5d  doubled", verdict.doubled());
    line(text, "  %5d  changed", verdict.changed());
    line(text, "  %5d  out of order", verdict.disordered());
    line(text, "  %5d  with deltas that do not join", verdict.brokenDeltas());
    line(
        text,
        "%d processes ended by deadly turns, of %d at most",
        result.deaths(),
        result.mostDeaths());
    line(
        text,
        "%d processes ended by themselves, taken for dead before and fenced off",
        result.fallen());
    line(text, "other breaches");
    line(text, "  %5d  dead letters wrong or missing", result.deadLetters());
    line(text, "  %5d  repairs of page accounting", result.pageBreaches());
    line(text, "  %5d  engines opened again beside a failure", result.reloads());
    line(text, "  %5d  processes left over", result.leaked().size());
    line(text, "  %5d  erasures of pages that do not end", result.erased() ? 0 : 1);
    result.tokens().ifPresent(tokens -> tokens(text, tokens));
    line(text, "from kill -9 of a TaskManager to the next delta of a running turn");
    Recovery recovery = result.recovery();
    times(text, "of its own sessions", recovery.owned());
    times(text, "of the survivors'", recovery.survivors());
    times(text, "survivors' silence between two deltas", recovery.silence());
    line(text, "what that time went to, from the kill");
    phases(text, "its own subtasks, elsewhere", recovery.ownedPhases());
    phases(text, "the survivors'", recovery.survivorPhases());
    verdict.findings().forEach(finding -> line(text, "WRONG %s", finding));
    line(text, result.holds() ? "nothing was lost" : "NOT as it must be");
    return text.toString();
  }

  private static void tokens(StringBuilder text, TokensByTier tokens) {
    line(text, "tokens of prompts by tier");
    line(text, "  %7d  computed", tokens.computed());
    line(text, "  %7d  on the device", tokens.device());
    line(text, "  %7d  from host memory", tokens.host());
    line(text, "  %7d  from disk", tokens.disk());
    line(text, "  %7d  from the remote folder", tokens.remote());
    line(
        text,
        "  %7d  of these from disk and folder, by who took over after kill -9 of a TaskManager",
        tokens.afterKills());
  }

  private static void times(StringBuilder text, String what, Times times) {
    if (times.count() > 0) {
      line(
          text,
          "  median %.1f s, worst %.1f s, %d turns: %s",
          times.median() / 1e3,
          times.worst() / 1e3,
          times.count(),
          what);
    }
  }

  private static void phases(StringBuilder text, String what, Summary summary) {
    if (summary.count() > 0) {
      phases(text, what + ", medians", summary.medians());
      phases(text, what + ", the slowest", summary.slowest());
    }
  }

  private static void phases(StringBuilder text, String what, Phases phases) {
    line(
        text,
        "  noticed %.1f s, deployed %.1f s, taken up %.1f s, running %.1f s, connected %.1f s: %s",
        phases.noticed() / 1e3,
        phases.deployed() / 1e3,
        phases.initializing() / 1e3,
        phases.running() / 1e3,
        phases.connected() / 1e3,
        what);
  }

  private static void line(StringBuilder text, String format, Object... values) {
    text.append(format.formatted(values)).append('\n');
  }
}
