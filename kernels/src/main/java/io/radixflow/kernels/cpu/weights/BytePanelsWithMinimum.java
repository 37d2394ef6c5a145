package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Fma;
import io.radixflow.kernels.cpu.kernel.Kernels;

/**
 * 8-bit codes with a scale and a minimum for each block of columns: Q5_K, Q5_1 and Q2_K.
 *
 * @param block columns of a scale: 16 or 32
 * @param codes byte[panel][k][PANEL]
 * @param scales float[panel][block of k][scale, minimum][PANEL]
 */
public record BytePanelsWithMinimum(int rows, int columns, int block, byte[] codes, float[] scales)
    implements Panels {

  private int codesAt(int panel, int column) {
    return (panel * columns + column) * PANEL;
  }

  private int scalesAt(int panel, int column) {
    return (panel * columns + column) / block * 2 * PANEL;
  }

  @Override
  public void unpack(Kernels kernels, int panel, int from, int to, float[] out) {
    kernels.unpackBytesWithMinimum(
        codes,
        codesAt(panel, from),
        scales,
        scalesAt(panel, from),
        block,
        (to - from) / block,
        out);
  }

  @Override
  public void row(int row, float[] out, int offset) {
    int panel = row / PANEL;
    int lane = row % PANEL;
    for (int k = 0; k < columns; k++) {
      int scale = scalesAt(panel, k) + lane;
      out[offset + k] =
          Fma.fma(codes[codesAt(panel, k) + lane], scales[scale], scales[scale + PANEL]);
    }
  }

  @Override
  public long bytes() {
    return codes.length + 4L * scales.length;
  }
}
