package io.radixflow.kernels.cpu.kernel;

/**
 * Operations on weights at addresses, in native code (weights.c). {@code NativePanels} describes
 * the layouts and checks all bounds, because the native code checks none.
 *
 * <p>Arrays are pinned while a method runs; see {@link ArrayPinning}.
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
   * Multiplies rows with panels of codes. Element (row, panel, lane) goes to {@code out[at + row *
   * stride + (panel - first) * PANEL + lane]}.
   *
   * @param scale how scales are stored; the order is the same as in kernels.h
   * @param units units of scales that are factors, else 0
   * @param bias initial values of the outputs, by panel and lane from {@code biasAt} on; or null
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
      float[] bias,
      int biasAt,
      int first,
      int end,
      int[] pairs,
      float[] rowScales,
      float[] sums,
      int[] numbers,
      int number,
      int rows,
      float[] out,
      int at,
      int stride);

  /**
   * Adds the product of a panel of 16-bit floats and 1 to 8 rows to {@code out}.
   *
   * @param in element (row, k) at {@code row * inStride + k}
   * @param out element (row, lane) at {@code at + row * outStride + lane}
   */
  public static native void multiplyHalves(
      int isa,
      long values,
      boolean bfloat16,
      int columns,
      float[] in,
      int inStride,
      int rows,
      float[] out,
      int at,
      int outStride);

  /** Adds the product of a panel of floats and one row to {@code out[at ..]}. */
  public static native void multiplyFloats(
      int isa, long values, int columns, float[] in, float[] out, int at);

  /**
   * Unpacks at most 256 columns of a panel.
   *
   * @param kind ordinal of the {@link Kind}
   * @param lane a lane whose weights go to {@code out[at + k]}; or -1: then weight (k, lane) goes
   *     to {@code out[at + k * PANEL + lane]}
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
      float[] out,
      int at);

  /** Copies the first bytes of an array of primitives to an address. */
  public static native void put(long to, Object from, long bytes);
}
