package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

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
  public void unpack(Kernels kernels, int panel, int from, int to, float[] out, float[] scratch) {
    int at = (panel * columns + from) * PANEL;
    if (bfloat16) {
      kernels.widenBfloat16(values, at, (to - from) * PANEL, out, 0);
    } else {
      kernels.widenHalf(values, at, (to - from) * PANEL, out, 0);
    }
  }

  @Override
  public void row(int row, float[] out, int offset) {
    int at = row / PANEL * columns * PANEL + row % PANEL;
    for (int k = 0; k < columns; k++) {
      short value = values[at + k * PANEL];
      out[offset + k] = bfloat16 ? Float.intBitsToFloat(value << 16) : Float16.toFloat(value);
    }
  }

  @Override
  public long bytes() {
    return 2L * values.length;
  }
}
