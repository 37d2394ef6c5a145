package io.radixflow.kernels.cpu;

import static io.radixflow.kernels.cpu.kernel.Kernels.PANEL;

import io.radixflow.kernels.cpu.weights.CpuMatrix;
import io.radixflow.kernels.cpu.weights.Panels;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.WeightLoader;
import io.radixflow.kernels.model.WeightSource;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Repacks a model's weights into panels; logs its progress when that takes long. */
final class CpuWeightLoader implements WeightLoader<CpuMatrix, float[]> {

  private static final Logger LOG = LoggerFactory.getLogger(CpuWeightLoader.class);
  private static final long REPORT_NANOS = 2_000_000_000L;

  private final WeightSource source;
  private final PanelLoader panels;
  private long reported = System.nanoTime();
  private long bytes;
  private long embeddingBytes;

  CpuWeightLoader(WeightSource source, WorkerTeam team) {
    this.source = source;
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
    List<Tensor> tensors = new ArrayList<>();
    for (String name : weights) {
      tensors.add(source.tensor(name));
    }
    Panels loaded = panels.load(tensors);
    report(weights.get(0), loaded.bytes());
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
      at += tensor.columns();
    }
    return new CpuMatrix(loaded, bias);
  }

  @Override
  public float[] vector(String name) {
    Tensor tensor = source.tensor(name);
    float[] values = new float[tensor.columns()];
    tensor.dequantize(0, values, 0);
    report(name, 4L * values.length);
    return values;
  }

  private void report(String name, long loaded) {
    bytes += loaded;
    long now = System.nanoTime();
    if (now - reported > REPORT_NANOS) {
      reported = now;
      LOG.info("Loading weights: {} MB so far ({})", bytes >> 20, name);
    }
  }
}
