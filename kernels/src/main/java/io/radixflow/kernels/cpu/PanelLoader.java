package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.BitPlanes;
import io.radixflow.kernels.cpu.weights.BytePanels;
import io.radixflow.kernels.cpu.weights.Float8Panels;
import io.radixflow.kernels.cpu.weights.FloatPanels;
import io.radixflow.kernels.cpu.weights.HalfPanels;
import io.radixflow.kernels.cpu.weights.NibblePanels;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.kernels.cpu.weights.Scales;
import io.radixflow.kernels.cpu.weights.StackedPanels;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.Tensor;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Repacks tensors into {@link Panels}, on all threads of the team. */
final class PanelLoader {

  /** Tensors, one below the other, that become panels of one form. */
  record Part(PanelForm form, List<Tensor> tensors) {

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
    PanelForm form = PanelForm.of(tensors.get(0).type());
    boolean oneForm = true;
    boolean wholePanels = true;
    for (int i = 0; i < tensors.size(); i++) {
      Tensor tensor = tensors.get(i);
      if (tensor.columns() != columns) {
        throw new ModelFormatException(
            tensor.name() + " has " + tensor.columns() + " columns, expected " + columns);
      }
      oneForm &= PanelForm.of(tensor.type()) == form;
      wholePanels &= i == tensors.size() - 1 || tensor.rows() % PANEL == 0;
    }
    if (oneForm || !wholePanels) {
      return List.of(new Part(oneForm ? form : PanelForm.FLOATS, tensors));
    }
    return tensors.stream()
        .map(tensor -> new Part(PanelForm.of(tensor.type()), List.of(tensor)))
        .toList();
  }

  private Panels loadAs(PanelForm form, StackedRows source) {
    int rows = source.rows();
    int columns = source.columns();
    int panels = (rows + PANEL - 1) / PANEL;
    long elements = (long) panels * PANEL * columns;
    if (elements > Integer.MAX_VALUE - 8) {
      throw new ModelFormatException(
          source + " has " + elements + " weights; a matrix may have " + (Integer.MAX_VALUE - 8));
    }
    int size = (int) elements;
    switch (form.codes()) {
      case NIBBLE -> {
        NibblePanels target =
            new NibblePanels(rows, columns, new int[size / 8], form.scales(panels, columns));
        team.run(
            panels,
            (panel, worker) ->
                fillers[worker].nibbles(source, panel, target.codes(), target.scales()));
        return target;
      }
      case BYTE, FLOAT8 -> {
        byte[] codes = new byte[(int) BitPlanes.bytes(form.bits(), elements / PANEL)];
        Scales scales = form.scales(panels, columns);
        team.run(
            panels,
            (panel, worker) ->
                fillers[worker].bytes(source, panel, form.bits(), form.offset(), codes, scales));
        return form.codes() == PanelForm.Codes.FLOAT8
            ? new Float8Panels(rows, columns, codes, scales)
            : new BytePanels(rows, columns, form.bits(), codes, scales);
      }
      case HALF, BRAIN -> {
        boolean brain = form.codes() == PanelForm.Codes.BRAIN;
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
