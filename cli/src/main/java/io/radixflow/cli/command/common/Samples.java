package io.radixflow.cli.command.common;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;

/** Samples of one measurement; they may be read once there is one. */
public final class Samples {
  private double[] sorted = {};

  public void add(double value) {
    sorted = Arrays.copyOf(sorted, sorted.length + 1);
    sorted[sorted.length - 1] = value;
    Arrays.sort(sorted);
  }

  public double min() {
    return sorted[0];
  }

  public double max() {
    return sorted[sorted.length - 1];
  }

  public double median() {
    return quantile(0.5);
  }

  /** The value below which a share of the samples lies, interpolated between neighbours. */
  public double quantile(double share) {
    double rank = share * (sorted.length - 1);
    int below = (int) rank;
    int above = Math.min(below + 1, sorted.length - 1);
    return sorted[below] + (rank - below) * (sorted[above] - sorted[below]);
  }

  /**
   * The two samples between which the median of what they were drawn from lies with a confidence of
   * at least 95 %, whatever its distribution; the least and the greatest if there are too few.
   */
  public double[] medianBounds() {
    double tail = Math.pow(0.5, count());
    double term = tail;
    int below = 0;
    while (below + 1 < count() / 2 && tail + term * (count() - below) / (below + 1) <= 0.025) {
      term *= (double) (count() - below) / (below + 1);
      tail += term;
      below++;
    }
    return new double[] {sorted[below], sorted[count() - 1 - below]};
  }

  public int count() {
    return sorted.length;
  }

  public void putInto(ObjectNode json) {
    json.put("min", min()).put("median", median()).put("max", max()).put("samples", count());
  }
}
