package io.radixflow.kernels.cpu.step;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Where the time of a CPU backend's steps goes, operation by operation; see {@link
 * io.radixflow.kernels.cpu.CpuBackend#profile}. Written by the dispatcher; read it when no step
 * runs.
 */
public final class StepProfile {

  /**
   * All operations of one kind.
   *
   * @param name the operation, products with their target and their shape
   * @param calls how often it ran
   * @param nanos elapsed time
   * @param taskNanos time of all workers in tasks; 0 if the dispatcher did all
   * @param multiplyAdds of products with weights; 0 of other operations
   * @param weightBytes bytes of weights that were read, each once a call; 0 if not known
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

  /** How many steps ran. */
  public long steps() {
    return steps;
  }

  /** Elapsed time of the steps on the dispatcher, from the batch to its tokens. */
  public long nanos() {
    return nanos;
  }
}
