package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.weights.FactorScales;
import io.radixflow.kernels.cpu.weights.FloatScales;
import io.radixflow.kernels.cpu.weights.HalfScales;
import io.radixflow.kernels.cpu.weights.Scales;
import io.radixflow.kernels.model.BlockCodes;
import io.radixflow.kernels.model.TensorType;

/**
 * How panels hold the weights of a type. Types of one form can share panels.
 *
 * @param bits of a code
 * @param block columns of a scale; 1 without scales
 * @param minima whether blocks have minima of their own
 * @param offset added to codes so that they have no sign; its product with a scale is the minimum
 *     then, but for a sign
 */
record PanelForm(
    Codes codes, int bits, ScaleType scaleType, int block, boolean minima, int offset) {

  /** What a code is. */
  enum Codes {
    NIBBLE,
    BYTE,
    FLOAT8,
    HALF,
    BRAIN,
    FLOAT
  }

  /** How scales and minima are stored. */
  enum ScaleType {
    NONE,
    FLOAT,
    HALF,
    FACTOR
  }

  static final PanelForm FLOATS = plain(Codes.FLOAT, 32);

  static PanelForm of(TensorType type) {
    return switch (type) {
      case Q4_0 -> new PanelForm(Codes.NIBBLE, 4, ScaleType.HALF, 32, false, 8);
      case Q4_1 -> new PanelForm(Codes.NIBBLE, 4, ScaleType.HALF, 32, true, 0);
      case Q4_K -> new PanelForm(Codes.NIBBLE, 4, ScaleType.FACTOR, 32, true, 0);
      case INT4 -> new PanelForm(Codes.NIBBLE, 4, ScaleType.FLOAT, 32, true, 0);
      case Q2_K -> new PanelForm(Codes.BYTE, 2, ScaleType.FACTOR, 16, true, 0);
      case Q3_K -> new PanelForm(Codes.BYTE, 3, ScaleType.FACTOR, 16, false, 4);
      case Q5_1 -> new PanelForm(Codes.BYTE, 5, ScaleType.HALF, 32, true, 0);
      case Q5_K -> new PanelForm(Codes.BYTE, 5, ScaleType.FACTOR, 32, true, 0);
      case Q6_K -> new PanelForm(Codes.BYTE, 8, ScaleType.FACTOR, 16, false, 0);
      case Q8_0, Q5_0, IQ4_NL -> new PanelForm(Codes.BYTE, 8, ScaleType.HALF, 32, false, 0);
      case IQ4_XS -> new PanelForm(Codes.BYTE, 8, ScaleType.FACTOR, 32, false, 0);
      case INT8, MXFP4 -> new PanelForm(Codes.BYTE, 8, ScaleType.FLOAT, 32, false, 0);
      case FP8 -> new PanelForm(Codes.FLOAT8, 8, ScaleType.FLOAT, 32, false, 0);
      case F16 -> plain(Codes.HALF, 16);
      case BF16 -> plain(Codes.BRAIN, 16);
      case F32 -> FLOATS;
    };
  }

  private static PanelForm plain(Codes codes, int bits) {
    return new PanelForm(codes, bits, ScaleType.NONE, 1, false, 0);
  }

  /** Bytes of whole blocks of weights. */
  long bytes(long elements) {
    long blocks = elements / block * kinds();
    long scales =
        switch (scaleType) {
          case NONE -> 0;
          case FLOAT -> blocks * Float.BYTES;
          case HALF -> blocks * Short.BYTES;
          case FACTOR -> blocks + elements / BlockCodes.UNIT * kinds() * Float.BYTES;
        };
    return elements * bits / 8 + scales;
  }

  private int kinds() {
    return minima ? 2 : 1;
  }

  /** Returns zero scales for some panels. */
  Scales scales(int panels, int columns) {
    int blocks = columns / block;
    int count = Math.multiplyExact(panels * PANEL * kinds(), blocks);
    return switch (scaleType) {
      case NONE -> throw new IllegalArgumentException(codes + " has no scales");
      case FLOAT -> new FloatScales(block, blocks, minima, -offset, new float[count]);
      case HALF -> new HalfScales(block, blocks, minima, -offset, new short[count]);
      case FACTOR ->
          new FactorScales(
              block,
              columns,
              minima,
              -offset,
              new byte[count],
              new float[panels * PANEL * kinds() * (columns / BlockCodes.UNIT)]);
    };
  }
}
