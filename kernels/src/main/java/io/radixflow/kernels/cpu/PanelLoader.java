package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.NativeMemory;
import io.radixflow.kernels.cpu.step.WorkerTeam;
import io.radixflow.kernels.cpu.weights.PanelForm;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.kernels.cpu.weights.StackedPanels;
import io.radixflow.kernels.device.HeapRegions;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.function.LongConsumer;

/** Repacks tensors into {@link Panels}, with all threads of the team. */
final class PanelLoader {

  /** Tensors of one form, stacked by rows, that become panels. */
  record Part(PanelForm form, List<Tensor> tensors) {

    /** Bytes in memory, including the padding of the last panel. */
    long bytes() {
      return form.bytes(elements());
    }

    /** Bytes of the heap that stay empty after the arrays. */
    long lost(HeapRegions regions) {
      return regions.lost(form.codeBytes(elements())) + regions.lost(form.scaleBytes(elements()));
    }

    /** Number of weights, including the padding of the last panel. */
    long elements() {
      return (rows() + PANEL - 1L) / PANEL * PANEL * tensors.get(0).columns();
    }

    int rows() {
      return Math.toIntExact(tensors.stream().mapToLong(Tensor::rows).sum());
    }
  }

  private final WorkerTeam team;
  private final NativeKernels fast;
  private final PanelFiller[] fillers;

  /** Memory of the panels that were loaded last; null if they are in Java's heap. */
  private NativeMemory memory;

  /**
   * @param fast native code, which uses weights outside Java's heap; null to use only Java
   */
  PanelLoader(WorkerTeam team, NativeKernels fast) {
    this.team = team;
    this.fast = fast;
    fillers = new PanelFiller[team.size()];
    Arrays.setAll(fillers, worker -> new PanelFiller());
  }

  /** Stacks tensors by rows. Throws the same errors as {@link #load(List, LongConsumer)}. */
  Panels load(List<Tensor> tensors) {
    return load(List.of(tensors), bytes -> {}).get(0);
  }

  /**
   * Loads matrices. Each consists of tensors that are stacked by rows.
   *
   * @param loaded receives the size in bytes of each complete part; called by one thread at a time
   * @throws ModelFormatException if columns differ, a matrix is too large for an array or a weight
   *     is not finite
   */
  List<Panels> load(List<List<Tensor>> matrices, LongConsumer loaded) {
    List<List<MatrixLoad>> loads =
        matrices.stream()
            .map(tensors -> plan(tensors).stream().map(MatrixLoad::new).toList())
            .toList();
    Deque<MatrixLoad> ordered = largestFirst(loads);
    if (fast != null) {
      place(ordered);
    }
    LoadQueue queue = new LoadQueue(ordered, loaded);
    team.run(team.size(), (task, worker) -> queue.work(fillers[worker]));
    return loads.stream()
        .map(parts -> parts.stream().map(MatrixLoad::panels).toList())
        .map(parts -> parts.size() == 1 ? parts.get(0) : new StackedPanels(parts))
        .toList();
  }

  private void place(Collection<MatrixLoad> loads) {
    memory = NativeMemory.allocate(loads.stream().mapToLong(MatrixLoad::nativeBytes).sum());
    long offset = 0;
    for (MatrixLoad load : loads) {
      load.place(fast, memory, offset);
      offset += load.nativeBytes();
    }
  }

  WorkerTeam team() {
    return team;
  }

  /** Native code, or null. */
  NativeKernels fast() {
    return fast;
  }

  /** Returns the memory of the panels that were loaded last; null if they are in Java's heap. */
  NativeMemory memory() {
    return memory;
  }

  /**
   * Puts the largest part first, because one thread has to allocate it. The others keep the order
   * of the file.
   */
  private static Deque<MatrixLoad> largestFirst(List<List<MatrixLoad>> loads) {
    Deque<MatrixLoad> ordered = new ArrayDeque<>();
    loads.forEach(ordered::addAll);
    MatrixLoad largest = Collections.max(ordered, Comparator.comparing(MatrixLoad::bytes));
    ordered.remove(largest);
    ordered.addFirst(largest);
    return ordered;
  }

  /**
   * Splits stacked tensors into parts of one form. If forms differ and a tensor does not end with a
   * whole panel, all are widened to floats.
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
      return List.of(new Part(oneForm ? form : PanelForm.FLOAT, tensors));
    }
    return tensors.stream()
        .map(tensor -> new Part(PanelForm.of(tensor.type()), List.of(tensor)))
        .toList();
  }
}
