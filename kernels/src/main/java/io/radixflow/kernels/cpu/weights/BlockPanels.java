package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.CodeForm.BLOCK;
import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.CodeForm;
import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Fma;
import io.radixflow.kernels.cpu.kernel.Kernels;

/**
 * Integer codes with one scale per block of columns: the encodings of GGUF, and INT4 and INT8 of
 * safetensors.
 *
 * @param form layout of the codes
 * @param codes {@code int[panel][block of 32 columns][words of the form][PANEL]}
 * @param wide whether the sum of a scale's codes times 16-bit numbers may need more than the 24
 *     bits that a float represents exactly
 */
public record BlockPanels(
    int rows, int columns, CodeForm form, int[] codes, BlockScales scales, boolean wide)
    implements Panels {

  /** The index of the first code of a panel at a column, which is a multiple of 32. */
  public int codesAt(int panel, int column) {
    return (panel * (columns / BLOCK) + column / BLOCK) * form.words() * PANEL;
  }

  @Override
  public boolean hasIntegers() {
    return true;
  }

  @Override
  public void unpack(
      Kernels kernels, int panel, int from, int to, Floats out, float[] scaleScratch) {
    kernels.unpackCodes(form, codes, codesAt(panel, from), (to - from) / BLOCK, out);
    scales.unpack(panel, from, to, scaleScratch);
    kernels.scaleCodes(out, scaleScratch, scales.block(), scales.minima(), to - from);
  }

  @Override
  public void row(int row, Floats out, int offset) {
    int panel = row / PANEL;
    int lane = row % PANEL;
    for (int k = 0; k < columns; k++) {
      int code = form.code(codes, codesAt(panel, k), k % BLOCK, lane);
      float scale = scales.value(panel, k, 0, lane);
      out.set(
          offset + k,
          scales.minima() ? Fma.fma(code, scale, scales.value(panel, k, 1, lane)) : code * scale);
    }
  }

  @Override
  public long bytes() {
    return 4L * codes.length + scales.bytes();
  }
}
