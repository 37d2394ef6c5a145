package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.NativeMemory;
import io.radixflow.kernels.cpu.kernel.NativeRepacking;
import io.radixflow.kernels.cpu.kernel.NativeWeights;
import io.radixflow.kernels.cpu.kernel.NativeWeights.Kind;
import io.radixflow.models.TensorType;
import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * Weights of any form outside Java's heap, for native code. The layouts are the same as in the
 * arrays of the other panels. The arrays of codes or floats, scales and units are consecutive.
 */
public final class NativePanels implements Panels {

  /** Each array begins at a multiple of this, the size of the largest vector. */
  private static final int ALIGNMENT = 64;

  /** Rows of 16-bit floats that are multiplied at once. */
  private static final int FEW_ROWS = 8;

  private final PanelForm form;
  private final int rows;
  private final int columns;
  private final int isa;
  private final long codes;
  private final long scales;
  private final long units;

  /**
   * @param fast the kernels that unpack
   * @param offset where the arrays begin in the memory, a multiple of 64
   */
  public NativePanels(
      PanelForm form, int rows, int columns, NativeKernels fast, NativeMemory memory, long offset) {
    this.form = form;
    this.rows = rows;
    this.columns = columns;
    isa = fast.isaNumber();
    long elements = (long) count() * PANEL * columns;
    codes = memory.address(offset, size(form, elements));
    scales = codes + aligned(form.codeBytes(elements));
    units = scales + aligned(form.scaleBytes(elements) - form.unitBytes(elements));
  }

  private NativePanels(NativePanels same, int isa) {
    form = same.form;
    rows = same.rows;
    columns = same.columns;
    this.isa = isa;
    codes = same.codes;
    scales = same.scales;
    units = same.units;
  }

  /** Returns the same weights, which other kernels unpack. */
  public NativePanels with(NativeKernels fast) {
    return new NativePanels(this, fast.isaNumber());
  }

  private static long aligned(long bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }

  /** Bytes of the arrays of {@code elements} weights; a multiple of 64. */
  public static long size(PanelForm form, long elements) {
    long unitBytes = form.unitBytes(elements);
    return aligned(form.codeBytes(elements))
        + aligned(form.scaleBytes(elements) - unitBytes)
        + aligned(unitBytes);
  }

  @Override
  public int rows() {
    return rows;
  }

  @Override
  public int columns() {
    return columns;
  }

  @Override
  public long bytes() {
    return form.bytes((long) count() * PANEL * columns);
  }

  /** The form of the weights. */
  public PanelForm form() {
    return form;
  }

  @Override
  public boolean hasIntegers() {
    return form.codes != null;
  }

  private Kind kind() {
    return switch (form) {
      case FLOAT8 -> Kind.FLOAT8;
      case HALF -> Kind.HALVES;
      case BFLOAT16 -> Kind.BFLOATS;
      case FLOAT -> Kind.FLOATS;
      default -> Kind.CODES;
    };
  }

  private int code() {
    return form.codes == null ? 0 : form.codes.ordinal();
  }

  private long codesAt(int panel, int column) {
    return codes + form.codeBytes(((long) panel * columns + column) * PANEL);
  }

  private long scalesAt(int panel, int column) {
    long elements = ((long) panel * columns + column) * PANEL;
    return scales + form.scaleBytes(elements) - form.unitBytes(elements);
  }

  private long unitsAt(int panel, int column) {
    return units + form.unitBytes(((long) panel * columns + column) * PANEL);
  }

  private void unpack(int panel, int from, int count, int lane, long out) {
    NativeWeights.unpack(
        isa,
        kind().ordinal(),
        code(),
        form.scales.ordinal(),
        form.block,
        form.minima,
        codesAt(panel, from),
        scalesAt(panel, from),
        unitsAt(panel, from),
        count,
        lane,
        out);
  }

  @Override
  public void unpack(
      Kernels kernels, int panel, int from, int to, Floats out, float[] scaleScratch) {
    Objects.checkIndex(panel, count());
    Objects.checkFromToIndex(from, to, columns);
    Objects.checkFromToIndex(0, to - from, DEPTH);
    unpack(panel, from, to - from, -1, out.address(0, (to - from) * PANEL));
  }

  @Override
  public void row(int row, Floats out, int offset) {
    Objects.checkIndex(row, rows);
    for (int from = 0; from < columns; from += DEPTH) {
      int count = Math.min(DEPTH, columns - from);
      unpack(row / PANEL, from, count, row % PANEL, out.address(offset + from, count));
    }
  }

  @Override
  public void timesVector(
      Kernels kernels,
      int panel,
      Floats x,
      Floats out,
      int offset,
      Floats scratch,
      float[] scaleScratch) {
    if (form != PanelForm.FLOAT) {
      Panels.super.timesVector(kernels, panel, x, out, offset, scratch, scaleScratch);
      return;
    }
    Objects.checkIndex(panel, count());
    long in = x.address(0, columns);
    NativeWeights.multiplyFloats(isa, codesAt(panel, 0), columns, in, out.address(offset, PANEL));
  }

  @Override
  public int fewRows(Kernels kernels) {
    return form == PanelForm.HALF || form == PanelForm.BFLOAT16 ? FEW_ROWS : 0;
  }

  @Override
  public void timesRows(
      Kernels kernels, int panel, Floats x, int xs, int count, Floats out, int offset, int os) {
    Objects.checkIndex(panel, count());
    Objects.checkFromToIndex(1, count, fewRows(kernels));
    boolean bfloat16 = form == PanelForm.BFLOAT16;
    long in = x.address(0, (count - 1) * xs + columns);
    long to = out.address(offset, (count - 1) * os + PANEL);
    NativeWeights.multiplyHalves(isa, codesAt(panel, 0), bfloat16, columns, in, xs, count, to, os);
  }

  /**
   * Multiplies rows of integers with panels of codes. The caller checks the bounds of the arrays;
   * {@link NativeWeights#multiply} describes them.
   *
   * @param isa the instruction set of the products
   */
  public void multiply(
      int isa,
      long bias,
      int first,
      int end,
      long pairs,
      long rowScales,
      long sums,
      int[] numbers,
      int number,
      int count,
      long out,
      int stride) {
    Objects.checkFromToIndex(first, end, count());
    Objects.requireNonNull(form.codes);
    NativeWeights.multiply(
        isa,
        code(),
        form.scales.ordinal(),
        form.block,
        form.minima,
        columns,
        codes,
        scales,
        units,
        bias,
        first,
        end,
        pairs,
        rowScales,
        sums,
        numbers,
        number,
        count,
        out,
        stride);
  }

  /** Returns whether {@link #move} can move rows of a type. */
  public boolean takes(TensorType type) {
    return PanelForm.of(type) == form && columns % type.blockElements() == 0;
  }

  /**
   * Fills lanes of a panel with rows of the file. Threads may fill different lanes at once.
   *
   * @param rows a direct buffer whose position is at the first of {@code count} rows; the position
   *     does not move
   * @return whether all scales, minima or floats are finite and no scale can make an infinite
   *     weight
   */
  public boolean move(TensorType type, ByteBuffer rows, int panel, int lane, int count) {
    Objects.checkIndex(panel, count());
    Objects.checkFromIndexSize(lane, count, PANEL);
    if (!takes(type) || !rows.isDirect()) {
      throw new IllegalArgumentException("no rows of " + type + " for panels of " + form);
    }
    int rowBytes = Math.multiplyExact(columns / type.blockElements(), type.blockBytes());
    int at = rows.position();
    Objects.checkFromIndexSize(at, Math.multiplyExact(rowBytes, count), rows.limit());
    long to = codesAt(panel, 0);
    return switch (form) {
      case FLOAT -> NativeRepacking.floats(rows, at, columns, count, to + 4L * lane);
      case HALF, BFLOAT16 ->
          NativeRepacking.halves(
              form == PanelForm.BFLOAT16, rows, at, columns, count, to + 2L * lane);
      case FLOAT8 ->
          NativeRepacking.float8(
              rows, at, columns, count, to + lane, scalesAt(panel, 0) + 4L * lane);
      default ->
          NativeRepacking.codes(
              type.ordinal(),
              rows,
              at,
              rowBytes,
              columns,
              count,
              to + 4L * lane,
              scalesAt(panel, 0) + (long) form.scales.bytes() * lane,
              form.unitBytes(PANEL * columns) == 0 ? 0 : unitsAt(panel, 0) + 2L * lane);
    };
  }

  /** Fills a panel with the only panel of other panels. */
  public void put(int panel, Panels one) {
    if (one instanceof BlockPanels blocks) {
      putArray(codesAt(panel, 0), blocks.codes(), 4L * blocks.codes().length);
      BlockScales values = blocks.scales();
      long bytes = form.scaleBytes((long) columns * PANEL);
      long unitBytes = form.unitBytes((long) columns * PANEL);
      putArray(scalesAt(panel, 0), values.values(), bytes - unitBytes);
      if (unitBytes > 0) {
        putArray(unitsAt(panel, 0), values.halves(), unitBytes);
      }
    } else if (one instanceof Float8Panels float8) {
      putArray(codesAt(panel, 0), float8.codes(), float8.codes().length);
      putArray(scalesAt(panel, 0), float8.scales(), 4L * float8.scales().length);
    } else if (one instanceof HalfPanels halves) {
      putArray(codesAt(panel, 0), halves.values(), 2L * halves.values().length);
    } else {
      float[] values = ((FloatPanels) one).values();
      putArray(codesAt(panel, 0), values, 4L * values.length);
    }
  }

  private void putArray(long to, Object array, long bytes) {
    Objects.checkFromIndexSize(to - codes, bytes, size(form, (long) count() * PANEL * columns));
    NativeWeights.put(to, array, (int) bytes);
  }
}
