package io.radixflow.operators.tier.loadback;

/**
 * Fits a straight line to measurements of which older ones count less: weighted least squares, with
 * neither a negative slope nor a negative value at 0.
 */
final class LinearFit {
  /** The factor by which each measurement counts less after the next one. */
  private static final double DECAY = 0.97;

  private double weight;
  private double x;
  private double y;
  private double xx;
  private double xy;

  /** Adds a measurement that counts {@code w}. */
  void add(double atX, double atY, double w) {
    weight = weight * DECAY + w;
    x = x * DECAY + w * atX;
    y = y * DECAY + w * atY;
    xx = xx * DECAY + w * atX * atX;
    xy = xy * DECAY + w * atX * atY;
  }

  boolean isEmpty() {
    return weight == 0;
  }

  /** The line's slope. */
  double slope() {
    double spread = weight * xx - x * x;
    double slope = spread > 1e-9 * weight * xx ? (weight * xy - x * y) / spread : 0;
    if (slope <= 0 || y < slope * x) {
      // all the same, falling, or negative at 0: through the mean, and through 0 in the last case
      return slope > 0 && x > 0 ? y / x : 0;
    }
    return slope;
  }

  /** The value at 0. */
  double base() {
    return isEmpty() ? 0 : Math.max(0, (y - slope() * x) / weight);
  }
}
