package io.radixflow.lab.drill;

import io.radixflow.engine.model.ModelLoader;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Options of a drill.
 *
 * @param model a located model: a path, or the simulated model's name with its options
 * @param calmModel the same model for the undisturbed run, without delays and without deadly tokens
 * @param sessions conversations at the same time
 * @param turns events of a session after its opening
 * @param maxTokens most tokens of a reply
 * @param seed seed of conversations and faults
 * @param tiered whether pages also go to host memory, disks and a folder
 * @param jobOptions further options of the job, {@code key=value}; the drill's own options win
 * @param directory directory of logs and state; empty to keep nothing
 */
public record DrillOptions(
    String model,
    String calmModel,
    int sessions,
    int turns,
    int maxTokens,
    long seed,
    boolean tiered,
    List<String> jobOptions,
    Optional<Path> directory) {

  private static final int SIM_REPLY = 150;
  private static final Set<Fault> TIER_FAULTS =
      EnumSet.of(Fault.TIERS_SWITCHED, Fault.PAGES_DAMAGED);

  /** Options with a simulated model, whose replies take three to twelve seconds. */
  public static DrillOptions simulated(long seed, Optional<Path> directory) {
    String model = ModelLoader.SIM + ":calls=1,reply=" + SIM_REPLY;
    String deadly = ",deadly=" + (int) DeadlyTurns.MARK;
    return new DrillOptions(
        model + ",step=30" + deadly, model, 16, 6, 400, seed, false, List.of(), directory);
  }

  /** Options with a few conversations of a real model. */
  public static DrillOptions real(String model, long seed, Optional<Path> directory) {
    return new DrillOptions(model, model, 4, 4, 96, seed, false, List.of(), directory);
  }

  /** Returns these options with or without tiers, and with options of the job. */
  public DrillOptions with(boolean wantsTiers, List<String> ofTheJob) {
    return new DrillOptions(
        model, calmModel, sessions, turns, maxTokens, seed, wantsTiers, ofTheJob, directory);
  }

  /**
   * Returns the faults that apply: only a simulated model can end its process on request, and only
   * tiers can be switched and damaged.
   */
  public List<Fault> faults() {
    return Arrays.stream(Fault.values())
        .filter(fault -> isSimulated() || fault != Fault.DEADLY_TURN)
        .filter(fault -> tiered || !TIER_FAULTS.contains(fault))
        .toList();
  }

  /** Returns the tiers for this kind of model; used only if {@link #tiered}. */
  DrillTiers tiers() {
    return isSimulated() ? DrillTiers.SIMULATED : DrillTiers.REAL;
  }

  boolean isSimulated() {
    return ModelLoader.isSimulated(model);
  }
}
