package io.radixflow.jobs.drill;

import java.util.List;
import java.util.Map;

/**
 * What a drill found.
 *
 * @param faults how many of each kind
 * @param verdict what the topics prove
 * @param deadLetters records that the job could not read: none was sent
 * @param pageBreaches times that page accounting was wrong on a TaskManager
 * @param reloads engines that were opened anew for a job by a TaskManager that had it open, while
 *     other processes died
 * @param leaked processes that outlived the cluster
 * @param owned times of recovery of sessions of killed TaskManagers
 * @param survivors of the others
 * @param silence of the others, between two deltas
 * @param seconds that the faults took, all together
 */
public record DrillResult(
    Map<Fault, Integer> faults,
    Verdict verdict,
    int deadLetters,
    int pageBreaches,
    int reloads,
    List<String> leaked,
    RecoveryTimes.Times owned,
    RecoveryTimes.Times survivors,
    RecoveryTimes.Times silence,
    long seconds) {

  /** Whether nothing is wrong. */
  public boolean holds() {
    return verdict.holds() && deadLetters + pageBreaches + reloads == 0 && leaked.isEmpty();
  }
}
