package io.radixflow.kernels.sampling;

import java.util.Arrays;

/**
 * The tokens that a row of logits leaves to draw from, in ascending id order with an integer weight
 * each ({@link FixedPointExp}), and the filters that shorten the list.
 *
 * <p>Nothing is sorted but the tokens that share the narrow band of logits in which the top_p
 * border falls. Not thread safe; arrays are reused.
 */
final class Candidates {

  /** Steps of the exponential that share one band of the mass histogram. */
  private static final int STEPS_PER_BAND = 4;

  private final FixedPointExp exp;
  private final int[] ids;
  private final long[] weights;
  private final long[] bandMass;
  private final long[] borderKeys;
  private final TopFloats topK;
  private int count;
  private long total;

  Candidates(int vocabSize) {
    exp = new FixedPointExp(vocabSize);
    ids = new int[vocabSize];
    weights = new long[vocabSize];
    bandMass = new long[exp.endSteps() / STEPS_PER_BAND + 1];
    borderKeys = new long[vocabSize];
    topK = new TopFloats(vocabSize);
  }

  int count() {
    return count;
  }

  int id(int index) {
    return ids[index];
  }

  long weight(int index) {
    return weights[index];
  }

  /** Sum of the weights. */
  long total() {
    return total;
  }

  /** Takes all tokens that survive temperature and the filters. */
  void select(float[] row, int offset, int vocab, float max, SamplingParams params) {
    int k = params.topK();
    float floor =
        k > 0 && k < vocab ? topK.smallestOfTop(row, offset, vocab, k) : Float.NEGATIVE_INFINITY;
    double scale = FixedPointExp.stepsPerLogit(params.temperature());
    weigh(row, offset, vocab, max, floor, scale);
    if (params.topP() < 1) {
      keepNucleus(row, offset, max, scale, params.topP());
    }
    if (params.minP() > 0) {
      keepAtLeast((long) Math.ceil(params.minP() * (double) (1L << exp.scaleBits())));
    }
  }

  /** The natural log of the sum of {@code exp(logit - max)} over a row. */
  double logSumExp(float[] row, int offset, int vocab, float max) {
    double scale = FixedPointExp.stepsPerLogit(1);
    double end = exp.endSteps();
    long sum = 0;
    for (int i = 0; i < vocab; i++) {
      double steps = ((double) max - row[offset + i]) * scale;
      if (steps < end) {
        sum += exp.weight(steps);
      }
    }
    return StrictMath.log(sum / (double) (1L << exp.scaleBits()));
  }

  /** The token whose share of the weights holds {@code 64 random bits / 2^64}. */
  int draw(long bits) {
    long left = unsignedMultiplyHigh(bits, total);
    int i = 0;
    while (left >= weights[i]) {
      left -= weights[i++];
    }
    return ids[i];
  }

  private static long unsignedMultiplyHigh(long bits, long positive) {
    return Math.multiplyHigh(bits, positive) + (bits >> 63 & positive);
  }

  private void weigh(float[] row, int offset, int vocab, float max, float floor, double scale) {
    double end = exp.endSteps();
    int kept = 0;
    long sum = 0;
    for (int i = 0; i < vocab; i++) {
      float logit = row[offset + i];
      double steps = ((double) max - logit) * scale;
      if (steps < end && logit >= floor) {
        long weight = exp.weight(steps);
        ids[kept] = i;
        weights[kept++] = weight;
        sum += weight;
      }
    }
    count = kept;
    total = sum;
  }

  /** Keeps each token for which the mass ranked strictly before it is below {@code p * total}. */
  private void keepNucleus(float[] row, int offset, float max, double scale, double p) {
    long limit = (long) Math.ceil(p * total);
    Arrays.fill(bandMass, 0);
    for (int i = 0; i < count; i++) {
      bandMass[band(row[offset + ids[i]], max, scale)] += weights[i];
    }
    int border = 0;
    long before = 0;
    while (before + bandMass[border] < limit) {
      before += bandMass[border++];
    }
    long borderKey = borderKey(row, offset, max, scale, border, limit - before);
    int kept = 0;
    total = 0;
    for (int i = 0; i < count; i++) {
      if (key(row[offset + ids[i]], ids[i]) >= borderKey) {
        ids[kept] = ids[i];
        total += weights[i];
        weights[kept++] = weights[i];
      }
    }
    count = kept;
  }

  /** The key of the last token to keep: the ranks within the border band, walked in order. */
  private long borderKey(float[] row, int offset, float max, double scale, int border, long limit) {
    int n = 0;
    for (int i = 0; i < count; i++) {
      float logit = row[offset + ids[i]];
      if (band(logit, max, scale) == border) {
        borderKeys[n++] = key(logit, ids[i]);
      }
    }
    Arrays.sort(borderKeys, 0, n);
    long before = 0;
    int rank = n;
    while (rank > 0 && before < limit) {
      double steps = ((double) max - logitOf(borderKeys[--rank])) * scale;
      before += exp.weight(steps);
    }
    return borderKeys[rank];
  }

  private static int band(float logit, float max, double scale) {
    return (int) (((double) max - logit) * scale) / STEPS_PER_BAND;
  }

  /** A long that orders tokens by logit, equal logits by descending id. */
  private static long key(float logit, int id) {
    int bits = Float.floatToRawIntBits(logit + 0f);
    return (long) (bits ^ bits >> 31 & Integer.MAX_VALUE) << 32 | ~id & 0xFFFFFFFFL;
  }

  private static float logitOf(long key) {
    int bits = (int) (key >> 32);
    return Float.intBitsToFloat(bits ^ bits >> 31 & Integer.MAX_VALUE);
  }

  private void keepAtLeast(long least) {
    int kept = 0;
    total = 0;
    for (int i = 0; i < count; i++) {
      if (weights[i] >= least) {
        ids[kept] = ids[i];
        total += weights[i];
        weights[kept++] = weights[i];
      }
    }
    count = kept;
  }
}
