package io.radixflow.kernels.cpu.kernel;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Operations on weights at addresses, in native code (weights.c). {@code NativePanels} describes
 * the layouts and checks all bounds, because the native code checks none.
 */
public final class NativeWeights {

  /** The kinds of weights. NativeOrderTest compares the order with weights.c. */
  public enum Kind {
    CODES,
    FLOAT8,
    HALVES,
    BFLOATS,
    FLOATS
  }

  private NativeWeights() {}

  /**
   * Multiplies rows with panels of codes. Element (row, panel, lane) goes to {@code out[row *
   * stride + (panel - first) * PANEL + lane]}.
   *
   * @param scale how scales are stored; the order is the same as in kernels.h
   * @param units units of scales that are factors, else 0
   * @param bias initial values of the outputs, by lane, from panel {@code first} on; or 0
   * @param numbers row numbers in {@code pairs}, {@code rowScales} and {@code sums}, from index
   *     {@code number} on
   */
  public static native void multiply(
      int isa,
      int code,
      int scale,
      int block,
      boolean minima,
      int columns,
      long codes,
      long scales,
      long units,
      long bias,
      int first,
      int end,
      long pairs,
      long rowScales,
      long sums,
      int[] numbers,
      int number,
      int rows,
      long out,
      int stride);

  /**
   * Adds the product of a panel of 16-bit floats and 1 to 8 rows to {@code out}.
   *
   * @param in element (row, k) at {@code row * inStride + k}
   * @param out element (row, lane) at {@code row * outStride + lane}
   */
  public static native void multiplyHalves(
      int isa,
      long values,
      boolean bfloat16,
      int columns,
      long in,
      int inStride,
      int rows,
      long out,
      int outStride);

  /** Adds the product of a panel of floats and one row to {@code out}. */
  public static native void multiplyFloats(int isa, long values, int columns, long in, long out);

  /**
   * Unpacks at most 256 columns of a panel.
   *
   * @param kind ordinal of the {@link Kind}
   * @param lane a lane whose weights go to {@code out[k]}; or -1: then weight (k, lane) goes to
   *     {@code out[k * PANEL + lane]}
   */
  public static native void unpack(
      int isa,
      int kind,
      int code,
      int scale,
      int block,
      boolean minima,
      long codes,
      long scales,
      long units,
      int columns,
      int lane,
      long out);

  /** Copies the first bytes of an array of primitives to an address. */
  public static void put(long to, Object from, int bytes) {
    ByteBuffer memory = OffHeap.buffer(to, bytes).order(ByteOrder.nativeOrder());
    if (from instanceof int[] ints) {
      memory.asIntBuffer().put(ints, 0, bytes / Integer.BYTES);
    } else if (from instanceof short[] shorts) {
      memory.asShortBuffer().put(shorts, 0, bytes / Short.BYTES);
    } else if (from instanceof float[] floats) {
      memory.asFloatBuffer().put(floats, 0, bytes / Float.BYTES);
    } else {
      memory.put((byte[]) from, 0, bytes);
    }
  }
}
