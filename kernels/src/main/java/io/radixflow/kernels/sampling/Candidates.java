package io.radixflow.kernels.sampling;

import java.util.Arrays;

/**
 * The tokens of a row of logits that may be drawn. Each has an integer weight ({@link
 * FixedPointExp}).
 *
 * <p>One pass over the row sums the weights, in total and per narrow band of logits. If a filter is
 * on, a second pass lists the tokens of the bands that can pass it. Only the tokens of the band
 * with the top_p border are sorted. An unfiltered row is not listed. Not thread safe. Arrays are
 * reused. A row must not change between {@link #select} and {@link #draw}.
 */
final class Candidates {

  /** A band is {@code 2^BAND_SHIFT} steps of the exponential wide, so an octave has 64 bands. */
  private static final int BAND_SHIFT = 2;

  /** Tokens per partial sum. A draw skips whole blocks. */
  private static final int BLOCK = 256;

  private final FixedPointExp exp;
  private final int[] ids;
  private final long[] weights;
  private final long[] bandMass;
  private final long[] blockMass;
  private final long[] borderKeys;
  private final TopFloats topK;

  private float[] row;
  private int offset;
  private int vocab;
  private float max;
  private double scale;
  private float floor;

  private boolean listed;
  private int count;
  private long total;

  Candidates(int vocabSize) {
    exp = new FixedPointExp(vocabSize);
    ids = new int[vocabSize];
    weights = new long[vocabSize];
    bandMass = new long[(exp.endSteps() >> BAND_SHIFT) + 1];
    blockMass = new long[vocabSize / BLOCK + 1];
    borderKeys = new long[vocabSize];
    topK = new TopFloats(vocabSize);
  }

  /** Selects the tokens that pass temperature and filters. */
  void select(float[] logits, int start, int length, float largest, SamplingParams params) {
    int k = params.topK();
    boolean kBounds = k > 0 && k < length;
    boolean pBounds = params.topP() < 1;
    aim(logits, start, length, largest, params.temperature());
    floor = kBounds ? topK.smallestOfTop(row, offset, vocab, k) : Float.NEGATIVE_INFINITY;
    total = pBounds ? massByBand() : mass();
    listed = kBounds || pBounds || params.minP() > 0;
    if (pBounds) {
      keepNucleus(params.topP());
    } else if (listed) {
      list(bandMass.length);
    }
    if (params.minP() > 0) {
      keepAtLeast(exp.leastWeight(params.minP()));
    }
  }

  /** The natural log of the sum of {@code exp(logit)} over a row. */
  double normaliser(float[] logits, int start, int length, float largest) {
    aim(logits, start, length, largest, 1);
    return exp.normaliser(largest, mass());
  }

  /**
   * Draws a token: the first one, in id order, whose cumulative weight exceeds {@code floor(bits *
   * total / 2^64)}.
   */
  int draw(long bits) {
    long left = unsignedMultiplyHigh(bits, total);
    if (!listed) {
      return drawFromRow(left);
    }
    int i = 0;
    while (left >= weights[i]) {
      left -= weights[i++];
    }
    return ids[i];
  }

  /** Lists the candidates even if the row is unfiltered, so that they can be read one by one. */
  void listAll() {
    if (!listed) {
      listed = true;
      list(bandMass.length);
    }
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

  private void aim(float[] logits, int start, int length, float largest, float temperature) {
    row = logits;
    offset = start;
    vocab = length;
    max = largest;
    scale = FixedPointExp.stepsPerLogit(temperature);
    floor = Float.NEGATIVE_INFINITY;
  }

  private static long unsignedMultiplyHigh(long bits, long positive) {
    return Math.multiplyHigh(bits, positive) + (bits >> 63 & positive);
  }

  private int drawFromRow(long left) {
    int block = 0;
    while (left >= blockMass[block]) {
      left -= blockMass[block++];
    }
    int i = block * BLOCK;
    long weight = weightAt(i);
    while (left >= weight) {
      left -= weight;
      weight = weightAt(++i);
    }
    return i;
  }

  private long weightAt(int token) {
    double steps = ((double) max - row[offset + token]) * scale;
    return steps < exp.endSteps() ? exp.weight(steps) : 0;
  }

  private long mass() {
    long sum = 0;
    for (int from = 0; from < vocab; from += BLOCK) {
      long mass = massOf(offset + from, offset + Math.min(from + BLOCK, vocab));
      blockMass[from / BLOCK] = mass;
      sum += mass;
    }
    return sum;
  }

  private long massOf(int from, int to) {
    double end = exp.endSteps();
    long sum = 0;
    for (int i = from; i < to; i++) {
      double steps = ((double) max - row[i]) * scale;
      if (steps < end && row[i] >= floor) {
        sum += exp.weight(steps);
      }
    }
    return sum;
  }

  private long massByBand() {
    Arrays.fill(bandMass, 0);
    double end = exp.endSteps();
    long sum = 0;
    for (int i = offset; i < offset + vocab; i++) {
      double steps = ((double) max - row[i]) * scale;
      if (steps < end && row[i] >= floor) {
        long weight = exp.weight(steps);
        bandMass[(int) steps >> BAND_SHIFT] += weight;
        sum += weight;
      }
    }
    return sum;
  }

  /** Lists the tokens of the bands before {@code endBand}, in ascending order of ids. */
  private void list(int endBand) {
    double end = Math.min(exp.endSteps(), (double) (endBand << BAND_SHIFT));
    int kept = 0;
    long sum = 0;
    for (int i = 0; i < vocab; i++) {
      float logit = row[offset + i];
      double steps = ((double) max - logit) * scale;
      if (steps < end && logit >= floor) {
        ids[kept] = i;
        weights[kept] = exp.weight(steps);
        sum += weights[kept++];
      }
    }
    count = kept;
    total = sum;
  }

  /**
   * Keeps each token for which the tokens ranked before it have less than {@code p * total} of the
   * mass.
   */
  private void keepNucleus(double p) {
    long limit = (long) Math.ceil(p * total);
    int border = 0;
    long before = 0;
    while (before + bandMass[border] < limit) {
      before += bandMass[border++];
    }
    list(border + 1);
    long last = lastKept(border, limit - before);
    int kept = 0;
    total = 0;
    for (int i = 0; i < count; i++) {
      if (key(row[offset + ids[i]], ids[i]) >= last) {
        keep(i, kept++);
      }
    }
    count = kept;
  }

  /**
   * The key of the last token to keep. Walks the tokens of the border band in the order of their
   * ranks.
   */
  private long lastKept(int border, long limit) {
    double first = border << BAND_SHIFT;
    int n = 0;
    for (int i = 0; i < count; i++) {
      float logit = row[offset + ids[i]];
      if (((double) max - logit) * scale >= first) {
        borderKeys[n++] = key(logit, ids[i]);
      }
    }
    Arrays.sort(borderKeys, 0, n);
    long before = 0;
    int rank = n;
    while (rank > 0 && before < limit) {
      before += exp.weight(((double) max - logitOf(borderKeys[--rank])) * scale);
    }
    return borderKeys[rank];
  }

  private void keepAtLeast(long least) {
    int kept = 0;
    total = 0;
    for (int i = 0; i < count; i++) {
      if (weights[i] >= least) {
        keep(i, kept++);
      }
    }
    count = kept;
  }

  private void keep(int from, int to) {
    ids[to] = ids[from];
    weights[to] = weights[from];
    total += weights[to];
  }

  /** A long whose order is the order of logits; of equal logits, the lower id is greater. */
  private static long key(float logit, int id) {
    int bits = Float.floatToRawIntBits(logit + 0f);
    return (long) (bits ^ bits >> 31 & Integer.MAX_VALUE) << 32 | ~id & 0xFFFFFFFFL;
  }

  private static float logitOf(long key) {
    int bits = (int) (key >> 32);
    return Float.intBitsToFloat(bits ^ bits >> 31 & Integer.MAX_VALUE);
  }
}
