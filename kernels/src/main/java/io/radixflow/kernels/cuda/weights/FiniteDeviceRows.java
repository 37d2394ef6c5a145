package io.radixflow.kernels.cuda.weights;

import io.radixflow.models.BlockCodes;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import java.nio.ByteBuffer;

/** Rejects rows with weights that are not finite in the file or on the device. */
final class FiniteDeviceRows {

  /** With a larger scale, a finite code could become an infinite weight. */
  private static final float MOST_SCALE = Float.MAX_VALUE / 512;

  private FiniteDeviceRows() {}

  /**
   * Dequantises a row.
   *
   * @throws ModelFormatException if a value is not finite
   */
  static void read(Tensor tensor, int row, float[] target) {
    tensor.dequantize(row, target, 0);
    for (int i = 0; i < tensor.columns(); i++) {
      if (!Float.isFinite(target[i])) {
        throw tensor.notFinite(row, target[i]);
      }
    }
  }

  /**
   * Checks a row of bf16 in native byte order.
   *
   * @param at byte offset of the row
   */
  static void requireBf16(Tensor tensor, int row, ByteBuffer values, int at) {
    for (int i = 0; i < tensor.columns(); i++) {
      float value = BFloat16.toFloat(values.getShort(at + i * BFloat16.BYTES));
      if (!Float.isFinite(value)) {
        throw tensor.notFinite(row, value);
      }
    }
  }

  /** Checks the scales of a row that was read. */
  static void requireScales(Tensor tensor, int row, BlockCodes codes) {
    requireScales(tensor, row, codes.scales);
    requireScales(tensor, row, codes.minima);
  }

  private static void requireScales(Tensor tensor, int row, float[] scales) {
    for (float scale : scales) {
      if (!(Math.abs(scale) <= MOST_SCALE)) {
        throw tensor.notFinite(row, scale);
      }
    }
  }
}
