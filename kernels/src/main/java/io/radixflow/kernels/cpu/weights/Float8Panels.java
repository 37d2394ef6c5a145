package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.models.Float8;

/**
 * 8-bit floats with one scale per {@value #BLOCK} columns: FP8.
 *
 * @param codes byte[panel][k][PANEL]
 * @param scales float[panel][block of k][PANEL]
 */
public record Float8Panels(int rows, int columns, byte[] codes, float[] scales) implements Panels {

  public static final int BLOCK = 32;

  private int codesAt(int panel, int column) {
    return (panel * columns + column) * PANEL;
  }

  private int scalesAt(int panel, int column) {
    return (panel * columns + column) / BLOCK * PANEL;
  }

  @Override
  public void unpack(Kernels kernels, int panel, int from, int to, Floats out, float[] scratch) {
    kernels.unpackFloat8(
        codes,
        codesAt(panel, from),
        scales,
        scalesAt(panel, from),
        BLOCK,
        (to - from) / BLOCK,
        out);
  }

  @Override
  public void row(int row, Floats out, int offset) {
    int panel = row / PANEL;
    int lane = row % PANEL;
    for (int k = 0; k < columns; k++) {
      float value = Float8.toFloat(codes[codesAt(panel, k) + lane]);
      out.set(offset + k, value * scales[scalesAt(panel, k) + lane]);
    }
  }

  @Override
  public long bytes() {
    return codes.length + 4L * scales.length;
  }
}
