package io.radixflow.models;

import java.util.ArrayList;
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

  /**
   * Loads matrices of one shape, as experts and the heads of latent attention have them.
   *
   * @param weights for each matrix the tensors that it is made of
   * @param biases for each matrix the biases of these, or empty
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
