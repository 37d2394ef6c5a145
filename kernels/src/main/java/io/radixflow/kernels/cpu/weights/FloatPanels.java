package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Kernels;

/**
 * 32-bit floats.
 *
 * @param values float[panel][k][PANEL]
 */
public record FloatPanels(int rows, int columns, float[] values) implements Panels {

  @Override
  public void unpack(Kernels kernels, int panel, int from, int to, float[] out, float[] scratch) {
    System.arraycopy(values, (panel * columns + from) * PANEL, out, 0, (to - from) * PANEL);
  }

  @Override
  public void timesVector(
      Kernels kernels,
      int panel,
      float[] x,
      float[] out,
      int offset,
      float[] scratch,
      float[] scales) {
    kernels.tile(1, x, 0, values, panel * columns * PANEL, columns, out, offset, PANEL);
  }

  @Override
  public void row(int row, float[] out, int offset) {
    int at = row / PANEL * columns * PANEL + row % PANEL;
    for (int k = 0; k < columns; k++) {
      out[offset + k] = values[at + k * PANEL];
    }
  }

  @Override
  public long bytes() {
    return 4L * values.length;
  }
}
