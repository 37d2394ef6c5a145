package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.CodeForm;
import io.radixflow.kernels.cpu.weights.BlockPanels;
import io.radixflow.kernels.cpu.weights.BlockScales;
import io.radixflow.kernels.cpu.weights.Float8Panels;
import io.radixflow.kernels.cpu.weights.FloatPanels;
import io.radixflow.kernels.cpu.weights.HalfPanels;
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
    int rows = source.rows();
    int columns = source.columns();
    int panels = (rows + PANEL - 1) / PANEL;
    long elements = (long) panels * PANEL * columns;
    if (elements > Integer.MAX_VALUE - 8) {
      throw new ModelFormatException(
          source + " has " + elements + " weights; a matrix may have " + (Integer.MAX_VALUE - 8));
    }
    int size = (int) elements;
    target =
        switch (part.form()) {
          case FLOAT8 ->
              new Float8Panels(rows, columns, new byte[size], new float[size / Float8Panels.BLOCK]);
          case HALF, BFLOAT16 ->
              new HalfPanels(
                  rows, columns, part.form() == PanelLoader.Form.BFLOAT16, new short[size]);
          case FLOAT -> new FloatPanels(rows, columns, new float[size]);
          default -> blocks(part.form(), rows, columns, panels);
        };
  }

  private static BlockPanels blocks(PanelLoader.Form form, int rows, int columns, int panels) {
    int words = Math.toIntExact((long) panels * (columns / CodeForm.BLOCK) * form.codes.words());
    BlockScales scales =
        BlockScales.allocate(form.scales, form.block, form.minima, panels, columns);
    return new BlockPanels(rows, columns, form.codes, new int[words * PANEL], scales, form.wide);
  }

  /**
   * Fills a panel.
   *
   * @throws ModelFormatException if a weight is not finite
   */
  void fill(int panel, PanelFiller filler) {
    if (target instanceof BlockPanels blocks) {
      filler.codes(source, panel, blocks);
    } else if (target instanceof Float8Panels float8) {
      filler.float8(source, panel, float8.codes(), float8.scales());
    } else if (target instanceof HalfPanels halves) {
      filler.halves(source, panel, halves.bfloat16(), halves.values());
    } else {
      filler.floats(source, panel, ((FloatPanels) target).values());
    }
  }

  /** Called once, after the last panel was filled. */
  void close() {
    source = null;
  }
}
