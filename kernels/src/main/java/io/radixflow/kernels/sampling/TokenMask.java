package io.radixflow.kernels.sampling;

import java.util.Arrays;

/**
 * The tokens that one draw may choose, for grammars and formats: bit {@code id % 64} of word {@code
 * id / 64} is 1 for a token that is allowed. Bits beyond the vocabulary are ignored.
 *
 * <p>Masks are plain arrays that their caller owns and may share between rows. A mask is applied
 * after penalties and biases and before temperature and filters, also for greedy draws. Log
 * probabilities and logits are computed before the mask is applied.
 */
public final class TokenMask {

  /** Message for a valid row in which the mask excludes every token that could be drawn. */
  public static final String NOTHING_LEFT = "the token mask leaves no token with a finite logit";

  private TokenMask() {}

  /** Number of words in a mask. */
  public static int words(int vocabSize) {
    return (vocabSize + Long.SIZE - 1) / Long.SIZE;
  }

  /** Returns a mask that allows only the given tokens. */
  public static long[] of(int vocabSize, int... ids) {
    long[] mask = new long[words(vocabSize)];
    for (int id : ids) {
      if (id < 0 || id >= vocabSize) {
        throw new IllegalArgumentException(
            "token " + id + " is not in 0 to " + (vocabSize - 1) + ", so no mask can allow it");
      }
      mask[id >> 6] |= 1L << id;
    }
    return mask;
  }

  /** Returns whether a mask allows a token. */
  public static boolean allows(long[] mask, int id) {
    return (mask[id >> 6] >>> id & 1) != 0;
  }

  /**
   * @throws IllegalArgumentException if the mask is too short for the vocabulary
   */
  public static void check(long[] mask, int vocabSize) {
    if (mask.length < words(vocabSize)) {
      throw new IllegalArgumentException(
          String.format(
              "a token mask has %s words; a vocabulary of %s tokens needs %s",
              mask.length, vocabSize, words(vocabSize)));
    }
  }

  /** Sets the logits of excluded tokens to negative infinity, so that they are never drawn. */
  static void exclude(long[] mask, float[] row, int vocab) {
    for (int word = 0; word < words(vocab); word++) {
      int first = word << 6;
      long excluded = ~mask[word];
      if (excluded == -1L) {
        Arrays.fill(row, first, Math.min(first + Long.SIZE, vocab), Float.NEGATIVE_INFINITY);
        continue;
      }
      for (; excluded != 0; excluded &= excluded - 1) {
        int id = first + Long.numberOfTrailingZeros(excluded);
        if (id < vocab) {
          row[id] = Float.NEGATIVE_INFINITY;
        }
      }
    }
  }
}
