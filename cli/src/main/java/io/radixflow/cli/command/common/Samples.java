package io.radixflow.cli.command.common;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Arrays;

/** Samples of one measurement. There must be at least one sample when they are read. */
public final class Samples {
  private double[] values = new double[16];
  private int count;
  private boolean sorted;

  public void add(double value) {
    if (count == values.length) {
      values = Arrays.copyOf(values, 2 * count);
    }
    values[count++] = value;
    sorted = false;
  }

  public double min() {
    return quantile(0);
  }

  public double max() {
    return quantile(1);
  }

  public double median() {
    return quantile(0.5);
  }

  /** Returns the value below which a share of the samples is, interpolated between neighbours. */
  public double quantile(double share) {
    if (!sorted) {
      Arrays.sort(values, 0, count);
      sorted = true;
    }
    double rank = share * (count - 1);
    int below = (int) rank;
    int above = Math.min(below + 1, count - 1);
    return values[below] + (rank - below) * (values[above] - values[below]);
  }

  public int count() {
    return count;
  }

  public void putInto(ObjectNode json) {
    json.put("min", min()).put("median", median()).put("p99", quantile(0.99));
    json.put("max", max()).put("samples", count);
  }
}
