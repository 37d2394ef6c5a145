package io.radixflow.kernels.cuda.weights;

import io.radixflow.models.Tensor;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Which file rows make up the rows of one matrix on the device.
 *
 * <p>Immutable. All tensors have the same number of columns.
 */
final class WeightRowOrder {

  /** Rows of the gate, and then of the up projection, that are consecutive on the device. */
  static final int INTERLEAVE = 8;

  private final List<Tensor> tensors;

  /** Keeps the sources of gathered rows in memory. */
  @SuppressWarnings("unused")
  private final List<List<ByteBuffer>> held;

  private final int[] firstRow;
  private final boolean interleaved;
  private final HeadOrder heads;
  private final int headRows;

  private WeightRowOrder(List<Tensor> tensors, boolean interleaved, HeadOrder heads, int headRows) {
    this.tensors = List.copyOf(tensors);
    held = tensors.stream().map(Tensor::hold).toList();
    this.interleaved = interleaved;
    this.heads = heads;
    this.headRows = headRows;
    firstRow = new int[tensors.size() + 1];
    for (int i = 0; i < tensors.size(); i++) {
      firstRow[i + 1] = Math.addExact(firstRow[i], tensors.get(i).rows());
    }
  }

  /** Tensors stacked below each other. */
  static WeightRowOrder stacked(List<Tensor> tensors) {
    return new WeightRowOrder(tensors, false, null, 0);
  }

  /** Gate and up projection, alternating every {@value #INTERLEAVE} rows. */
  static WeightRowOrder interleaved(Tensor gate, Tensor up) {
    if (gate.rows() != up.rows() || gate.rows() % INTERLEAVE != 0) {
      throw new IllegalArgumentException(
          String.format(
              "an MLP of %s and %s rows is not supported on a GPU: the numbers must be equal and a "
                  + "multiple of %s",
              gate.rows(), up.rows(), INTERLEAVE));
    }
    return new WeightRowOrder(List.of(gate, up), true, null, 0);
  }

  /**
   * Queries, keys and values stacked below each other. The rows of each query and key head are in
   * the order of the device.
   */
  static WeightRowOrder ofHeads(Tensor queries, Tensor keys, Tensor values, HeadOrder heads) {
    return new WeightRowOrder(
        List.of(queries, keys, values), false, heads, queries.rows() + keys.rows());
  }

  /** Number of rows on the device. */
  int rows() {
    return firstRow[tensors.size()];
  }

  /** Elements per row. */
  int columns() {
    return tensors.get(0).columns();
  }

  /** The tensor that contains a row of the device. */
  Tensor tensor(int row) {
    return tensors.get(tensorIndex(row));
  }

  /** The index of a row of the device within its {@link #tensor}. */
  int sourceRow(int row) {
    if (interleaved) {
      return row / (2 * INTERLEAVE) * INTERLEAVE + row % INTERLEAVE;
    }
    int index = tensorIndex(row);
    int within = row - firstRow[index];
    if (row >= headRows) {
      return within;
    }
    int element = within % heads.headDim();
    return within - element + heads.source(element);
  }

  /**
   * Returns how many rows from {@code row} on are consecutive in the file, at most {@code most}.
   */
  int consecutive(int row, int most) {
    int count = 1;
    while (count < most
        && tensor(row + count) == tensor(row)
        && sourceRow(row + count) == sourceRow(row) + count) {
      count++;
    }
    return count;
  }

  private int tensorIndex(int row) {
    if (interleaved) {
      return row / INTERLEAVE % 2;
    }
    int index = 0;
    while (row >= firstRow[index + 1]) {
      index++;
    }
    return index;
  }

  /** The values of stacked vectors in the row order of the device, for biases. */
  float[] vector(List<Tensor> vectors) {
    float[] all = new float[rows()];
    List<float[]> values = new ArrayList<>();
    for (Tensor vector : vectors) {
      float[] one = new float[vector.columns()];
      FiniteDeviceRows.read(vector, 0, one);
      values.add(one);
    }
    for (int row = 0; row < all.length; row++) {
      all[row] = values.get(tensorIndex(row))[sourceRow(row)];
    }
    return all;
  }
}
