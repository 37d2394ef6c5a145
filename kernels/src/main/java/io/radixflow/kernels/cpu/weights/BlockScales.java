package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.models.Float16;

/**
 * The scales of panels of codes, and the minima if the encoding has them, in the precision of the
 * file: {@code [panel][block][scales, minima][PANEL]}.
 *
 * @param form how the scales are stored
 * @param block columns per scale: 16 or 32
 * @param minima whether there are minima
 * @param columns columns of the matrix
 * @param floats the values, with {@link Form#FLOAT}; else null
 * @param halves the values as binary16, with {@link Form#HALF}; with {@link Form#FACTOR} the units,
 *     {@code [panel][256 columns][scales, minima][PANEL]}; else null
 * @param factors factors of the units, with {@link Form#FACTOR}; else null
 */
public record BlockScales(
    Form form,
    int block,
    boolean minima,
    int columns,
    float[] floats,
    short[] halves,
    byte[] factors) {

  /** How scales are stored. NativeOrderTest compares the order with kernels.h. */
  public enum Form {
    FLOAT(Float.BYTES),
    HALF(Short.BYTES),
    FACTOR(Byte.BYTES);

    private final int bytes;

    Form(int bytes) {
      this.bytes = bytes;
    }

    /** Bytes of a scale, or of its factor. */
    int bytes() {
      return bytes;
    }
  }

  /** Columns per unit. */
  static final int UNIT = 256;

  /** Allocates scales of zero. */
  public static BlockScales allocate(
      Form form, int block, boolean minima, int panels, int columns) {
    int count = Math.toIntExact((long) panels * (columns / block) * parts(minima) * PANEL);
    int units = Math.toIntExact((long) panels * (columns / UNIT) * parts(minima) * PANEL);
    return new BlockScales(
        form,
        block,
        minima,
        columns,
        form == Form.FLOAT ? new float[count] : null,
        form == Form.HALF ? new short[count] : form == Form.FACTOR ? new short[units] : null,
        form == Form.FACTOR ? new byte[count] : null);
  }

  /** Bytes of the scales of {@code elements} weights. */
  public static long bytes(Form form, int block, boolean minima, long elements) {
    long count = elements / block * parts(minima);
    long units = form == Form.FACTOR ? elements / UNIT * parts(minima) : 0;
    return count * form.bytes() + units * Short.BYTES;
  }

  private static int parts(boolean minima) {
    return minima ? 2 : 1;
  }

  /** 1 if there are only scales, 2 if there are also minima. */
  public int parts() {
    return parts(minima);
  }

  /** The array of scales and minima, or of their factors. */
  public Object values() {
    return switch (form) {
      case FLOAT -> floats;
      case HALF -> halves;
      case FACTOR -> factors;
    };
  }

  /** Index of the scales of a panel's block in floats, halves or factors. */
  public int at(int panel, int index) {
    return (panel * (columns / block) + index) * parts() * PANEL;
  }

  /** Index of a panel's units for the 256 columns with number {@code index}. */
  public int unitsAt(int panel, int index) {
    return (panel * (columns / UNIT) + index) * parts() * PANEL;
  }

  /** The scale (part 0) or minimum (part 1) of one column. */
  float value(int panel, int column, int part, int lane) {
    int at = at(panel, column / block) + part * PANEL + lane;
    return switch (form) {
      case FLOAT -> floats[at];
      case HALF -> Float16.toFloat(halves[at]);
      case FACTOR -> {
        int unit = unitsAt(panel, column / UNIT) + part * PANEL + lane;
        yield Float16.toFloat(halves[unit]) * factors[at];
      }
    };
  }

  /**
   * Widens the scales of columns {@code from} to {@code to}, which are whole blocks, to {@code
   * [block][scales, minima][PANEL]} from index 0 on.
   */
  public void unpack(int panel, int from, int to, float[] out) {
    int at = at(panel, from / block);
    int count = (to - from) / block * parts() * PANEL;
    switch (form) {
      case FLOAT -> System.arraycopy(floats, at, out, 0, count);
      case HALF -> widen(at, count, out, 0);
      default -> unpackFactors(panel, from, to, out);
    }
  }

  private void widen(int from, int count, float[] out, int at) {
    for (int i = 0; i < count; i++) {
      out[at + i] = Float16.toFloat(halves[from + i]);
    }
  }

  private void unpackFactors(int panel, int from, int to, float[] out) {
    int width = parts() * PANEL;
    for (int column = from; column < to; column += block) {
      int o = (column - from) / block * width;
      widen(unitsAt(panel, column / UNIT), width, out, o);
      int at = at(panel, column / block);
      for (int i = 0; i < width; i++) {
        out[o + i] *= factors[at + i];
      }
    }
  }

  /** Bytes in memory. */
  long bytes() {
    return (floats == null ? 0 : 4L * floats.length)
        + (halves == null ? 0 : 2L * halves.length)
        + (factors == null ? 0 : factors.length);
  }
}
