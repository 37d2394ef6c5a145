package io.radixflow.lab.drill;

import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.drill.proof.HttpVerifier;
import io.radixflow.lab.drill.proof.RecoveryTimes;
import io.radixflow.lab.drill.proof.TierTally;
import io.radixflow.lab.drill.proof.Verifier;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The result of a drill.
 *
 * @param faults number of faults of each kind
 * @param http verdict about the HTTP clients
 * @param verdict verdict about the topics
 * @param deadLetters dead letters that are wrong or missing; each deadly turn has one
 * @param deaths processes that deadly turns ended
 * @param mostDeaths the most processes that they may end
 * @param pageBreaches times that page accounting was wrong on a TaskManager
 * @param reloads engines that a surviving TaskManager opened again although they were open
 * @param fallen TaskManagers that ended by themselves, as they may after the cluster gave them up
 * @param leaked processes that outlived the cluster
 * @param recovery waiting times of sessions after kills
 * @param tokens tiers that the prompts' tokens came from; empty without tiers below the device
 * @param erased whether all engines have erased the pages of closed and erased sessions by the end
 * @param seconds total time of the faults
 */
public record DrillResult(
    Map<Fault, Integer> faults,
    HttpVerifier.Verdict http,
    Verifier.Verdict verdict,
    int deadLetters,
    int deaths,
    int mostDeaths,
    int pageBreaches,
    int reloads,
    int fallen,
    List<String> leaked,
    RecoveryTimes.Waits recovery,
    Optional<TierTally.Tokens> tokens,
    boolean erased,
    long seconds) {

  /**
   * Returns true if nothing is wrong and the tiers, if there are any, provided pages. They need not
   * have provided pages after a kill, because a session's pages may not have been written yet or
   * may have been evicted.
   */
  public boolean holds() {
    return verdict.holds()
        && http.holds()
        && deadLetters + pageBreaches + reloads == 0
        && leaked.isEmpty()
        && deaths <= mostDeaths
        && erased
        && tokens.map(of -> of.below() > 0).orElse(true);
  }

  String table() {
    StringBuilder text = new StringBuilder();
    line(text, "faults in %d s", seconds);
    for (Fault fault : Fault.values()) {
      Integer times = faults.get(fault);
      if (times != null) {
        line(text, "  %5d  %s", times, fault.text());
      }
    }
    http(text);
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
    line(text, "  %5d  with content that matches a schema", verdict.contents());
    line(text, "  %5d  tool calls with arguments that match their schema", verdict.calls());
    line(text, "%d processes ended by deadly turns, of %d at most", deaths, mostDeaths);
    line(
        text,
        "%d processes ended by themselves after the cluster had given them up and fenced "
            + "them off",
        fallen);
    line(text, "other breaches");
    line(text, "  %5d  dead letters wrong or missing", deadLetters);
    line(text, "  %5d  repairs of page accounting", pageBreaches);
    line(text, "  %5d  engines opened again although they were open", reloads);
    line(text, "  %5d  processes left over", leaked.size());
    line(text, "  %5d  erasures of pages that did not end", erased ? 0 : 1);
    tokens.ifPresent(counts -> tokens(text, counts));
    if (recovery.owned().count() + recovery.survivors().count() > 0) {
      line(text, "from kill -9 of a TaskManager to the next delta of a running turn");
      times(text, "of its own sessions", recovery.owned());
      times(text, "of the survivors'", recovery.survivors());
      times(text, "survivors' silence between two deltas", recovery.silence());
    }
    http.findings().forEach(finding -> line(text, "WRONG %s", finding));
    verdict.findings().forEach(finding -> line(text, "WRONG %s", finding));
    line(text, holds() ? "nothing was lost" : "NOT as expected");
    return text.toString();
  }

  private void http(StringBuilder text) {
    line(text, "turns as HTTP clients saw them");
    line(text, "  %5d  asked for", http.turns());
    line(text, "  %5d  resumed after their connection broke", http.resumed());
    line(text, "  %5d  lost", http.lost());
    line(text, "  %5d  doubled", http.doubled());
    line(text, "  %5d  changed", http.changed());
    times(text, "from a break to the next event", http.waits());
  }

  private static void tokens(StringBuilder text, TierTally.Tokens tokens) {
    line(text, "tokens of prompts by tier");
    line(text, "  %7d  computed", tokens.computed());
    line(text, "  %7d  on the device", tokens.device());
    line(text, "  %7d  from host memory", tokens.host());
    line(text, "  %7d  from disk", tokens.disk());
    line(text, "  %7d  from the remote folder", tokens.remote());
    line(
        text,
        "  %7d  of these from disk and folder, by processes that took over after kill -9",
        tokens.afterKills());
  }

  private static void times(StringBuilder text, String what, Samples times) {
    if (times.count() > 0) {
      line(
          text,
          "  median %.1f s, worst %.1f s, %d times: %s",
          times.median() / 1e3,
          times.max() / 1e3,
          times.count(),
          what);
    }
  }

  private static void line(StringBuilder text, String format, Object... values) {
    text.append(format.formatted(values)).append('\n');
  }
}
