package io.radixflow.lab.drill;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What a drill found.
 *
 * @param faults how many of each kind
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
    Verdict verdict,
    int deadLetters,
    int deaths,
    int mostDeaths,
    int pageBreaches,
    int reloads,
    int fallen,
    List<String> leaked,
    Recovery recovery,
    Optional<TokensByTier> tokens,
    boolean erased,
    long seconds) {

  /**
   * Returns true if nothing is wrong and tiers, if there are any, served pages. They need not have
   * served any after a kill: a session's pages may not have been written yet, or been evicted.
   */
  public boolean holds() {
    return verdict.holds()
        && deadLetters + pageBreaches + reloads == 0
        && leaked.isEmpty()
        && deaths <= mostDeaths
        && erased
        && tokens.map(of -> of.below() > 0).orElse(true);
  }
}
