package io.radixflow.kernels.cpu.kernel;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.models.TensorType;
import java.lang.reflect.Array;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Moves rows of a file into lanes of a panel in native code (repack.c). The result is identical to
 * the result of the Java code, bit for bit. This class checks all bounds, because the native code
 * checks none. Stateless and safe for many threads; arrays are pinned while a method runs, for less
 * than a millisecond.
 *
 * <p>Rows are contiguous in a direct buffer from its position on. The position does not move. Each
 * method returns whether all scales, minima or floats are finite and no scale can make an infinite
 * weight.
 */
public final class NativeRepacking {

  /**
   * @param loaded shows that the library is loaded
   */
  public NativeRepacking(NativeKernels loaded) {
    Objects.requireNonNull(loaded);
  }

  /**
   * Moves rows of a block-quantised type other than FP8.
   *
   * @param form the layout of the type's codes in a panel
   * @param count number of rows; each goes to one lane
   * @param codesAt index of the first lane's codes
   * @param scales {@code float[]}, {@code short[]} of binary16, or {@code byte[]} of factors
   * @param scalesAt index of the first lane's scales
   * @param parts 2 if scales are followed by minima, else 1
   * @param units units if {@code scales} are factors, else null
   */
  public boolean codes(
      TensorType type,
      CodeForm form,
      ByteBuffer rows,
      int columns,
      int count,
      int[] codes,
      int codesAt,
      Object scales,
      int scalesAt,
      int parts,
      short[] units,
      int unitsAt) {
    requireLayout(type, form, scales, parts, units);
    int rowBytes = rowBytes(type, columns);
    requireRows(rows, rowBytes, count);
    int words = columns / CodeForm.BLOCK * form.words();
    requireLanes(words, count, codesAt, codes.length);
    int perRow = columns / type.scaleElements() * parts;
    requireLanes(perRow, count, scalesAt, Array.getLength(scales));
    if (units != null) {
      requireLanes(columns / type.blockElements() * parts, count, unitsAt, units.length);
    }
    return codes(
        type.ordinal(),
        rows,
        rows.position(),
        rowBytes,
        columns,
        count,
        codes,
        codesAt,
        scales,
        scalesAt,
        units,
        unitsAt);
  }

  /** Moves rows of F16 or BF16 ({@code bfloat16}) to {@code short[k][PANEL]}. */
  public boolean halves(
      boolean bfloat16, ByteBuffer rows, int columns, int count, short[] out, int at) {
    requireRows(rows, columns * Short.BYTES, count);
    requireLanes(columns, count, at, out.length);
    return halves(bfloat16, rows, rows.position(), columns, count, out, at);
  }

  /** Moves rows of FP8 to {@code byte[k][PANEL]} and {@code float[block][PANEL]}. */
  public boolean float8(
      ByteBuffer rows,
      int columns,
      int count,
      byte[] codes,
      int codesAt,
      float[] scales,
      int scalesAt) {
    requireRows(rows, rowBytes(TensorType.FP8, columns), count);
    requireLanes(columns, count, codesAt, codes.length);
    requireLanes(columns / TensorType.FP8.blockElements(), count, scalesAt, scales.length);
    return float8(rows, rows.position(), columns, count, codes, codesAt, scales, scalesAt);
  }

  /**
   * Checks that a panel has the layout that the native code writes. The native code receives only
   * the type and cannot check the layout itself.
   */
  private static void requireLayout(
      TensorType type, CodeForm form, Object scales, int parts, short[] units) {
    CodeForm ownForm =
        switch (type) {
          case Q4_0 -> CodeForm.SIGNED_NIBBLE;
          case Q4_1, Q4_K, INT4 -> CodeForm.NIBBLE;
          case Q8_0, IQ4_NL, INT8, MXFP4, IQ4_XS -> CodeForm.BYTE;
          case Q5_0, Q5_1, Q2_K, Q3_K, Q5_K, Q6_K -> CodeForm.SIX;
          case F32, F16, BF16, FP8 -> null;
        };
    int ownParts =
        switch (type) {
          case Q4_1, Q5_1, Q2_K, Q4_K, Q5_K, INT4 -> 2;
          default -> 1;
        };
    boolean factors = type.blockElements() > CodeForm.BLOCK;
    Class<?> ownScales =
        switch (type) {
          case INT4, INT8, MXFP4 -> float[].class;
          default -> factors ? byte[].class : short[].class;
        };
    if (form != ownForm
        || parts != ownParts
        || !ownScales.isInstance(scales)
        || factors != (units != null)) {
      throw new IllegalArgumentException("the panel does not have the layout of " + type);
    }
  }

  private static int rowBytes(TensorType type, int columns) {
    if (columns <= 0 || columns % type.blockElements() != 0) {
      throw new IllegalArgumentException(columns + " columns are not whole blocks of " + type);
    }
    return Math.multiplyExact(columns / type.blockElements(), type.blockBytes());
  }

  private static void requireRows(ByteBuffer rows, int rowBytes, int count) {
    if (!rows.isDirect()) {
      throw new IllegalArgumentException("rows are not in a direct buffer");
    }
    Objects.checkFromIndexSize(rows.position(), Math.multiplyExact(rowBytes, count), rows.limit());
  }

  /**
   * Checks that an array has room for {@code perLane} elements of each lane, at a distance of
   * PANEL.
   */
  private static void requireLanes(int perLane, int count, int at, int length) {
    if (count < 1 || count > PANEL) {
      throw new IllegalArgumentException(count + " rows for a panel of " + PANEL);
    }
    long size = (perLane - 1L) * PANEL + count;
    if (at < 0 || size > length - (long) at) {
      throw new IndexOutOfBoundsException(
          String.format("%d lanes of %d from %d of %d", count, perLane, at, length));
    }
  }

  private static native boolean codes(
      int type,
      ByteBuffer rows,
      int from,
      int rowBytes,
      int columns,
      int count,
      int[] codes,
      int codesAt,
      Object scales,
      int scalesAt,
      short[] units,
      int unitsAt);

  private static native boolean halves(
      boolean bfloat16, ByteBuffer rows, int from, int columns, int count, short[] out, int at);

  private static native boolean float8(
      ByteBuffer rows,
      int from,
      int columns,
      int count,
      byte[] codes,
      int codesAt,
      float[] scales,
      int scalesAt);
}
