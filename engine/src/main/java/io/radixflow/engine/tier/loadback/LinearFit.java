package io.radixflow.engine.tier.loadback;

/**
 * Fits a straight line to measurements by weighted least squares; older measurements count less.
 * Neither the slope nor the value at 0 is negative. Not thread-safe.
 */
public final class LinearFit {
  /** The factor by which each measurement counts less after the next one. */
  private static final double DECAY = 0.97;

  private final double spread;
  private double weight;
  private double x;
  private double y;
  private double xx;
  private double xy;

  public LinearFit() {
    this(0);
  }

  /**
   * @param spread how far apart measurements must be for their differences to count, as a standard
   *     deviation; below it, the line becomes more and more level (ridge regression, Hoerl and
   *     Kennard 1970)
   */
  public LinearFit(double spread) {
    this.spread = spread;
  }

  /** Adds a measurement with weight {@code w}. */
  public void add(double atX, double atY, double w) {
    weight = weight * DECAY + w;
    x = x * DECAY + w * atX;
    y = y * DECAY + w * atY;
    xx = xx * DECAY + w * atX * atX;
    xy = xy * DECAY + w * atX * atY;
  }

  /** Returns whether nothing was measured. */
  public boolean isEmpty() {
    return weight == 0;
  }

  /** Returns the line's slope. */
  public double slope() {
    double variance = weight * xx - x * x;
    double penalty = spread * spread * weight * weight;
    double slope = variance > 1e-9 * weight * xx ? (weight * xy - x * y) / (variance + penalty) : 0;
    if (slope <= 0 || y < slope * x) {
      // a level or falling line is replaced by its mean, and a line that is negative at 0 by one
      // through 0
      return slope > 0 && x > 0 ? y / x : 0;
    }
    return slope;
  }

  /** Returns the value of the line at {@code place}; 0 if nothing was measured. */
  public double at(double place) {
    return base() + slope() * place;
  }

  /** Returns the value at 0. */
  double base() {
    return isEmpty() ? 0 : Math.max(0, (y - slope() * x) / weight);
  }
}
