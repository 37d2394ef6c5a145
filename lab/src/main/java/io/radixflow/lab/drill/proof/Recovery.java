package io.radixflow.lab.drill.proof;

import io.radixflow.cli.command.common.Samples;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * How long sessions waited after TaskManagers were killed while another had a free slot.
 *
 * @param owned milliseconds of recovery of sessions of the killed TaskManagers
 * @param survivors of the others
 * @param silence of the others, between two deltas
 * @param ownedPhases what the time of the first went to
 * @param survivorPhases what that of the others went to
 */
public record Recovery(
    Samples owned,
    Samples survivors,
    Samples silence,
    RecoveryPhases.Summary ownedPhases,
    RecoveryPhases.Summary survivorPhases) {

  /**
   * @param logs the directory of JobManagers' logs
   */
  public static Recovery of(RecoveryTimes times, List<Kill> kills, Path logs) throws IOException {
    RecoveryPhases phases = RecoveryPhases.read(logs, kills);
    return new Recovery(
        times.owned(),
        times.survivors(),
        times.survivorsSilence(),
        phases.owned(),
        phases.survivors());
  }
}
