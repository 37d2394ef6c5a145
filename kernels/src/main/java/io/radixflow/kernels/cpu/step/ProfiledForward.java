package io.radixflow.kernels.cpu.step;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.models.FeedForward;
import io.radixflow.models.ForwardOps;
import io.radixflow.models.StepBuffer;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Runs the operations of the forward pass and adds the time of each to a profile. */
final class ProfiledForward implements ForwardOps<CpuMatrix, Floats> {

  private final CpuForward forward;
  private final WorkerTeam team;
  private final StepProfile profile;
  private final Map<CpuMatrix, String> products = new IdentityHashMap<>();

  ProfiledForward(CpuForward forward, WorkerTeam team, StepProfile profile) {
    this.forward = forward;
    this.team = team;
    this.profile = profile;
  }

  StepProfile profile() {
    return profile;
  }

  private void time(String name, Runnable operation) {
    time(name, 0, 0, operation);
  }

  /** Measures an operation. The times of its parts are recorded separately. */
  private void time(String name, long multiplyAdds, long weightBytes, Runnable operation) {
    StepProfile.Phase[] before = forward.parts();
    long tasks = team.taskNanos();
    long start = System.nanoTime();
    operation.run();
    long nanos = System.nanoTime() - start;
    long taskNanos = team.taskNanos() - tasks;
    StepProfile.Phase[] after = forward.parts();
    for (int i = 0; i < after.length; i++) {
      StepProfile.Phase part = after[i].minus(before[i]);
      if (part.calls() > 0) {
        profile.add(part);
        nanos -= part.nanos();
        taskNanos -= part.taskNanos();
      }
    }
    profile.add(new StepProfile.Phase(name, 1, nanos, taskNanos, multiplyAdds, weightBytes));
  }

  private static String target(StepBuffer source, StepBuffer target) {
    if (target == StepBuffer.DELTA) {
      return source == StepBuffer.ATTENDED ? "attention output" : "down";
    }
    return target.name().toLowerCase(Locale.ROOT);
  }

  private static long weights(CpuMatrix matrix) {
    return (long) matrix.panels().rows() * matrix.panels().columns();
  }

  private String product(String target, CpuMatrix matrix) {
    return products.computeIfAbsent(
        matrix,
        m ->
            String.format(
                Locale.ROOT, "%s, %d x %d", target, m.panels().rows(), m.panels().columns()));
  }

  @Override
  public void embed(CpuMatrix table) {
    time("embedding", () -> forward.embed(table));
  }

  @Override
  public void norm(StepBuffer source, Floats gain, StepBuffer target) {
    time("norms", () -> forward.norm(source, gain, target));
  }

  @Override
  public void matmul(CpuMatrix matrix, StepBuffer source, StepBuffer target) {
    time(
        product(target(source, target), matrix),
        forward.rows() * weights(matrix),
        matrix.panels().bytes(),
        () -> forward.matmul(matrix, source, target));
  }

  @Override
  public void ropeAndStore(int layer, Floats queryNorm, Floats keyNorm) {
    time("rotation and storing", () -> forward.ropeAndStore(layer, queryNorm, keyNorm));
  }

  @Override
  public void ropeAndStoreLatent(int layer, Floats latentNorm) {
    time("rotation and storing", () -> forward.ropeAndStoreLatent(layer, latentNorm));
  }

  @Override
  public void compressQueries(int layer, List<CpuMatrix> keys) {
    long weights = keys.stream().mapToLong(ProfiledForward::weights).sum();
    time("latent queries", forward.rows() * weights, 0, () -> forward.compressQueries(layer, keys));
  }

  @Override
  public void attend(int layer, Floats sinks) {
    time("attention", () -> forward.attend(layer, sinks));
  }

  @Override
  public void expandValues(int layer, List<CpuMatrix> values) {
    long weights = values.stream().mapToLong(ProfiledForward::weights).sum();
    time("latent values", forward.rows() * weights, 0, () -> forward.expandValues(layer, values));
  }

  @Override
  public void gate(FeedForward.Dense shape) {
    time("gate", () -> forward.gate(shape));
  }

  @Override
  public void experts(int layer, ExpertWeights<CpuMatrix, Floats> weights, StepBuffer source) {
    time("experts", () -> forward.experts(layer, weights, source));
  }

  @Override
  public void addShared(boolean gated) {
    time("shared expert", () -> forward.addShared(gated));
  }

  @Override
  public void addResidual() {
    time("residual", forward::addResidual);
  }

  @Override
  public void outputs(Floats norm, CpuMatrix head) {
    if (forward.outputs() == 0) {
      return;
    }
    time(
        product("head", head),
        forward.outputs() * weights(head),
        head.panels().bytes(),
        () -> forward.outputs(norm, head));
  }
}
