package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Kernels;
import io.radixflow.kernels.model.Float8;

/**
 * 8-bit floats with a scale for each block of columns: FP8.
 *
 * @param codes byte[panel][k][PANEL]
 */
public record Float8Panels(int rows, int columns, byte[] codes, Scales scales) implements Panels {

  private int at(int panel, int column) {
    return (panel * columns + column) * PANEL;
  }

  @Override
  public void unpack(Kernels kernels, int panel, int from, int to, Scratch scratch, float[] out) {
    scales.widen(kernels, panel, from, to, scratch.scales);
    kernels.unpackFloat8(
        codes, at(panel, from), scratch.scales, scales.block(), (to - from) / scales.block(), out);
  }

  @Override
  public void timesVector(
      Kernels kernels, int panel, float[] x, float[] out, int offset, Scratch scratch) {
    for (int from = 0; from < columns; from += DEPTH) {
      int to = Math.min(columns, from + DEPTH);
      scales.widen(kernels, panel, from, to, scratch.scales);
      kernels.float8TimesVector(
          codes,
          at(panel, from),
          scratch.scales,
          scales.block(),
          (to - from) / scales.block(),
          x,
          from,
          out,
          offset);
    }
  }

  @Override
  public void row(int row, float[] out, int offset) {
    int panel = row / PANEL;
    int lane = row % PANEL;
    for (int k = 0; k < columns; k++) {
      float value = Float8.toFloat(codes[at(panel, k) + lane]);
      out[offset + k] = value * scales.scale(panel, lane, k / scales.block());
    }
  }

  @Override
  public long bytes() {
    return codes.length + scales.bytes();
  }
}
