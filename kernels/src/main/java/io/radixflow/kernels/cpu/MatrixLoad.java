package io.radixflow.kernels.cpu;

import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.NativeMemory;
import io.radixflow.kernels.cpu.weights.NativePanels;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.models.ModelFormatException;

/**
 * A matrix of one form while it is loaded. {@link #open} allocates it, any threads fill its panels,
 * and {@link #close} then releases the source of its rows.
 */
final class MatrixLoad {

  private final PanelLoader.Part part;
  private StackedRows source;
  private Panels target;

  MatrixLoad(PanelLoader.Part part) {
    this.part = part;
  }

  /** Bytes in memory. */
  long bytes() {
    return part.bytes();
  }

  /** Bytes that the panels take outside Java's heap. */
  long nativeBytes() {
    return NativePanels.size(part.form(), part.elements());
  }

  /** Form and size of the panels, for the key of a file. */
  String layout() {
    return part.form() + " " + part.rows() + " " + part.tensors().get(0).columns();
  }

  /** Makes the panels a part of native memory. Otherwise {@link #open} allocates arrays. */
  void place(NativeKernels fast, NativeMemory memory, long offset) {
    int columns = part.tensors().get(0).columns();
    target = new NativePanels(part.form(), part.rows(), columns, fast, memory, offset);
  }

  /** Returns the panels. They are complete once all of them are filled. */
  Panels panels() {
    return target;
  }

  /**
   * Allocates the panels.
   *
   * @throws ModelFormatException if the matrix is too large for an array
   */
  void open() {
    source = new StackedRows(part.tensors());
    long elements = part.elements();
    if (elements > Integer.MAX_VALUE - 8) {
      throw new ModelFormatException(
          source + " has " + elements + " weights; a matrix may have " + (Integer.MAX_VALUE - 8));
    }
    if (target == null) {
      target = part.form().allocate(source.rows(), source.columns());
    }
  }

  /**
   * Fills a panel.
   *
   * @throws ModelFormatException if a weight is not finite
   */
  void fill(int panel, PanelFiller filler) {
    filler.fill(source, panel, target);
  }

  /** Called once, after the last panel was filled. */
  void close() {
    source = null;
  }
}
