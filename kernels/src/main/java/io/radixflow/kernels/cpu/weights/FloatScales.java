package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.model.BlockCodes;

/**
 * Scales of 32 bits.
 *
 * @param blocks of a row
 * @param minima whether minima are stored
 * @param offset times the scale is the minimum where none is stored
 * @param values float[panel][block][scale, minimum if stored][PANEL]
 */
public record FloatScales(int block, int blocks, boolean minima, int offset, float[] values)
    implements Scales {

  private int at(int panel, int block) {
    return (panel * blocks + block) * (minima ? 2 : 1) * PANEL;
  }

  @Override
  public void widen(Kernels kernels, int panel, int from, int to, float[] out) {
    int at = at(panel, from / block);
    int count = (to - from) / block;
    if (minima) {
      System.arraycopy(values, at, out, 0, count * 2 * PANEL);
    } else {
      kernels.scalesOfFloats(values, at, count, offset, out);
    }
  }

  @Override
  public float scale(int panel, int lane, int block) {
    return values[at(panel, block) + lane];
  }

  @Override
  public float minimum(int panel, int lane, int block) {
    int at = at(panel, block) + lane;
    return minima ? values[at + PANEL] : offset * values[at];
  }

  @Override
  public void put(int panel, int lane, BlockCodes row) {
    for (int i = 0; i < blocks; i++) {
      int at = at(panel, i) + lane;
      values[at] = row.scales[i];
      if (minima) {
        values[at + PANEL] = row.minima[i];
      }
    }
  }

  @Override
  public long bytes() {
    return 4L * values.length;
  }
}
