package io.radixflow.models;

import java.util.ArrayList;
import java.util.List;

/**
 * Loads weights onto a device.
 *
 * @param <M> a weight matrix on the device
 * @param <V> a weight vector on the device
 */
public interface WeightLoader<M, V> {

  /**
   * Loads tensors as one matrix, stacked by rows.
   *
   * @param weights tensor names; all have the same number of columns
   * @param biases one bias per tensor of {@code weights}, or empty
   */
  M matrix(List<String> weights, List<String> biases);

  /**
   * Loads matrices of one shape, such as the matrices of experts or of the heads of latent
   * attention.
   *
   * @param weights for each matrix, its tensors
   * @param biases for each matrix, the biases of its tensors, or empty
   */
  default List<M> matrices(List<List<String>> weights, List<List<String>> biases) {
    List<M> matrices = new ArrayList<>();
    for (int i = 0; i < weights.size(); i++) {
      matrices.add(matrix(weights.get(i), biases.get(i)));
    }
    return matrices;
  }

  /** Loads a vector of floats. */
  V vector(String name);
}
