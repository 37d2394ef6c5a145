package io.radixflow.kernels.sim;

import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.ReusedTicket;
import io.radixflow.kernels.sampling.Sampler;

/** A step of the simulated device; each has a ticket of its own. */
final class SimTicket extends ReusedTicket {
  private static final int SPINS = 200;

  private final float[] logprobs;
  private final int[][] topIds;
  private final float[][] topLogprobs;
  private final float[][] logits;

  SimTicket(Batch batch) {
    super(SPINS);
    prepare(batch);
    int outputs = batch.outputs();
    logprobs = new float[outputs];
    topIds = new int[outputs][];
    topLogprobs = new float[outputs][];
    logits = new float[outputs][];
    start();
  }

  void putLogits(int output, float[] row) {
    logits[output] = row.clone();
  }

  void putLogprobs(int output, Sampler sampler, float[] row, int token, int alternatives) {
    int count = Math.max(0, alternatives);
    topIds[output] = new int[count];
    topLogprobs[output] = new float[count];
    logprobs[output] =
        sampler.logprobs(row, 0, row.length, token, count, topIds[output], topLogprobs[output], 0);
  }

  void complete(Throwable failure) {
    if (failure == null) {
      acceptTokens();
    }
    announce(end(failure));
  }

  @Override
  public float logprob(int output) {
    check(output);
    return logprobs[output];
  }

  @Override
  public int topLogprobs(int output, int[] ids, float[] values) {
    check(output);
    int[] from = topIds[output];
    int count = from == null ? 0 : Math.min(from.length, ids.length);
    if (count > 0) {
      System.arraycopy(from, 0, ids, 0, count);
      System.arraycopy(topLogprobs[output], 0, values, 0, count);
    }
    return count;
  }

  @Override
  public void logits(int output, float[] target) {
    checkLogits(output);
    System.arraycopy(logits[output], 0, target, 0, logits[output].length);
  }
}
