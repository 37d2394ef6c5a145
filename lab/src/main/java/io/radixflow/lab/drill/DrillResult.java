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
 * @param faults how many of each kind
 * @param http what HTTP clients heard
 * @param verdict what the topics prove
 * @param deadLetters records that should not be there, or are missing: each turn that ends
 *     processes has one
 * @param deaths processes that such turns ended
 * @param mostDeaths how many they may end
 * @param pageBreaches times that page accounting was wrong on a TaskManager
 * @param reloads engines that a surviving TaskManager opened again although it had them open
 * @param fallen TaskManagers that ended by themselves, as they may once they were taken for dead
 * @param leaked processes that outlived the cluster
 * @param recovery how long sessions waited after kills
 * @param tokens where prompts' tokens came from; empty without tiers below the device
 * @param erased whether all engines have in the end erased what closed and erased sessions had
 * @param seconds that the faults took, all together
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
   * Returns true if nothing is wrong and tiers, if there are any, served pages. They need not have
   * served any after a kill: a session's pages may not have been written yet, or been evicted.
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
    line(text, "  %5d  with content that meets a schema", verdict.contents());
    line(text, "  %5d  calls of tools with arguments that meet theirs", verdict.calls());
    line(text, "%d processes ended by deadly turns, of %d at most", deaths, mostDeaths);
    line(text, "%d processes ended by themselves, taken for dead before and fenced off", fallen);
    line(text, "other breaches");
    line(text, "  %5d  dead letters wrong or missing", deadLetters);
    line(text, "  %5d  repairs of page accounting", pageBreaches);
    line(text, "  %5d  engines opened again although they were open", reloads);
    line(text, "  %5d  processes left over", leaked.size());
    line(text, "  %5d  erasures of pages that do not end", erased ? 0 : 1);
    tokens.ifPresent(counts -> tokens(text, counts));
    if (recovery.owned().count() + recovery.survivors().count() > 0) {
      line(text, "from kill -9 of a TaskManager to the next delta of a running turn");
      times(text, "of its own sessions", recovery.owned());
      times(text, "of the survivors'", recovery.survivors());
      times(text, "survivors' silence between two deltas", recovery.silence());
    }
    http.findings().forEach(finding -> line(text, "WRONG %s", finding));
    verdict.findings().forEach(finding -> line(text, "WRONG %s", finding));
    line(text, holds() ? "nothing was lost" : "NOT as it must be");
    return text.toString();
  }

  private void http(StringBuilder text) {
    line(text, "turns as HTTP clients heard them");
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
        "  %7d  of these from disk and folder, by who took over after kill -9 of a TaskManager",
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
