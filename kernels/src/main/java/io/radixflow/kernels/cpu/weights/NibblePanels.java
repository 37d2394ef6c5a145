package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Fma;
import io.radixflow.kernels.cpu.kernel.Kernels;

/**
 * 4-bit codes with a scale and a minimum for each 32 columns: Q4_0, Q4_1, Q4_K and INT4.
 *
 * @param codes int[panel][eighth of k][PANEL], 8 codes of one row an int, lowest k lowest
 * @param scales float[panel][block of 32 k][scale, minimum][PANEL]
 */
public record NibblePanels(int rows, int columns, int[] codes, float[] scales) implements Panels {

  private int codesAt(int panel, int column) {
    return (panel * columns + column) / 8 * PANEL;
  }

  private int scalesAt(int panel, int column) {
    return (panel * columns + column) / 32 * 2 * PANEL;
  }

  @Override
  public void unpack(Kernels kernels, int panel, int from, int to, float[] out) {
    kernels.unpackNibbles(
        codes, codesAt(panel, from), scales, scalesAt(panel, from), (to - from) / 8, out);
  }

  @Override
  public void timesVector(
      Kernels kernels, int panel, float[] x, float[] out, int offset, float[] scratch) {
    kernels.nibblesTimesVector(
        codes, codesAt(panel, 0), scales, scalesAt(panel, 0), columns / 8, x, out, offset);
  }

  @Override
  public boolean hasTimesRows() {
    return true;
  }

  @Override
  public void timesRows(
      Kernels kernels, int panel, int rows, float[] packed, float[] out, int offset, int stride) {
    kernels.nibblesTimesRows(
        rows,
        codes,
        codesAt(panel, 0),
        scales,
        scalesAt(panel, 0),
        columns,
        packed,
        out,
        offset,
        stride);
  }

  @Override
  public void row(int row, float[] out, int offset) {
    int panel = row / PANEL;
    int lane = row % PANEL;
    for (int k = 0; k < columns; k++) {
      int code = codes[codesAt(panel, k) + lane] >>> 4 * (k % 8) & 15;
      int scale = scalesAt(panel, k) + lane;
      out[offset + k] = Fma.fma(code, scales[scale], scales[scale + PANEL]);
    }
  }

  @Override
  public long bytes() {
    return 4L * codes.length + 4L * scales.length;
  }
}
