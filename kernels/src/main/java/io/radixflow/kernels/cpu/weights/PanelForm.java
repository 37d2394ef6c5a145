package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.CodeForm;
import io.radixflow.models.TensorType;

/** The form of weights in panels. Types with the same form can share panels. */
public enum PanelForm {
  Q4_0(CodeForm.SIGNED_NIBBLE, BlockScales.Form.HALF, 32, false, false),
  Q4_1(CodeForm.NIBBLE, BlockScales.Form.HALF, 32, true, false),
  Q4_K(CodeForm.NIBBLE, BlockScales.Form.FACTOR, 32, true, false),
  INT4(CodeForm.NIBBLE, BlockScales.Form.FLOAT, 32, true, false),
  Q5_0(CodeForm.SIX, BlockScales.Form.HALF, 32, false, false),
  Q8_0(CodeForm.BYTE, BlockScales.Form.HALF, 32, false, true),
  INT8(CodeForm.BYTE, BlockScales.Form.FLOAT, 32, false, true),
  MXFP4(CodeForm.BYTE, BlockScales.Form.FLOAT, 32, false, false),
  IQ4_XS(CodeForm.BYTE, BlockScales.Form.FACTOR, 32, false, true),
  Q5_1(CodeForm.SIX, BlockScales.Form.HALF, 32, true, true),
  Q5_K(CodeForm.SIX, BlockScales.Form.FACTOR, 32, true, true),
  Q6_K(CodeForm.SIX, BlockScales.Form.FACTOR, 16, false, false),
  Q2_K(CodeForm.SIX, BlockScales.Form.FACTOR, 16, true, false),
  FLOAT8(8),
  HALF(16),
  BFLOAT16(16),
  FLOAT(32);

  /** Layout of the codes; null if weights are floats. */
  final CodeForm codes;

  final BlockScales.Form scales;
  final int block;
  final boolean minima;

  /** See {@link BlockPanels#wide}. */
  private final boolean wide;

  private final int bits;

  PanelForm(CodeForm codes, BlockScales.Form scales, int block, boolean minima, boolean wide) {
    this.codes = codes;
    this.scales = scales;
    this.block = block;
    this.minima = minima;
    this.wide = wide;
    bits = codes.bits();
  }

  PanelForm(int bits) {
    this.bits = bits;
    codes = null;
    scales = BlockScales.Form.FLOAT;
    block = Float8Panels.BLOCK;
    minima = false;
    wide = false;
  }

  /** The form of a type. */
  public static PanelForm of(TensorType type) {
    return switch (type) {
      case Q4_0 -> Q4_0;
      case Q4_1 -> Q4_1;
      case Q4_K -> Q4_K;
      case INT4 -> INT4;
      case Q5_0 -> Q5_0;
      case Q8_0, IQ4_NL -> Q8_0;
      case INT8 -> INT8;
      case MXFP4 -> MXFP4;
      case IQ4_XS -> IQ4_XS;
      case Q5_1 -> Q5_1;
      case Q5_K -> Q5_K;
      case Q6_K, Q3_K -> Q6_K;
      case Q2_K -> Q2_K;
      case FP8 -> FLOAT8;
      case F16 -> HALF;
      case BF16 -> BFLOAT16;
      case F32 -> FLOAT;
    };
  }

  /** Bytes of {@code elements} weights, which are whole blocks. */
  public long bytes(long elements) {
    return codeBytes(elements) + scaleBytes(elements);
  }

  /** Bytes of the array of codes or floats. */
  public long codeBytes(long elements) {
    return elements * bits / 8;
  }

  /** Bytes of scales and minima, with their units. */
  public long scaleBytes(long elements) {
    if (codes != null) {
      return BlockScales.bytes(scales, block, minima, elements);
    }
    return this == FLOAT8 ? elements / block * Float.BYTES : 0;
  }

  /** Bytes of the units of scales that are factors; otherwise 0. */
  long unitBytes(long elements) {
    boolean factors = codes != null && scales == BlockScales.Form.FACTOR;
    return factors ? elements / BlockScales.UNIT * parts() * Short.BYTES : 0;
  }

  /** 2 if there are minima, else 1. */
  int parts() {
    return minima ? 2 : 1;
  }

  /**
   * Allocates panels of zeros in Java's heap.
   *
   * @param rows rows of the matrix; {@code rows} in whole panels times {@code columns} must fit
   *     into an array
   */
  public Panels allocate(int rows, int columns) {
    int panels = (rows + PANEL - 1) / PANEL;
    int size = panels * PANEL * columns;
    return switch (this) {
      case FLOAT8 ->
          new Float8Panels(rows, columns, new byte[size], new float[size / Float8Panels.BLOCK]);
      case HALF, BFLOAT16 -> new HalfPanels(rows, columns, this == BFLOAT16, new short[size]);
      case FLOAT -> new FloatPanels(rows, columns, new float[size]);
      default -> {
        int words = panels * (columns / CodeForm.BLOCK) * codes.words() * PANEL;
        BlockScales zeros = BlockScales.allocate(scales, block, minima, panels, columns);
        yield new BlockPanels(rows, columns, codes, new int[words], zeros, wide);
      }
    };
  }
}
