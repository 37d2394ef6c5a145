package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;

/**
 * 32-bit floats.
 *
 * @param values float[panel][k][PANEL]
 */
public record FloatPanels(int rows, int columns, float[] values) implements Panels {

  @Override
  public void unpack(Kernels kernels, int panel, int from, int to, Floats out, float[] scratch) {
    out.put(0, values, (panel * columns + from) * PANEL, (to - from) * PANEL);
  }

  @Override
  public void row(int row, Floats out, int offset) {
    int at = row / PANEL * columns * PANEL + row % PANEL;
    for (int k = 0; k < columns; k++) {
      out.set(offset + k, values[at + k * PANEL]);
    }
  }

  @Override
  public long bytes() {
    return 4L * values.length;
  }
}
