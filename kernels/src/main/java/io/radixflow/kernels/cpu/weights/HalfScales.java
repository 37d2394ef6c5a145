package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.model.BlockCodes;
import io.radixflow.kernels.model.Float16;

/**
 * Scales that are floats of 16 bits in the file.
 *
 * @param blocks of a row
 * @param minima whether minima are stored
 * @param offset times the scale is the minimum where none is stored
 * @param values short[panel][block][scale, minimum if stored][PANEL]
 */
public record HalfScales(int block, int blocks, boolean minima, int offset, short[] values)
    implements Scales {

  private int at(int panel, int block) {
    return (panel * blocks + block) * (minima ? 2 : 1) * PANEL;
  }

  @Override
  public void widen(Kernels kernels, int panel, int from, int to, float[] out) {
    int at = at(panel, from / block);
    int count = (to - from) / block;
    if (minima) {
      kernels.widenHalf(values, at, count * 2 * PANEL, out, 0);
    } else {
      kernels.scalesOfHalves(values, at, count, offset, out);
    }
  }

  @Override
  public float scale(int panel, int lane, int block) {
    return Float16.toFloat(values[at(panel, block) + lane]);
  }

  @Override
  public float minimum(int panel, int lane, int block) {
    int at = at(panel, block) + lane;
    return minima ? Float16.toFloat(values[at + PANEL]) : offset * Float16.toFloat(values[at]);
  }

  @Override
  public void put(int panel, int lane, BlockCodes row) {
    for (int i = 0; i < blocks; i++) {
      int at = at(panel, i) + lane;
      values[at] = Float16.fromFloat(row.scales[i]);
      if (minima) {
        values[at + PANEL] = Float16.fromFloat(row.minima[i]);
      }
    }
  }

  @Override
  public long bytes() {
    return 2L * values.length;
  }
}
