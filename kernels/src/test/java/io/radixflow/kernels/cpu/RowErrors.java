package io.radixflow.kernels.cpu;

import java.util.Arrays;
import java.util.Locale;

/** The errors of rows of logits against expected ones. */
public final class RowErrors {

  private final double[] errors;
  private double divergence;
  private int agreeing;

  public RowErrors(float[][] actual, float[][] expected) {
    errors = new double[expected.length];
    for (int i = 0; i < errors.length; i++) {
      errors[i] = error(actual[i], expected[i]);
      divergence += divergence(expected[i], actual[i]) / errors.length;
      agreeing += best(actual[i]) == best(expected[i]) ? 1 : 0;
    }
    Arrays.sort(errors);
  }

  /**
   * Returns the root mean square error of a row, in its standard deviations. A shift of the whole
   * row does not count.
   */
  private static double error(float[] actual, float[] expected) {
    double mean = mean(expected);
    double shift = mean(actual) - mean;
    double error = 0;
    double squares = 0;
    for (int id = 0; id < expected.length; id++) {
      error += Math.pow(actual[id] - shift - expected[id], 2);
      squares += Math.pow(expected[id] - mean, 2);
    }
    return Math.sqrt(error / squares);
  }

  private static double mean(float[] row) {
    double sum = 0;
    for (float value : row) {
      sum += value;
    }
    return sum / row.length;
  }

  /** Kullback-Leibler divergence of the rows' probabilities, in nats. */
  private static double divergence(float[] expected, float[] actual) {
    double total = logSum(expected);
    double otherTotal = logSum(actual);
    double sum = 0;
    for (int id = 0; id < expected.length; id++) {
      double log = expected[id] - total;
      sum += Math.exp(log) * (log - (actual[id] - otherTotal));
    }
    return sum;
  }

  private static double logSum(float[] row) {
    double top = row[best(row)];
    double sum = 0;
    for (float value : row) {
      sum += Math.exp(value - top);
    }
    return top + Math.log(sum);
  }

  private static int best(float[] row) {
    int best = 0;
    for (int id = 1; id < row.length; id++) {
      best = row[id] > row[best] ? id : best;
    }
    return best;
  }

  /** Returns the median of the rows' errors. */
  public double median() {
    return errors[errors.length / 2];
  }

  public double rootMeanSquare() {
    return Math.sqrt(Arrays.stream(errors).map(error -> error * error).average().getAsDouble());
  }

  /** Returns the share of rows whose most probable token is the expected one. */
  public double agreement() {
    return (double) agreeing / errors.length;
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "median %.4f, rms %.4f, most %.4f, divergence %.6f, same token %.1f %%",
        median(),
        rootMeanSquare(),
        errors[errors.length - 1],
        divergence,
        100 * agreement());
  }
}
