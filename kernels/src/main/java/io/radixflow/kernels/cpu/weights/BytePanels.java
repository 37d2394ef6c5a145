package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.BitPlanes;
import io.radixflow.kernels.cpu.kernel.Fma;
import io.radixflow.kernels.cpu.kernel.Kernels;

/**
 * Codes that kernels read as bytes, with a scale and a minimum for each block of columns. Codes of
 * 8 bits lie so; those of fewer lie in {@link BitPlanes} and are widened, {@link #DEPTH} columns at
 * a time, to where the nearest cache has them.
 *
 * @param bits of a code: 2, 3 or 5, without a sign, or 8
 * @param codes byte[panel][k][PANEL] of 8 bits, else planes
 */
public record BytePanels(int rows, int columns, int bits, byte[] codes, Scales scales)
    implements Panels {

  private int at(int panel, int column) {
    return (int) BitPlanes.bytes(bits, (long) panel * columns + column);
  }

  /** Widens scales, and codes of fewer than 8 bits. */
  private void widen(Kernels kernels, int panel, int from, int to, Scratch scratch) {
    scales.widen(kernels, panel, from, to, scratch.scales);
    if (bits < 8) {
      kernels.unpackPlanes(bits, codes, at(panel, from), to - from, scratch.codes);
    }
  }

  private byte[] bytes(Scratch scratch) {
    return bits < 8 ? scratch.codes : codes;
  }

  private int bytesAt(int panel, int from) {
    return bits < 8 ? 0 : at(panel, from);
  }

  @Override
  public void unpack(Kernels kernels, int panel, int from, int to, Scratch scratch, float[] out) {
    widen(kernels, panel, from, to, scratch);
    kernels.unpackBytes(
        bytes(scratch),
        bytesAt(panel, from),
        scratch.scales,
        scales.block(),
        (to - from) / scales.block(),
        out);
  }

  @Override
  public void timesVector(
      Kernels kernels, int panel, float[] x, float[] out, int offset, Scratch scratch) {
    for (int from = 0; from < columns; from += DEPTH) {
      int to = Math.min(columns, from + DEPTH);
      widen(kernels, panel, from, to, scratch);
      kernels.bytesTimesVector(
          bytes(scratch),
          bytesAt(panel, from),
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
      widen(kernels, panel, from, to, scratch);
      kernels.bytesTimesRows(
          rows,
          bytes(scratch),
          bytesAt(panel, from),
          scratch.scales,
          scales.block(),
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
    int block = scales.block();
    for (int from = 0; from < columns; from += block) {
      float scale = scales.scale(panel, lane, from / block);
      float minimum = scales.minimum(panel, lane, from / block);
      for (int k = from; k < from + block; k++) {
        int code = BitPlanes.code(bits, codes, at(panel, 0), k, lane);
        out[offset + k] = Fma.fma(code, scale, minimum);
      }
    }
  }

  @Override
  public long bytes() {
    return codes.length + scales.bytes();
  }
}
