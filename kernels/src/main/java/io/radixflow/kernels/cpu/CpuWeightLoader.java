package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.ModelProgress;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.WeightLoader;
import io.radixflow.kernels.model.WeightSource;
import java.util.List;

/** Repacks a model's weights into panels; says how far it is. */
final class CpuWeightLoader implements WeightLoader<CpuMatrix, float[]> {

  private final WeightSource source;
  private final PanelLoader panels;
  private final ModelProgress progress;
  private long bytes;
  private long embeddingBytes;

  /**
   * @param progress receives the bytes of each tensor
   */
  CpuWeightLoader(WeightSource source, WorkerTeam team, ModelProgress progress) {
    this.source = source;
    this.progress = progress;
    panels = new PanelLoader(team);
  }

  /** Bytes loaded so far. */
  long bytes() {
    return bytes;
  }

  /** Bytes of the token embedding, of which a step reads one row for each token. */
  long embeddingBytes() {
    return embeddingBytes;
  }

  @Override
  public CpuMatrix matrix(List<String> weights, List<String> biases) {
    Panels loaded = panels.load(source.tensors(weights));
    report(loaded.bytes());
    if (weights.get(0).equals("token_embd.weight")) {
      embeddingBytes = loaded.bytes();
    }
    if (biases.isEmpty()) {
      return new CpuMatrix(loaded, null);
    }
    float[] bias = new float[loaded.count() * PANEL];
    int at = 0;
    for (String name : biases) {
      Tensor tensor = source.tensor(name);
      tensor.dequantize(0, bias, at);
      requireFinite(name, bias);
      report(4L * tensor.columns());
      at += tensor.columns();
    }
    return new CpuMatrix(loaded, bias);
  }

  @Override
  public float[] vector(String name) {
    Tensor tensor = source.tensor(name);
    float[] values = new float[tensor.columns()];
    tensor.dequantize(0, values, 0);
    requireFinite(name, values);
    report(4L * values.length);
    return values;
  }

  private static void requireFinite(String name, float[] values) {
    for (float value : values) {
      if (!Float.isFinite(value)) {
        throw new ModelFormatException(
            "tensor " + name + " has a weight of " + value + "; the file is corrupt");
      }
    }
  }

  private void report(long loaded) {
    bytes += loaded;
    progress.advance(loaded);
  }
}
