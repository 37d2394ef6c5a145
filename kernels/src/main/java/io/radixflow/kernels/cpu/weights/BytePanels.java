package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Kernels;

/**
 * 8-bit codes with a scale for each block of columns: Q8_0, Q6_K, Q5_0, Q3_K, IQ4_NL, IQ4_XS, INT8
 * and MXFP4.
 *
 * @param block columns of a scale: 16 or 32
 * @param codes byte[panel][k][PANEL]
 * @param scales float[panel][block of k][PANEL]
 */
public record BytePanels(int rows, int columns, int block, byte[] codes, float[] scales)
    implements Panels {

  private int codesAt(int panel, int column) {
    return (panel * columns + column) * PANEL;
  }

  private int scalesAt(int panel, int column) {
    return (panel * columns + column) / block * PANEL;
  }

  @Override
  public void unpack(Kernels kernels, int panel, int from, int to, float[] out) {
    kernels.unpackBytes(
        codes,
        codesAt(panel, from),
        scales,
        scalesAt(panel, from),
        block,
        (to - from) / block,
        out);
  }

  @Override
  public void timesVector(
      Kernels kernels, int panel, float[] x, float[] out, int offset, float[] scratch) {
    kernels.bytesTimesVector(
        codes,
        codesAt(panel, 0),
        scales,
        scalesAt(panel, 0),
        block,
        columns / block,
        x,
        out,
        offset);
  }

  @Override
  public boolean hasTimesRows() {
    return true;
  }

  @Override
  public void timesRows(
      Kernels kernels, int panel, int rows, float[] packed, float[] out, int offset, int stride) {
    kernels.bytesTimesRows(
        rows,
        codes,
        codesAt(panel, 0),
        scales,
        scalesAt(panel, 0),
        block,
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
      out[offset + k] = codes[codesAt(panel, k) + lane] * scales[scalesAt(panel, k) + lane];
    }
  }

  @Override
  public long bytes() {
    return codes.length + 4L * scales.length;
  }
}
