package io.radixflow.kernels.sampling;

/**
 * Draws tokens from rows of logits; {@link SamplingParams} defines how.
 *
 * <p>A draw is a pure function of the logits' bits, the parameters, the ids counted by the {@link
 * SamplingState}, the seed and the position. Threads, batch and device do not matter. Penalties and
 * bias are float operations, softmax weights are integers ({@link FixedPointExp}), and the random
 * bits come from {@link Philox}. The token is the first in id order whose cumulative weight exceeds
 * {@code floor(bits * total / 2^64)}.
 *
 * <p>Each thread has its own instance. Nothing is allocated per token. The row is never changed.
 */
public final class Sampler {

  private static final int MOST_LOGPROBS = 20;

  private final Candidates candidates;
  private final TopFloats top = new TopFloats(MOST_LOGPROBS);
  private final float[] adjusted;

  /**
   * @param vocabSize the longest row that will be sampled
   */
  public Sampler(int vocabSize) {
    candidates = new Candidates(vocabSize);
    adjusted = new float[vocabSize];
  }

  /**
   * Draws one token; does not call {@link SamplingState#accept}.
   *
   * @param logits a row of {@code vocab} floats from {@code offset}; negative infinity marks a
   *     token that must not be drawn
   * @throws SamplingException if the row contains NaN or positive infinity, or has no finite value
   */
  public int sample(float[] logits, int offset, int vocab, SamplingState state) {
    return sample(logits, offset, vocab, state, null);
  }

  /**
   * Like {@link #sample(float[], int, int, SamplingState)}, but draws only tokens that the mask
   * allows.
   *
   * @param mask see {@link TokenMask}; null for all tokens
   * @throws IllegalArgumentException if the mask is too short
   * @throws SamplingException in the same cases, and if the mask excludes every token with a finite
   *     logit. NaN and positive infinity are errors even for tokens that the mask excludes.
   */
  public int sample(float[] logits, int offset, int vocab, SamplingState state, long[] mask) {
    float[] row = logits;
    int start = offset;
    if (state.adjustsLogits() || mask != null) {
      System.arraycopy(logits, offset, adjusted, 0, vocab);
      state.adjust(adjusted);
      row = adjusted;
      start = 0;
    }
    int best = argMax(row, start, vocab);
    if (mask != null) {
      best = bestOf(mask, vocab);
    }
    SamplingParams params = state.params();
    if (params.temperature() == 0) {
      return best;
    }
    candidates.select(row, start, vocab, row[start + best], params);
    return candidates.draw(Philox.bits(params.seed(), state.counter()));
  }

  /**
   * The largest adjusted logit that the mask allows. The tokens that it excludes are removed from
   * the draw.
   */
  private int bestOf(long[] mask, int vocab) {
    TokenMask.check(mask, vocab);
    TokenMask.exclude(mask, adjusted, vocab);
    int best = largest(adjusted, 0, vocab);
    if (best < 0) {
      throw new SamplingException(TokenMask.NOTHING_LEFT);
    }
    return best;
  }

  /**
   * Natural logs of probabilities in the softmax of the raw logits: temperature 1, no penalty, no
   * bias, no filter, no mask.
   *
   * @param token the drawn token
   * @param count how many of the most probable tokens to report, 0 to 20
   * @param ids receives their ids from {@code at} on, most probable first (equal: lower id first)
   * @param logprobs receives their log probabilities from {@code at} on
   * @return the log probability of {@code token}
   * @throws SamplingException under the conditions of {@link #sample}
   */
  public float logprobs(
      float[] logits,
      int offset,
      int vocab,
      int token,
      int count,
      int[] ids,
      float[] logprobs,
      int at) {
    float max = logits[offset + argMax(logits, offset, vocab)];
    double normaliser = candidates.normaliser(logits, offset, vocab, max);
    int reported = Math.min(count, vocab);
    if (reported > 0) {
      top.sortedTop(logits, offset, vocab, reported);
      for (int rank = 0; rank < reported; rank++) {
        ids[at + rank] = top.place(rank);
        logprobs[at + rank] = (float) (top.value(rank) - normaliser);
      }
    }
    return (float) (logits[offset + token] - normaliser);
  }

  /**
   * The index of the largest value; on a tie, the lowest index.
   *
   * @throws SamplingException if the row contains NaN or positive infinity, or has no finite value
   */
  public static int argMax(float[] logits, int offset, int vocab) {
    int best = largest(logits, offset, vocab);
    if (best < 0 || logits[offset + best] == Float.POSITIVE_INFINITY) {
      throw new SamplingException(
          best < 0 ? "no finite logit in the row" : "logit of token " + best + " is infinite");
    }
    return best;
  }

  /**
   * The index of the largest value above negative infinity; on a tie, the lowest index; -1 if there
   * is none.
   */
  private static int largest(float[] logits, int offset, int vocab) {
    float max = Float.NEGATIVE_INFINITY;
    int best = -1;
    for (int i = 0; i < vocab; i++) {
      float value = logits[offset + i];
      if (!(value <= max)) {
        if (Float.isNaN(value)) {
          throw new SamplingException("logit of token " + i + " is not a number");
        }
        max = value;
        best = i;
      }
    }
    return best;
  }

  /** The candidates of the last draw that was not an arg max. */
  Candidates candidates() {
    candidates.listAll();
    return candidates;
  }
}
