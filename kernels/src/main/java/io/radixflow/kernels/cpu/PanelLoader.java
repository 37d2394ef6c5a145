package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.weights.BytePanels;
import io.radixflow.kernels.cpu.weights.BytePanelsWithMinimum;
import io.radixflow.kernels.cpu.weights.Float8Panels;
import io.radixflow.kernels.cpu.weights.FloatPanels;
import io.radixflow.kernels.cpu.weights.HalfPanels;
import io.radixflow.kernels.cpu.weights.NibblePanels;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.kernels.cpu.weights.StackedPanels;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Repacks tensors into {@link Panels}, on all threads of the team. */
final class PanelLoader {

  /** The form in which panels hold weights; types of one form can share panels. */
  enum Form {
    NIBBLES(4, 32, 2),
    BYTES(8, 32, 1),
    SMALL_BLOCK_BYTES(8, 16, 1),
    BYTES_WITH_MINIMUM(8, 32, 2),
    SMALL_BLOCK_BYTES_WITH_MINIMUM(8, 16, 2),
    FLOAT8(8, 32, 1),
    HALF(16, 1, 0),
    BRAIN(16, 1, 0),
    FLOAT(32, 1, 0);

    private final int codeBits;
    private final int block;
    private final int blockFloats;

    /**
     * @param block weights that share scales
     * @param blockFloats scales and minima of a block
     */
    Form(int codeBits, int block, int blockFloats) {
      this.codeBits = codeBits;
      this.block = block;
      this.blockFloats = blockFloats;
    }

    /** Bytes of whole blocks of weights. */
    long bytes(long elements) {
      return elements * codeBits / 8 + elements / block * blockFloats * Float.BYTES;
    }

    static Form of(TensorType type) {
      return switch (type) {
        case Q4_0, Q4_1, Q4_K, INT4 -> NIBBLES;
        case Q8_0, Q5_0, IQ4_NL, IQ4_XS, MXFP4, INT8 -> BYTES;
        case Q6_K, Q3_K -> SMALL_BLOCK_BYTES;
        case Q5_K, Q5_1 -> BYTES_WITH_MINIMUM;
        case Q2_K -> SMALL_BLOCK_BYTES_WITH_MINIMUM;
        case FP8 -> FLOAT8;
        case F16 -> HALF;
        case BF16 -> BRAIN;
        case F32 -> FLOAT;
      };
    }
  }

  /** Tensors, one below the other, that become panels of one form. */
  record Part(Form form, List<Tensor> tensors) {

    /** Bytes in memory, the filling of the last panel included. */
    long bytes() {
      long rows = tensors.stream().mapToLong(Tensor::rows).sum();
      return form.bytes((rows + PANEL - 1) / PANEL * PANEL * tensors.get(0).columns());
    }
  }

  private final WorkerTeam team;
  private final PanelFiller[] fillers;

  PanelLoader(WorkerTeam team) {
    this.team = team;
    fillers = new PanelFiller[team.size()];
    Arrays.setAll(fillers, worker -> new PanelFiller());
  }

  /**
   * Stacks tensors by rows.
   *
   * @throws ModelFormatException if columns differ or the matrix exceeds an array
   */
  Panels load(List<Tensor> tensors) {
    List<Panels> parts = new ArrayList<>();
    for (Part part : plan(tensors)) {
      parts.add(loadAs(part.form, new StackedRows(part.tensors)));
    }
    return parts.size() == 1 ? parts.get(0) : new StackedPanels(parts);
  }

  /**
   * The parts that stacked tensors become. Tensors of different forms whose rows are not whole
   * panels are widened to floats.
   *
   * @throws ModelFormatException if columns differ
   */
  static List<Part> plan(List<Tensor> tensors) {
    int columns = tensors.get(0).columns();
    Form form = Form.of(tensors.get(0).type());
    boolean oneForm = true;
    boolean wholePanels = true;
    for (int i = 0; i < tensors.size(); i++) {
      Tensor tensor = tensors.get(i);
      if (tensor.columns() != columns) {
        throw new ModelFormatException(
            tensor.name() + " has " + tensor.columns() + " columns, expected " + columns);
      }
      oneForm &= Form.of(tensor.type()) == form;
      wholePanels &= i == tensors.size() - 1 || tensor.rows() % PANEL == 0;
    }
    if (oneForm || !wholePanels) {
      return List.of(new Part(oneForm ? form : Form.FLOAT, tensors));
    }
    return tensors.stream()
        .map(tensor -> new Part(Form.of(tensor.type()), List.of(tensor)))
        .toList();
  }

  private Panels loadAs(Form form, StackedRows source) {
    int rows = source.rows();
    int columns = source.columns();
    int panels = (rows + PANEL - 1) / PANEL;
    long elements = (long) panels * PANEL * columns;
    if (elements > Integer.MAX_VALUE - 8) {
      throw new ModelFormatException(
          source + " has " + elements + " weights; a matrix may have " + (Integer.MAX_VALUE - 8));
    }
    int size = (int) elements;
    switch (form) {
      case NIBBLES -> {
        NibblePanels target =
            new NibblePanels(rows, columns, new int[size / 8], new float[size / 16]);
        team.run(
            panels,
            (panel, worker) ->
                fillers[worker].nibbles(source, panel, target.codes(), target.scales()));
        return target;
      }
      case BYTES, SMALL_BLOCK_BYTES -> {
        int block = form == Form.BYTES ? 32 : 16;
        BytePanels target =
            new BytePanels(rows, columns, block, new byte[size], new float[size / block]);
        team.run(
            panels,
            (panel, worker) ->
                fillers[worker].bytes(
                    source, panel, block, false, target.codes(), target.scales()));
        return target;
      }
      case BYTES_WITH_MINIMUM, SMALL_BLOCK_BYTES_WITH_MINIMUM -> {
        int block = form == Form.BYTES_WITH_MINIMUM ? 32 : 16;
        BytePanelsWithMinimum target =
            new BytePanelsWithMinimum(
                rows, columns, block, new byte[size], new float[size / block * 2]);
        team.run(
            panels,
            (panel, worker) ->
                fillers[worker].bytes(source, panel, block, true, target.codes(), target.scales()));
        return target;
      }
      case FLOAT8 -> {
        Float8Panels target =
            new Float8Panels(rows, columns, new byte[size], new float[size / Float8Panels.BLOCK]);
        team.run(
            panels,
            (panel, worker) ->
                fillers[worker].bytes(
                    source, panel, Float8Panels.BLOCK, false, target.codes(), target.scales()));
        return target;
      }
      case HALF, BRAIN -> {
        boolean brain = form == Form.BRAIN;
        HalfPanels target = new HalfPanels(rows, columns, brain, new short[size]);
        team.run(
            panels,
            (panel, worker) -> fillers[worker].halves(source, panel, brain, target.values()));
        return target;
      }
      default -> {
        FloatPanels target = new FloatPanels(rows, columns, new float[size]);
        team.run(panels, (panel, worker) -> fillers[worker].floats(source, panel, target.values()));
        return target;
      }
    }
  }
}
