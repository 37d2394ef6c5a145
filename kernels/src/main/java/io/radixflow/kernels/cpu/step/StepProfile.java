package io.radixflow.kernels.cpu.step;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The times of a CPU backend's steps, by operation; see {@link
 * io.radixflow.kernels.cpu.CpuBackend#profile}. The dispatcher writes it. Read it only while no
 * step runs.
 */
public final class StepProfile {

  /**
   * All operations of one kind.
   *
   * @param name name of the operation; for products also the target and the shape
   * @param calls how often it ran
   * @param nanos elapsed time
   * @param taskNanos total time of all workers in tasks; 0 if only the dispatcher worked
   * @param multiplyAdds number of multiply-adds with weights; 0 for other operations
   * @param weightBytes bytes of weights that were read, once per call; 0 if unknown
   */
  public record Phase(
      String name, long calls, long nanos, long taskNanos, long multiplyAdds, long weightBytes) {

    Phase minus(Phase less) {
      return new Phase(
          name,
          calls - less.calls,
          nanos - less.nanos,
          taskNanos - less.taskNanos,
          multiplyAdds - less.multiplyAdds,
          weightBytes - less.weightBytes);
    }

    private Phase plus(Phase more) {
      return new Phase(
          name,
          calls + more.calls,
          nanos + more.nanos,
          taskNanos + more.taskNanos,
          multiplyAdds + more.multiplyAdds,
          weightBytes + more.weightBytes);
    }
  }

  private final Map<String, Phase> phases = new LinkedHashMap<>();
  private long steps;
  private long nanos;

  void add(Phase phase) {
    phases.merge(phase.name, phase, Phase::plus);
  }

  void addStep(long nanos) {
    steps++;
    this.nanos += nanos;
  }

  /** The operations, in the order in which they first ran. */
  public List<Phase> phases() {
    return new ArrayList<>(phases.values());
  }

  /** Number of steps. */
  public long steps() {
    return steps;
  }

  /** Elapsed time of the steps on the dispatcher, from the batch to the tokens. */
  public long nanos() {
    return nanos;
  }
}
