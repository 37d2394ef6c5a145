package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.model.BlockCodes;

/**
 * Scales that are 8-bit factors of a unit, a float for each {@link BlockCodes#UNIT} columns; and so
 * are minima. Their products are exact.
 *
 * @param columns of a row
 * @param minima whether minima are stored
 * @param offset times the scale is the minimum where none is stored
 * @param factors byte[panel][block][of the scale, of the minimum if stored][PANEL]
 * @param units float[panel][unit][of scales, of minima if stored][PANEL]
 */
public record FactorScales(
    int block, int columns, boolean minima, int offset, byte[] factors, float[] units)
    implements Scales {

  private int kinds() {
    return minima ? 2 : 1;
  }

  private int factorAt(int panel, int block) {
    return (panel * (columns / this.block) + block) * kinds() * PANEL;
  }

  private int unitAt(int panel, int block) {
    int unit = block * this.block / BlockCodes.UNIT;
    return (panel * (columns / BlockCodes.UNIT) + unit) * kinds() * PANEL;
  }

  @Override
  public void widen(Kernels kernels, int panel, int from, int to, float[] out) {
    int first = from / block;
    int at = factorAt(panel, first);
    int unit = unitAt(panel, first);
    int count = (to - from) / block;
    if (minima) {
      kernels.scalesAndMinimaOfFactors(factors, at, units, unit, count, out);
    } else {
      kernels.scalesOfFactors(factors, at, units, unit, count, offset, out);
    }
  }

  @Override
  public float scale(int panel, int lane, int block) {
    return factors[factorAt(panel, block) + lane] * units[unitAt(panel, block) + lane];
  }

  @Override
  public float minimum(int panel, int lane, int block) {
    return minima ? scale(panel, lane + PANEL, block) : offset * scale(panel, lane, block);
  }

  @Override
  public void put(int panel, int lane, BlockCodes row) {
    for (int i = 0; i < columns / block; i++) {
      int at = factorAt(panel, i) + lane;
      factors[at] = row.scaleFactors[i];
      if (minima) {
        factors[at + PANEL] = row.minimumFactors[i];
      }
    }
    for (int i = 0; i < columns / BlockCodes.UNIT; i++) {
      int at = unitAt(panel, i * (BlockCodes.UNIT / block)) + lane;
      units[at] = row.scaleUnits[i];
      if (minima) {
        units[at + PANEL] = row.minimumUnits[i];
      }
    }
  }

  @Override
  public long bytes() {
    return factors.length + 4L * units.length;
  }
}
