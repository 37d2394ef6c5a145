package io.radixflow.kernels.cpu;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.models.BlockCodes;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.util.ArrayList;
import java.util.List;

/**
 * The formula of {@link io.radixflow.kernels.cpu.integer.IntegerProducts}, output by output, with
 * sums in long integers.
 */
public final class IntegerReference {

  /** A row of activations: integers, and the scale of each 32. */
  private record Rounded(long[] integers, float[] scales) {}

  /** A row of weights. */
  private record Weights(int[] codes, int block, float[] scales, float[] minima) {}

  private final List<Weights> rows = new ArrayList<>();
  private final float[] bias;

  /**
   * @param tensors the matrix, from top to bottom
   * @param bias up to whole panels, or null
   */
  public IntegerReference(List<Tensor> tensors, float[] bias) {
    this.bias = bias;
    int columns = tensors.get(0).columns();
    for (Tensor tensor : tensors) {
      for (int row = 0; row < tensor.rows(); row++) {
        rows.add(weights(tensor, row));
      }
    }
    while (rows.size() % Kernels.PANEL != 0) {
      rows.add(filling(rows.get(rows.size() - 1), columns));
    }
  }

  private static Weights weights(Tensor tensor, int row) {
    BlockCodes read = new BlockCodes(tensor.type(), tensor.columns());
    read.read(tensor.rows(row, 1));
    int[] codes = new int[tensor.columns()];
    for (int k = 0; k < codes.length; k++) {
      codes[k] = read.codes[k];
    }
    boolean minima =
        switch (tensor.type()) {
          case Q4_1, Q5_1, Q2_K, Q4_K, Q5_K, INT4 -> true;
          default -> false;
        };
    if (tensor.type() == TensorType.Q4_0) {
      for (int k = 0; k < codes.length; k++) {
        codes[k] -= 8;
      }
    }
    return new Weights(codes, read.block, read.scales, minima ? read.minima : null);
  }

  /** A row of zeros, as the last panel is filled up with. */
  private static Weights filling(Weights last, int columns) {
    float[] zeros = new float[last.scales.length];
    return new Weights(new int[columns], last.block, zeros, last.minima == null ? null : zeros);
  }

  /** Rows of whole panels. */
  public int outputs() {
    return rows.size();
  }

  /** The outputs of one row of activations. */
  public float[] times(float[] x) {
    Rounded rounded = round(x);
    float[] out = new float[rows.size()];
    for (int i = 0; i < out.length; i++) {
      out[i] = output(rows.get(i), rounded, bias == null ? 0f : bias[i]);
    }
    return out;
  }

  private static float output(Weights weights, Rounded x, float bias) {
    float y = bias;
    for (int first = 0; first < weights.codes.length; first += weights.block) {
      long products = 0;
      long integers = 0;
      for (int k = first; k < first + weights.block; k++) {
        products += weights.codes[k] * x.integers[k];
        integers += x.integers[k];
      }
      float rowScale = x.scales[first / 32];
      int scale = first / weights.block;
      y = Math.fma(weights.scales[scale] * rowScale, (float) products, y);
      if (weights.minima != null) {
        y = Math.fma(weights.minima[scale], rowScale * (float) integers, y);
      }
    }
    return y;
  }

  private static Rounded round(float[] x) {
    long[] integers = new long[x.length];
    float[] scales = new float[x.length / 32];
    for (int block = 0; block < scales.length; block++) {
      float largest = 0;
      boolean finite = true;
      for (int k = block * 32; k < block * 32 + 32; k++) {
        largest = Math.max(largest, Math.abs(x[k]));
        finite &= Float.isFinite(x[k]);
      }
      if (!finite) {
        scales[block] = Float.NaN;
      } else if (largest >= 0x1p-100f) {
        scales[block] = largest / 32767f;
        for (int k = block * 32; k < block * 32 + 32; k++) {
          integers[k] = (long) Math.rint(x[k] * (32767f / largest));
        }
      }
    }
    return new Rounded(integers, scales);
  }
}
