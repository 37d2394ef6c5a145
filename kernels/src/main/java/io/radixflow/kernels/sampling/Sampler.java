package io.radixflow.kernels.sampling;

/**
 * Draws tokens from rows of logits, as {@link SamplingParams} defines it.
 *
 * <p>A draw is a pure function of the logits' bits, the parameters, the ids counted by the {@link
 * SamplingState}, the seed and the position: penalties and bias are float operations, softmax
 * weights are integers ({@link FixedPointExp}), the random bits come from {@link Philox}, and the
 * token is the first in id order whose cumulated weight exceeds {@code floor(bits * total / 2^64)}.
 * So threads, batch and device do not show.
 *
 * <p>One instance a thread; arrays are made once, nothing is allocated per token. The row is never
 * changed.
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
   * @throws SamplingException if the row holds NaN, positive infinity, or nothing finite
   */
  public int sample(float[] logits, int offset, int vocab, SamplingState state) {
    return sample(logits, offset, vocab, state, null);
  }

  /**
   * Draws like {@link #sample(float[], int, int, SamplingState)}, from the tokens of a mask.
   *
   * @param mask see {@link TokenMask}; null for all tokens
   * @throws IllegalArgumentException if the mask is too short
   * @throws SamplingException even if only the mask leaves no finite logit; NaN and positive
   *     infinity are refused even at tokens that the mask excludes
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

  /** The largest adjusted logit that the mask allows; the others are excluded from the draw. */
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
   * @throws SamplingException as {@link #sample}
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
   * The place of the largest value, the lowest on a tie.
   *
   * @throws SamplingException if the row holds NaN, positive infinity, or nothing finite
   */
  public static int argMax(float[] logits, int offset, int vocab) {
    int best = largest(logits, offset, vocab);
    if (best < 0 || logits[offset + best] == Float.POSITIVE_INFINITY) {
      throw new SamplingException(
          best < 0 ? "no finite logit in the row" : "logit of token " + best + " is infinite");
    }
    return best;
  }

  /** The place of the largest value above negative infinity, the lowest on a tie; -1 if none is. */
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

  /** The tokens left by the last draw that did not take the arg max. */
  Candidates candidates() {
    candidates.listAll();
    return candidates;
  }
}
