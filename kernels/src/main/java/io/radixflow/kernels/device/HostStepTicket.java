package io.radixflow.kernels.device;

import io.radixflow.kernels.sampling.Sampler;
import java.util.Arrays;

/**
 * The ticket of a backend whose results are in the heap. The ticket and its buffers are reused. The
 * backend's threads fill it, and the owner reads it once it is done.
 */
public final class HostStepTicket extends ReusedTicket {

  private static final int MOST_LOGPROBS = 20;

  private final int vocabSize;
  private float[] logprobs = new float[16];
  private int[] topCount = new int[16];
  private int[] topIds = new int[0];
  private float[] topLogprobs = new float[0];
  private float[] logits = new float[0];

  /**
   * @param spins how often a waiting thread checks for the end before it parks
   */
  public HostStepTicket(int vocabSize, int spins) {
    super(spins);
    this.vocabSize = vocabSize;
  }

  /** Prepares this ticket for a new step. */
  public void begin(Batch batch) {
    prepare(batch);
    if (logprobs.length < capacity()) {
      logprobs = new float[capacity()];
      topCount = new int[capacity()];
    }
    Arrays.fill(logprobs, 0, batch.outputs(), Float.NaN);
    Arrays.fill(topCount, 0, batch.outputs(), 0);
    if (logits.length < (long) logitsRows() * vocabSize) {
      logits = new float[Math.multiplyExact(logitsRows(), vocabSize)];
    }
    if (wantsLogprobs() && topIds.length < capacity() * MOST_LOGPROBS) {
      topIds = new int[capacity() * MOST_LOGPROBS];
      topLogprobs = new float[capacity() * MOST_LOGPROBS];
    }
    start();
  }

  public void putLogits(int output, float[] source, int at) {
    System.arraycopy(source, at, logits, logitsSlot(output) * vocabSize, vocabSize);
  }

  public void putLogprobs(
      int output, Sampler sampler, float[] source, int at, int token, int alternatives) {
    int count = Math.max(0, Math.min(alternatives, MOST_LOGPROBS));
    logprobs[output] =
        sampler.logprobs(
            source, at, vocabSize, token, count, topIds, topLogprobs, output * MOST_LOGPROBS);
    topCount[output] = Math.min(count, vocabSize);
  }

  @Override
  public float logprob(int output) {
    check(output);
    return logprobs[output];
  }

  @Override
  public int topLogprobs(int output, int[] ids, float[] values) {
    check(output);
    int count = Math.min(topCount[output], Math.min(ids.length, values.length));
    if (count > 0) {
      System.arraycopy(topIds, output * MOST_LOGPROBS, ids, 0, count);
      System.arraycopy(topLogprobs, output * MOST_LOGPROBS, values, 0, count);
    }
    return count;
  }

  @Override
  public void logits(int output, float[] target) {
    System.arraycopy(logits, checkLogits(output) * vocabSize, target, 0, vocabSize);
  }
}
