package io.radixflow.kernels.model;

import java.util.List;

/**
 * Puts weights on a device.
 *
 * @param <M> a weight matrix on the device
 * @param <V> a weight vector on the device
 */
public interface WeightLoader<M, V> {

  /**
   * Loads matrices as one, stacked by rows.
   *
   * @param weights tensor names; all have the same number of columns
   * @param biases a bias for each of {@code weights}, or empty
   */
  M matrix(List<String> weights, List<String> biases);

  /** Loads a vector of floats. */
  V vector(String name);
}
