package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.kernel.Floats;
import io.radixflow.kernels.cpu.kernel.RowMemory;
import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.models.ForwardGraph;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.ModelProgress;
import io.radixflow.models.Tensor;
import io.radixflow.models.WeightLoader;
import io.radixflow.models.WeightSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Repacks a model's weights into panels and reports the progress. */
final class CpuWeightLoader implements WeightLoader<CpuMatrix, Floats> {

  private final WeightSource source;
  private final PanelLoader panels;
  private final RowMemory memory;
  private final ModelProgress progress;

  /** Matrices that are loaded but not yet part of the graph, by the names of their tensors. */
  private final Map<List<String>, Panels> loaded = new HashMap<>();

  private long bytes;
  private long embeddingBytes;

  /**
   * @param memory has vectors and biases
   * @param progress receives the bytes of each tensor
   */
  CpuWeightLoader(
      WeightSource source, PanelLoader panels, RowMemory memory, ModelProgress progress) {
    this.source = source;
    this.panels = panels;
    this.memory = memory;
    this.progress = progress;
  }

  /**
   * Loads all weights: first the matrices, several in parallel, then the other tensors of the
   * graph.
   */
  ForwardGraph<CpuMatrix, Floats> load() {
    List<List<String>> names = matrixNames();
    List<Panels> matrices =
        panels.load(source, names.stream().map(source::tensors).toList(), this::report);
    for (int i = 0; i < names.size(); i++) {
      loaded.put(names.get(i), matrices.get(i));
    }
    return new ForwardGraph<>(source.config(), this);
  }

  private List<List<String>> matrixNames() {
    List<List<String>> names = new ArrayList<>();
    new ForwardGraph<>(source.config(), new MatrixNames(names));
    return names;
  }

  /** Lists the matrices that a graph asks for. */
  private record MatrixNames(List<List<String>> names) implements WeightLoader<Void, Void> {

    @Override
    public Void matrix(List<String> weights, List<String> biases) {
      names.add(weights);
      return null;
    }

    @Override
    public Void vector(String name) {
      return null;
    }
  }

  /** Bytes loaded so far. */
  long bytes() {
    return bytes;
  }

  /** Bytes of the token embedding. A step reads only one of its rows per token. */
  long embeddingBytes() {
    return embeddingBytes;
  }

  @Override
  public CpuMatrix matrix(List<String> weights, List<String> biases) {
    Panels matrix = loaded.remove(weights);
    if (weights.get(0).equals("token_embd.weight")) {
      embeddingBytes = matrix.bytes();
    }
    if (biases.isEmpty()) {
      return new CpuMatrix(matrix, null);
    }
    float[] bias = new float[matrix.count() * PANEL];
    int at = 0;
    for (String name : biases) {
      Tensor tensor = source.tensor(name);
      tensor.dequantize(0, bias, at);
      requireFinite(tensor, bias);
      report(4L * tensor.columns());
      at += tensor.columns();
    }
    return new CpuMatrix(matrix, floats(bias));
  }

  @Override
  public Floats vector(String name) {
    Tensor tensor = source.tensor(name);
    float[] values = new float[tensor.columns()];
    tensor.dequantize(0, values, 0);
    requireFinite(tensor, values);
    report(4L * values.length);
    return floats(values);
  }

  private Floats floats(float[] values) {
    Floats floats = memory.floats(values.length);
    floats.put(0, values, 0, values.length);
    return floats;
  }

  private static void requireFinite(Tensor tensor, float[] values) {
    for (float value : values) {
      if (!Float.isFinite(value)) {
        throw new ModelFormatException(
            tensor.where() + " has a weight of " + value + "; the file is corrupt");
      }
    }
  }

  private void report(long more) {
    bytes += more;
    progress.advance(more);
  }
}
