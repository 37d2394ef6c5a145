package io.radixflow.kernels.cpu.kernel;

import java.nio.ByteBuffer;

/**
 * Moves rows of a file into lanes of a panel in native code (repack.c). The result is identical to
 * the result of the Java code, bit for bit. {@code NativePanels} checks all bounds, because the
 * native code checks none.
 *
 * <p>{@code count} rows are contiguous in a direct buffer from {@code from} on. Each address
 * belongs to the first lane. Each method returns whether all scales, minima or floats are finite
 * and no scale can make an infinite weight.
 */
public final class NativeRepacking {

  private NativeRepacking() {}

  /**
   * Moves rows of a block-quantised type other than FP8.
   *
   * @param type ordinal of the type
   * @param units address of the units if scales are factors, else 0
   */
  public static native boolean codes(
      int type,
      ByteBuffer rows,
      int from,
      int rowBytes,
      int columns,
      int count,
      long codes,
      long scales,
      long units);

  /** Moves rows of F16 or BF16 to {@code short[k][PANEL]}. */
  public static native boolean halves(
      boolean bfloat16, ByteBuffer rows, int from, int columns, int count, long out);

  /** Moves rows of FP8 to {@code byte[k][PANEL]} and {@code float[block][PANEL]}. */
  public static native boolean float8(
      ByteBuffer rows, int from, int columns, int count, long codes, long scales);

  /** Moves rows of F32 to {@code float[k][PANEL]}. */
  public static native boolean floats(ByteBuffer rows, int from, int columns, int count, long out);
}
