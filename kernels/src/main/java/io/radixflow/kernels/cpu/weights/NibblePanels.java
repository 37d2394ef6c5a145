package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Fma;
import io.radixflow.kernels.cpu.kernel.Kernels;

/**
 * 4-bit codes with a scale and a minimum for each 32 columns: Q4_0, Q4_1, Q4_K and INT4.
 *
 * @param codes int[panel][eighth of k][PANEL], 8 codes of one row an int, lowest k lowest
 */
public record NibblePanels(int rows, int columns, int[] codes, Scales scales) implements Panels {

  private int at(int panel, int column) {
    return (panel * columns + column) / 8 * PANEL;
  }

  @Override
  public void unpack(Kernels kernels, int panel, int from, int to, Scratch scratch, float[] out) {
    scales.widen(kernels, panel, from, to, scratch.scales);
    kernels.unpackNibbles(codes, at(panel, from), scratch.scales, 0, (to - from) / 8, out);
  }

  @Override
  public void timesVector(
      Kernels kernels, int panel, float[] x, float[] out, int offset, Scratch scratch) {
    for (int from = 0; from < columns; from += DEPTH) {
      int to = Math.min(columns, from + DEPTH);
      scales.widen(kernels, panel, from, to, scratch.scales);
      kernels.nibblesTimesVector(
          codes, at(panel, from), scratch.scales, (to - from) / 8, x, from, out, offset);
    }
  }

  @Override
  public boolean hasTimesRows() {
    return true;
  }

  @Override
  public void timesRows(
      Kernels kernels,
      int panel,
      int rows,
      float[] packed,
      float[] out,
      int offset,
      int stride,
      Scratch scratch) {
    for (int from = 0; from < columns; from += DEPTH) {
      int to = Math.min(columns, from + DEPTH);
      scales.widen(kernels, panel, from, to, scratch.scales);
      kernels.nibblesTimesRows(
          rows,
          codes,
          at(panel, from),
          scratch.scales,
          to - from,
          packed,
          from * rows,
          out,
          offset,
          stride);
    }
  }

  @Override
  public void row(int row, float[] out, int offset) {
    int panel = row / PANEL;
    int lane = row % PANEL;
    for (int k = 0; k < columns; k += 8) {
      float scale = scales.scale(panel, lane, k / 32);
      float minimum = scales.minimum(panel, lane, k / 32);
      int word = codes[at(panel, k) + lane];
      for (int i = 0; i < 8; i++) {
        out[offset + k + i] = Fma.fma(word >>> 4 * i & 15, scale, minimum);
      }
    }
  }

  @Override
  public long bytes() {
    return 4L * codes.length + scales.bytes();
  }
}
