package io.radixflow.kernels.cpu.weights;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.Kernels;
import java.util.List;

/** Stacked matrices of different encodings. All except the last have whole panels. */
public final class StackedPanels implements Panels {

  private final Panels[] parts;
  private final int[] firstPanel;
  private final int rows;

  public StackedPanels(List<Panels> parts) {
    this.parts = parts.toArray(Panels[]::new);
    firstPanel = new int[this.parts.length];
    int sum = 0;
    for (int i = 0; i < this.parts.length; i++) {
      if (sum % PANEL != 0) {
        throw new IllegalArgumentException("part " + i + " begins inside a panel, at row " + sum);
      }
      firstPanel[i] = sum / PANEL;
      sum += this.parts[i].rows();
    }
    rows = sum;
  }

  private int partOf(int panel) {
    int part = parts.length - 1;
    while (firstPanel[part] > panel) {
      part--;
    }
    return part;
  }

  @Override
  public int rows() {
    return rows;
  }

  @Override
  public int columns() {
    return parts[0].columns();
  }

  /** Number of matrices. */
  public int parts() {
    return parts.length;
  }

  /** Returns a matrix by its index, from the top. */
  public Panels part(int index) {
    return parts[index];
  }

  @Override
  public boolean hasIntegers() {
    for (Panels part : parts) {
      if (!part.hasIntegers()) {
        return false;
      }
    }
    return true;
  }

  @Override
  public void unpack(Kernels kernels, int panel, int from, int to, Floats out, float[] scales) {
    int part = partOf(panel);
    parts[part].unpack(kernels, panel - firstPanel[part], from, to, out, scales);
  }

  @Override
  public void timesVector(
      Kernels kernels,
      int panel,
      Floats x,
      Floats out,
      int offset,
      Floats scratch,
      float[] scales) {
    int part = partOf(panel);
    parts[part].timesVector(kernels, panel - firstPanel[part], x, out, offset, scratch, scales);
  }

  @Override
  public int fewRows(Kernels kernels) {
    int rows = Integer.MAX_VALUE;
    for (Panels part : parts) {
      rows = Math.min(rows, part.fewRows(kernels));
    }
    return rows;
  }

  @Override
  public void timesRows(
      Kernels kernels, int panel, Floats x, int xs, int rows, Floats out, int offset, int os) {
    int part = partOf(panel);
    parts[part].timesRows(kernels, panel - firstPanel[part], x, xs, rows, out, offset, os);
  }

  @Override
  public void row(int row, Floats out, int offset) {
    int part = partOf(row / PANEL);
    parts[part].row(row - firstPanel[part] * PANEL, out, offset);
  }

  @Override
  public long bytes() {
    long bytes = 0;
    for (Panels part : parts) {
      bytes += part.bytes();
    }
    return bytes;
  }
}
