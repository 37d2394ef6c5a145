package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.CodeForm;
import io.radixflow.kernels.cpu.kernel.NativeRepacking;
import io.radixflow.kernels.cpu.step.WorkerTeam;
import io.radixflow.kernels.cpu.weights.BlockPanels;
import io.radixflow.kernels.cpu.weights.BlockScales;
import io.radixflow.kernels.cpu.weights.Float8Panels;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.kernels.cpu.weights.StackedPanels;
import io.radixflow.kernels.device.HeapRegions;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.function.LongConsumer;

/** Repacks tensors into {@link Panels}, with all threads of the team. */
final class PanelLoader {

  /** The form of weights in panels. Types with the same form can share panels. */
  enum Form {
    Q4_0(CodeForm.SIGNED_NIBBLE, BlockScales.Form.HALF, 32, false, false),
    Q4_1(CodeForm.NIBBLE, BlockScales.Form.HALF, 32, true, false),
    Q4_K(CodeForm.NIBBLE, BlockScales.Form.FACTOR, 32, true, false),
    INT4(CodeForm.NIBBLE, BlockScales.Form.FLOAT, 32, true, false),
    Q5_0(CodeForm.SIX, BlockScales.Form.HALF, 32, false, false),
    Q8_0(CodeForm.BYTE, BlockScales.Form.HALF, 32, false, true),
    INT8(CodeForm.BYTE, BlockScales.Form.FLOAT, 32, false, true),
    MXFP4(CodeForm.BYTE, BlockScales.Form.FLOAT, 32, false, false),
    IQ4_XS(CodeForm.BYTE, BlockScales.Form.FACTOR, 32, false, true),
    Q5_1(CodeForm.SIX, BlockScales.Form.HALF, 32, true, true),
    Q5_K(CodeForm.SIX, BlockScales.Form.FACTOR, 32, true, true),
    Q6_K(CodeForm.SIX, BlockScales.Form.FACTOR, 16, false, false),
    Q2_K(CodeForm.SIX, BlockScales.Form.FACTOR, 16, true, false),
    FLOAT8(8),
    HALF(16),
    BFLOAT16(16),
    FLOAT(32);

    final CodeForm codes;
    final BlockScales.Form scales;
    final int block;
    final boolean minima;

    /** See {@link BlockPanels#wide}. */
    final boolean wide;

    private final int bits;

    Form(CodeForm codes, BlockScales.Form scales, int block, boolean minima, boolean wide) {
      this.codes = codes;
      this.scales = scales;
      this.block = block;
      this.minima = minima;
      this.wide = wide;
      bits = codes.bits();
    }

    Form(int bits) {
      this.bits = bits;
      codes = null;
      scales = null;
      block = Float8Panels.BLOCK;
      minima = false;
      wide = false;
    }

    /** Bytes of {@code elements} weights, which are whole blocks. */
    long bytes(long elements) {
      return codeBytes(elements) + scaleBytes(elements);
    }

    /** Bytes of the array of codes or floats. */
    long codeBytes(long elements) {
      return elements * bits / 8;
    }

    /** Bytes of scales and minima. */
    long scaleBytes(long elements) {
      if (codes != null) {
        return BlockScales.bytes(scales, block, minima, elements);
      }
      return this == FLOAT8 ? elements / block * Float.BYTES : 0;
    }

    static Form of(TensorType type) {
      return switch (type) {
        case Q4_0 -> Q4_0;
        case Q4_1 -> Q4_1;
        case Q4_K -> Q4_K;
        case INT4 -> INT4;
        case Q5_0 -> Q5_0;
        case Q8_0, IQ4_NL -> Q8_0;
        case INT8 -> INT8;
        case MXFP4 -> MXFP4;
        case IQ4_XS -> IQ4_XS;
        case Q5_1 -> Q5_1;
        case Q5_K -> Q5_K;
        case Q6_K, Q3_K -> Q6_K;
        case Q2_K -> Q2_K;
        case FP8 -> FLOAT8;
        case F16 -> HALF;
        case BF16 -> BFLOAT16;
        case F32 -> FLOAT;
      };
    }
  }

  /** Tensors of one form, stacked by rows, that become panels. */
  record Part(Form form, List<Tensor> tensors) {

    /** Bytes in memory, including the padding of the last panel. */
    long bytes() {
      return form.bytes(elements());
    }

    /** Bytes of the heap that stay empty after the arrays. */
    long lost(HeapRegions regions) {
      return regions.lost(form.codeBytes(elements())) + regions.lost(form.scaleBytes(elements()));
    }

    private long elements() {
      long rows = tensors.stream().mapToLong(Tensor::rows).sum();
      return (rows + PANEL - 1) / PANEL * PANEL * tensors.get(0).columns();
    }
  }

  private final WorkerTeam team;
  private final PanelFiller[] fillers;

  /**
   * @param fast native code, or null to use only Java
   */
  PanelLoader(WorkerTeam team, NativeRepacking fast) {
    this.team = team;
    fillers = new PanelFiller[team.size()];
    Arrays.setAll(fillers, worker -> new PanelFiller(fast));
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
    LoadQueue queue = new LoadQueue(largestFirst(loads), loaded);
    team.run(team.size(), (task, worker) -> queue.work(fillers[worker]));
    return loads.stream()
        .map(parts -> parts.stream().map(MatrixLoad::panels).toList())
        .map(parts -> parts.size() == 1 ? parts.get(0) : new StackedPanels(parts))
        .toList();
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
}
