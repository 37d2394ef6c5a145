package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.models.Float16;

/**
 * 16-bit floats: F16 and BF16.
 *
 * @param bfloat16 whether the values are bfloat16 instead of binary16
 * @param values short[panel][k][PANEL]
 */
public record HalfPanels(int rows, int columns, boolean bfloat16, short[] values)
    implements Panels {

  @Override
  public void unpack(Kernels kernels, int panel, int from, int to, Floats out, float[] scratch) {
    int at = (panel * columns + from) * PANEL;
    for (int i = 0; i < (to - from) * PANEL; i++) {
      out.set(i, widen(values[at + i]));
    }
  }

  @Override
  public void row(int row, Floats out, int offset) {
    int at = row / PANEL * columns * PANEL + row % PANEL;
    for (int k = 0; k < columns; k++) {
      out.set(offset + k, widen(values[at + k * PANEL]));
    }
  }

  private float widen(short value) {
    return bfloat16 ? Float.intBitsToFloat(value << 16) : Float16.toFloat(value);
  }

  @Override
  public long bytes() {
    return 2L * values.length;
  }
}
