package io.radixflow.kernels.cuda.weights;

import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;

/** Conversions between float and bf16, which is the upper half of binary32. */
public final class BFloat16 {

  /** Bytes per element. */
  public static final int BYTES = 2;

  private BFloat16() {}

  /** Rounds to nearest, ties to even. NaN stays NaN. */
  public static short fromFloat(float value) {
    int bits = Float.floatToRawIntBits(value);
    if ((bits & 0x7fffffff) > 0x7f800000) {
      return (short) (bits >>> 16 | 0x40);
    }
    return (short) (bits + 0x7fff + (bits >>> 16 & 1) >>> 16);
  }

  /** Widens to float, exactly. */
  public static float toFloat(short bf16) {
    return Float.intBitsToFloat(bf16 << 16);
  }

  /**
   * Writes one row of a tensor of any type. Rejects values that are not finite in bf16.
   *
   * @param target a buffer in native byte order, which receives {@code columns} elements from byte
   *     {@code at} on
   * @param scratch at least {@code columns} floats
   */
  static void writeRow(Tensor tensor, int row, ByteBuffer target, int at, float[] scratch) {
    int columns = tensor.columns();
    if (tensor.type() == TensorType.BF16) {
      target.put(at, tensor.rows(row, 1), 0, columns * BYTES);
    } else {
      tensor.dequantize(row, scratch, 0);
      for (int i = 0; i < columns; i++) {
        target.putShort(at + i * BYTES, fromFloat(scratch[i]));
      }
    }
    FiniteDeviceRows.requireBf16(tensor, row, target, at);
  }
}
