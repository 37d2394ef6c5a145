package io.radixflow.kernels.sampling;

import java.nio.IntBuffer;
import java.util.Arrays;

/**
 * The sampling state of one sequence: its parameters, the counts that penalties need, and the
 * position of its random counter.
 *
 * <p>The engine makes one for each request from the prompt and the tokens generated so far, so it
 * can be rebuilt at any time. From the submit of a batch that names it until the ticket is done it
 * belongs to the backend, which calls {@link #accept} with each token it drew; a batch names a
 * state at most once. Without penalties nothing is counted.
 */
public final class SamplingState {

  private final SamplingParams params;
  private final int vocabSize;
  private final TokenCounts counts;
  private final int[] biasIds;
  private final float[] biases;
  private int generated;

  /**
   * @param params how to draw
   * @param prompt the prompt's token ids
   * @param generated the reply's ids so far
   * @param vocabSize size of the vocabulary
   * @throws IllegalArgumentException if an id that counts is not in the vocabulary
   */
  public SamplingState(SamplingParams params, int[] prompt, int[] generated, int vocabSize) {
    this.params = params;
    this.vocabSize = vocabSize;
    this.generated = generated.length;
    biasIds = params.logitBias().keySet().stream().mapToInt(Integer::intValue).sorted().toArray();
    biases = new float[biasIds.length];
    for (int i = 0; i < biasIds.length; i++) {
      check(biasIds[i], "logit_bias");
      biases[i] = params.logitBias().get(biasIds[i]);
    }
    boolean repetition = params.repetitionPenalty() != 1;
    boolean reply = params.presencePenalty() != 0 || params.frequencyPenalty() != 0;
    counts = repetition || reply ? new TokenCounts() : null;
    if (repetition) {
      count(prompt, 0);
    }
    if (counts != null) {
      count(generated, 1);
    }
  }

  /** The parameters of drawing. */
  public SamplingParams params() {
    return params;
  }

  /** The random counter of the next draw: the number of tokens generated before it. */
  public int counter() {
    return generated;
  }

  /** Counts a drawn token. */
  public void accept(int token) {
    generated++;
    if (counts != null) {
      counts.add(token, 1);
    }
  }

  /** Returns whether a token's logit depends on how often it was drawn. */
  public boolean penalises() {
    return counts != null;
  }

  /** The most adjustments that {@link #writeAdjustments} writes. */
  public int mostAdjustments() {
    return (counts == null ? 0 : counts.size()) + biasIds.length;
  }

  /**
   * Writes what {@link #adjust} does to single logits, for a device: four words each, the token's
   * id, how often it was drawn (-1 for a token that has only a bias), the bits of its bias and 0.
   *
   * @param target receives them from index {@code at} on
   * @return how many were written; ids are distinct
   */
  public int writeAdjustments(IntBuffer target, int at) {
    int end = at;
    for (int slot = 0; counts != null && slot < counts.slots(); slot++) {
      int id = counts.idAt(slot);
      if (id >= 0) {
        int index = Arrays.binarySearch(biasIds, id);
        end = put(target, end, id, counts.countAt(slot), index < 0 ? 0 : biases[index]);
      }
    }
    for (int i = 0; i < biasIds.length; i++) {
      if (counts == null || !counts.has(biasIds[i])) {
        end = put(target, end, biasIds[i], -1, biases[i]);
      }
    }
    return (end - at) / 4;
  }

  private static int put(IntBuffer target, int at, int id, int count, float bias) {
    target.put(at, id);
    target.put(at + 1, count);
    target.put(at + 2, Float.floatToRawIntBits(bias));
    target.put(at + 3, 0);
    return at + 4;
  }

  /** Returns whether {@link #adjust} changes anything. */
  boolean adjustsLogits() {
    return counts != null || biasIds.length > 0;
  }

  /**
   * Applies the penalties, then the bias (so that a ban by bias holds whatever the penalties did).
   * A logit above 0 is divided by the repetition penalty, one below multiplied, so that either way
   * it falls; then {@code frequency * count + presence} is subtracted for tokens of the reply.
   *
   * @param row the logits of the whole vocabulary from index 0, changed in place
   */
  void adjust(float[] row) {
    if (counts != null) {
      penalise(row);
    }
    for (int i = 0; i < biasIds.length; i++) {
      row[biasIds[i]] += biases[i];
    }
  }

  private void penalise(float[] row) {
    float repetition = params.repetitionPenalty();
    for (int slot = 0; slot < counts.slots(); slot++) {
      int id = counts.idAt(slot);
      if (id >= 0) {
        float logit = row[id];
        logit = logit > 0 ? logit / repetition : logit * repetition;
        int count = counts.countAt(slot);
        if (count > 0) {
          logit -= params.frequencyPenalty() * count + params.presencePenalty();
        }
        row[id] = logit;
      }
    }
  }

  private void count(int[] ids, int amount) {
    for (int id : ids) {
      check(id, "a token");
      counts.add(id, amount);
    }
  }

  private void check(int id, String what) {
    if (id < 0 || id >= vocabSize) {
      throw new IllegalArgumentException(
          what + " has id " + id + ", the vocabulary has ids 0 to " + (vocabSize - 1));
    }
  }
}
