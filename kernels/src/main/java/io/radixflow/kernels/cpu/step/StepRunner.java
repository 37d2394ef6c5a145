package io.radixflow.kernels.cpu.step;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.kernels.device.HostStepTicket;
import io.radixflow.models.ForwardGraph;
import io.radixflow.models.ModelConfig;

/**
 * Runs steps, one at a time and on one thread: the dispatcher's thread, which is worker 0 of the
 * team.
 */
public final class StepRunner {

  /** The largest number of rows per step. */
  public static final int MAX_ROWS = 512;

  private final WorkerTeam team;
  private final StepRows rows;
  private final ForwardGraph<CpuMatrix, Floats> graph;
  private final CpuForward forward;
  private volatile ProfiledForward profiled;

  /**
   * @param fast native code for products of codes, or null to use only Java
   * @param integers whether codes are multiplied with integer activations, instead of floats
   */
  public StepRunner(
      ModelConfig config,
      ForwardGraph<CpuMatrix, Floats> graph,
      WorkerTeam team,
      Kernels kernels,
      NativeKernels fast,
      boolean integers) {
    this.team = team;
    this.graph = graph;
    rows = new StepRows(config.vocabSize(), config.contextLength(), AttentionRegion.room(config));
    forward = new CpuForward(config, team, kernels, fast, integers, rows);
  }

  /**
   * Computes a step, including its tokens.
   *
   * @throws IllegalArgumentException if a token, position or page is out of range
   */
  public void run(HostStepTicket ticket, CpuKvPool pool) {
    ProfiledForward profiled = this.profiled;
    long start = profiled == null ? 0 : System.nanoTime();
    try {
      rows.take(ticket.batch(), pool.pages());
      forward.begin(pool, ticket);
      graph.run(profiled == null ? forward : profiled);
    } finally {
      rows.clear();
    }
    ticket.acceptTokens();
    if (profiled != null) {
      profiled.profile().addStep(System.nanoTime() - start);
    }
  }

  /** See {@link io.radixflow.kernels.cpu.CpuBackend#profile}. */
  public void profile(StepProfile profile) {
    team.measure(profile != null);
    profiled = profile == null ? null : new ProfiledForward(forward, team, profile);
  }
}
