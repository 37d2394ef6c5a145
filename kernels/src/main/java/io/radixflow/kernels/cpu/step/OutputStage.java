package io.radixflow.kernels.cpu.step;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.HostStepTicket;
import io.radixflow.kernels.sampling.Sampler;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.models.ModelConfig;

/**
 * Computes the logits of up to {@link #ROWS} outputs at a time and samples their tokens. Owned by
 * the dispatcher. Buffers are reused; each worker has one sampler.
 */
final class OutputStage implements WorkerTeam.Region {

  /** Outputs per run. This limits the memory for logits. */
  static final int ROWS = 16;

  private final WorkerTeam team;
  private final Kernels kernels;
  private final ModelConfig.Scales scales;
  private final MatmulRegion matmul;
  private final PartTimes parts;
  private final Sampler[] samplers;
  private final int vocabSize;
  private final int stride;
  private Floats logits = Floats.NONE;
  private final float[][] drawn;
  private HostStepTicket ticket;
  private int first;

  OutputStage(
      ModelConfig config, WorkerTeam team, Kernels kernels, MatmulRegion matmul, PartTimes parts) {
    this.parts = parts;
    this.team = team;
    this.kernels = kernels;
    scales = config.scales();
    this.matmul = matmul;
    vocabSize = config.vocabSize();
    stride = (vocabSize + PANEL - 1) / PANEL * PANEL;
    samplers = new Sampler[team.size()];
    for (int i = 0; i < samplers.length; i++) {
      samplers[i] = new Sampler(vocabSize);
    }
    drawn = new float[team.size()][vocabSize];
  }

  /** Computes outputs {@code first} to {@code first + count - 1} of the ticket. */
  void run(
      HostStepTicket ticket,
      int first,
      int count,
      CpuMatrix head,
      Floats normed,
      int normedStride) {
    this.ticket = ticket;
    this.first = first;
    int rows = count == 1 ? 1 : count + MatmulRegion.SPARE_ROWS;
    logits = team.memory().grown(logits, rows * stride);
    matmul.multiply(head, normed, normedStride, logits, stride, count);
    parts.begin();
    team.run(count, this);
    parts.end(PartTimes.Part.DRAWS);
  }

  private void scale(int at) {
    if (scales.logits() != 1) {
      for (int i = at; i < at + vocabSize; i++) {
        logits.set(i, logits.get(i) * scales.logits());
      }
    }
    if (scales.logitCap() > 0) {
      kernels.softCap(logits, at, vocabSize, scales.logitCap());
    }
  }

  @Override
  public void run(int task, int worker) {
    int output = first + task;
    int at = task * stride;
    Batch batch = ticket.batch();
    SamplingState state = batch.outputSampling(output);
    scale(at);
    float[] row = drawn[worker];
    logits.get(at, row, 0, vocabSize);
    if ((batch.outputFlags(output) & Batch.LOGITS) != 0) {
      ticket.putLogits(output, row, 0);
    }
    if (state == null) {
      return;
    }
    Sampler sampler = samplers[worker];
    int given = batch.outputGiven(output);
    int token =
        given >= 0 ? given : sampler.sample(row, 0, vocabSize, state, batch.outputMask(output));
    ticket.putToken(output, token);
    if ((batch.outputFlags(output) & Batch.LOGPROBS) != 0) {
      ticket.putLogprobs(output, sampler, row, 0, token, state.params().topLogprobs());
    }
  }
}
