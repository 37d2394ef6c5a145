package io.radixflow.kernels.sampling;

/**
 * Softmax weights as integers: {@code weight = floor(2^(scaleBits - distance))} where {@code
 * distance} is how far the logit is below the largest one, in units of log 2.
 *
 * <p>Integer sums do not depend on the order of the terms. So total, nucleus and draw are the same
 * on a CPU and in a parallel reduction on a GPU, whatever the order of the tokens. {@code
 * scaleBits} is chosen so that a whole vocabulary of largest weights stays below 2^62; for 49,152
 * tokens it is 46, so probabilities below 2^-46 of the largest count as 0.
 *
 * <p>Only IEEE double additions and multiplications in the order written, conversions and shifts
 * are used, because {@code Math.exp} may be an intrinsic that gives other bits. With the same table
 * (256 doubles, {@code 2^(-i/256)}) and contraction off ({@code -fmad=false}) CUDA gives the same
 * bits. The relative error is below 2e-13, plus one unit of truncation.
 */
public final class FixedPointExp {

  /** Table entries per octave. */
  static final int STEPS = 256;

  private static final int STEP_BITS = 8;
  private static final double LOG2_E = 1.4426950408889634;
  private static final double LN_2_PER_STEP = 0.6931471805599453 / STEPS;
  private static final double HALF = 0.5;
  private static final double SIXTH = 1.0 / 6;
  private static final double[] POWERS = new double[STEPS];

  static {
    for (int i = 0; i < STEPS; i++) {
      POWERS[i] = StrictMath.pow(2, -i / (double) STEPS);
    }
  }

  private final int scaleBits;
  private final double scale;

  /**
   * @param terms the largest number of weights in a sum
   */
  public FixedPointExp(int terms) {
    scaleBits = 62 - (32 - Integer.numberOfLeadingZeros(Math.max(1, terms - 1)));
    scale = (double) (1L << scaleBits);
  }

  /** Log 2 of the largest weight: {@code weight(0) == 1L << scaleBits()}. */
  public int scaleBits() {
    return scaleBits;
  }

  /** The factor that turns a difference of logits into a distance in steps. */
  public static double stepsPerLogit(double temperature) {
    return STEPS * (LOG2_E / temperature);
  }

  /** The first distance, in steps, whose weight is 0. */
  int endSteps() {
    return (scaleBits + 1) * STEPS;
  }

  /**
   * The smallest weight that passes min_p.
   *
   * @param share the value of min_p: a share of the largest weight
   */
  public long leastWeight(float share) {
    return share > 0 ? (long) Math.ceil(share * scale) : 0;
  }

  /** A copy of the table {@code 2^(-i/256)} of 256 doubles, for a device. */
  public static double[] powers() {
    return POWERS.clone();
  }

  /**
   * The natural log of the sum of {@code exp(logit)} over a row.
   *
   * @param largest the row's largest logit
   * @param mass the sum of the row's weights at temperature 1
   */
  public double normaliser(float largest, long mass) {
    return largest + StrictMath.log(mass / scale);
  }

  /**
   * The weight at a distance.
   *
   * @param steps distance below the largest logit times {@link #stepsPerLogit}, from 0 to below
   *     {@link #endSteps}
   */
  long weight(double steps) {
    int nearest = (int) (steps + HALF);
    double rest = (nearest - steps) * LN_2_PER_STEP;
    double power = 1 + rest * (1 + rest * (HALF + rest * SIXTH));
    return (long) (POWERS[nearest & STEPS - 1] * power * scale) >> (nearest >> STEP_BITS);
  }
}
