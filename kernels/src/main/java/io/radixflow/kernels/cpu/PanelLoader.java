package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.cpu.kernel.NativeMemory;
import io.radixflow.kernels.cpu.step.WorkerTeam;
import io.radixflow.kernels.cpu.weights.PanelForm;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.kernels.cpu.weights.StackedPanels;
import io.radixflow.kernels.cpu.weights.WeightFile;
import io.radixflow.kernels.cpu.weights.WeightFiles;
import io.radixflow.kernels.device.HeapRegions;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.WeightSource;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;

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

  private final WeightFiles files;

  /** Memory of the panels that were loaded last; null if they are in Java's heap. */
  private NativeMemory memory;

  private WeightFile.Save save;

  /** Uses no files. */
  PanelLoader(WorkerTeam team, NativeKernels fast) {
    this(team, fast, null);
  }

  /**
   * @param fast native code, which uses weights outside Java's heap; null to use only Java
   * @param files the files of weights; null to use none
   */
  PanelLoader(WorkerTeam team, NativeKernels fast, WeightFiles files) {
    this.team = team;
    this.fast = fast;
    this.files = fast == null ? null : files;
  }

  /**
   * Stacks tensors by rows. Throws the same errors as {@link #load(WeightSource, List,
   * LongConsumer)}.
   */
  Panels load(List<Tensor> tensors) {
    return load(null, List.of(tensors), bytes -> {}).get(0);
  }

  /**
   * Loads matrices. Each consists of tensors that are stacked by rows.
   *
   * @param source the model whose matrices these are, if files are used
   * @param loaded receives the size in bytes of each complete part; called by one thread at a time
   * @throws ModelFormatException if columns differ, a matrix is too large for an array or a weight
   *     is not finite
   */
  List<Panels> load(WeightSource source, List<List<Tensor>> matrices, LongConsumer loaded) {
    List<List<MatrixLoad>> loads =
        matrices.stream()
            .map(tensors -> plan(tensors).stream().map(MatrixLoad::new).toList())
            .toList();
    Deque<MatrixLoad> ordered = largestFirst(loads);
    if (fast == null) {
      fill(ordered, loaded);
    } else {
      loadNative(source, ordered, loaded);
    }
    return loads.stream()
        .map(parts -> parts.stream().map(MatrixLoad::panels).toList())
        .map(parts -> parts.size() == 1 ? parts.get(0) : new StackedPanels(parts))
        .toList();
  }

  private void fill(Collection<MatrixLoad> loads, LongConsumer loaded) {
    PanelFiller[] fillers = new PanelFiller[team.size()];
    Arrays.setAll(fillers, worker -> new PanelFiller());
    LoadQueue queue = new LoadQueue(loads, loaded);
    team.run(team.size(), (task, worker) -> queue.work(fillers[worker]));
  }

  /** Maps the panels from their file; if there is none, fills them and begins to write it. */
  private void loadNative(WeightSource source, Collection<MatrixLoad> loads, LongConsumer loaded) {
    long bytes = loads.stream().mapToLong(MatrixLoad::nativeBytes).sum();
    WeightFile file = null;
    if (files != null && bytes >= files.least()) {
      String layout = loads.stream().map(MatrixLoad::layout).collect(Collectors.joining(", "));
      file = new WeightFile(files, source, layout, bytes);
      memory = file.open((count, task) -> team.run(count, (i, worker) -> task.accept(i)));
    }
    if (memory != null) {
      place(loads, file.bodyAt());
      loads.forEach(load -> loaded.accept(load.bytes()));
      return;
    }
    memory = NativeMemory.allocate(bytes);
    place(loads, 0);
    fill(loads, loaded);
    save = file == null ? null : file.save(memory);
  }

  private void place(Collection<MatrixLoad> loads, long from) {
    long offset = from;
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

  /**
   * Returns whether the panels that were loaded last still have their values. A file that another
   * process changes or truncates does not.
   */
  boolean isIntact() {
    return memory == null || memory.isIntact();
  }

  /** Frees the panels that were loaded last. First waits for their file to be written. */
  void close() {
    if (save != null) {
      save.close();
    }
    if (memory != null) {
      memory.close();
    }
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
