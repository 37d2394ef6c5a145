package io.radixflow.jobs.cli;

import io.radixflow.jobs.drill.DrillResult;
import io.radixflow.jobs.drill.Fault;
import io.radixflow.jobs.drill.RecoveryTimes.Times;
import io.radixflow.jobs.drill.Verdict;

/** A drill's result for people. */
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
    line(text, "  %5d  lost", verdict.lost());
    line(text, "  %5d  doubled", verdict.doubled());
    line(text, "  %5d  changed", verdict.changed());
    line(text, "  %5d  out of order", verdict.disordered());
    line(text, "  %5d  with deltas that do not join", verdict.brokenDeltas());
    line(text, "other breaches");
    line(text, "  %5d  dead letters", result.deadLetters());
    line(text, "  %5d  repairs of page accounting", result.pageBreaches());
    line(text, "  %5d  engines opened again beside a failure", result.reloads());
    line(text, "  %5d  processes left over", result.leaked().size());
    line(text, "from kill -9 of a TaskManager to the next delta of a turn under way");
    times(text, "of its own sessions", result.owned());
    times(text, "of the survivors'", result.survivors());
    times(text, "survivors' silence between two deltas", result.silence());
    verdict.findings().forEach(finding -> line(text, "WRONG %s", finding));
    line(text, result.holds() ? "nothing was lost" : "NOT as it must be");
    return text.toString();
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

  private static void line(StringBuilder text, String format, Object... values) {
    text.append(format.formatted(values)).append('\n');
  }
}
