package io.radixflow.kernels.cpu;

import io.radixflow.models.ModelConfig;
import io.radixflow.models.Rope.Llama3Scaling;
import io.radixflow.models.Tensor;
import io.radixflow.models.WeightSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The forward pass in double, one token after another, with plain arrays: what the backend is
 * measured against.
 */
public final class NaiveModel {

  private final WeightSource weights;
  private final ModelConfig config;
  private final Map<String, float[][]> matrices = new HashMap<>();
  private final List<List<double[]>> keys = new ArrayList<>();
  private final List<List<double[]>> values = new ArrayList<>();

  /** Before the first token. */
  public NaiveModel(WeightSource weights) {
    this.weights = weights;
    config = weights.config();
    for (int layer = 0; layer < config.layers(); layer++) {
      keys.add(new ArrayList<>());
      values.add(new ArrayList<>());
    }
  }

  /** Logits after the next token. */
  public double[] next(int token) {
    double[] x = row(weights.tensor("token_embd.weight"), token);
    for (int layer = 0; layer < config.layers(); layer++) {
      String prefix = "blk." + layer + ".";
      double[] normed = norm(x, prefix + "attn_norm.weight");
      add(x, times(prefix + "attn_output.weight", attend(layer, prefix, normed)));
      normed = norm(x, prefix + "ffn_norm.weight");
      double[] gate = times(prefix + "ffn_gate.weight", normed);
      double[] up = times(prefix + "ffn_up.weight", normed);
      for (int i = 0; i < gate.length; i++) {
        gate[i] = gate[i] / (1 + Math.exp(-gate[i])) * up[i];
      }
      add(x, times(prefix + "ffn_down.weight", gate));
    }
    String head = config.tiedEmbedding() ? "token_embd.weight" : "output.weight";
    return times(head, norm(x, "output_norm.weight"));
  }

  private double[] attend(int layer, String prefix, double[] x) {
    double[] q = heads(prefix, "q", config.heads(), x, keys.get(layer).size());
    double[] k = heads(prefix, "k", config.kvHeads(), x, keys.get(layer).size());
    keys.get(layer).add(k);
    values.get(layer).add(biased(prefix + "attn_v", x));
    double[] out = new double[q.length];
    for (int head = 0; head < config.heads(); head++) {
      int kvHead = head / (config.heads() / config.kvHeads());
      attendHead(layer, q, head * config.headDim(), kvHead * config.headDim(), out);
    }
    return out;
  }

  private void attendHead(int layer, double[] q, int qo, int ko, double[] out) {
    int tokens = keys.get(layer).size();
    double[] weight = new double[tokens];
    double sum = 0;
    for (int t = 0; t < tokens; t++) {
      double dot = 0;
      for (int d = 0; d < config.headDim(); d++) {
        dot += q[qo + d] * keys.get(layer).get(t)[ko + d];
      }
      weight[t] = Math.exp(dot / Math.sqrt(config.headDim()));
      sum += weight[t];
    }
    for (int t = 0; t < tokens; t++) {
      for (int d = 0; d < config.headDim(); d++) {
        out[qo + d] += weight[t] / sum * values.get(layer).get(t)[ko + d];
      }
    }
  }

  private double[] heads(String prefix, String which, int count, double[] x, int position) {
    double[] all = biased(prefix + "attn_" + which, x);
    int headDim = config.headDim();
    for (int head = 0; head < count; head++) {
      double[] one = Arrays.copyOfRange(all, head * headDim, (head + 1) * headDim);
      if (config.qkNorm()) {
        one = norm(one, prefix + "attn_" + which + "_norm.weight");
      }
      rotate(one, position);
      System.arraycopy(one, 0, all, head * headDim, headDim);
    }
    return all;
  }

  private void rotate(double[] x, int position) {
    int half = x.length / 2;
    for (int i = 0; i < half; i++) {
      double angle = position * frequency(i);
      int a = config.rope().interleaved() ? 2 * i : i;
      int b = config.rope().interleaved() ? 2 * i + 1 : i + half;
      double first = x[a];
      x[a] = first * Math.cos(angle) - x[b] * Math.sin(angle);
      x[b] = first * Math.sin(angle) + x[b] * Math.cos(angle);
    }
  }

  private double frequency(int i) {
    double frequency = Math.pow(config.rope().base(), -2.0 * i / config.headDim());
    Llama3Scaling s = (Llama3Scaling) config.rope().scaling();
    if (s == null) {
      return frequency;
    }
    double wavelength = 2 * Math.PI / frequency;
    if (wavelength > s.originalContext() / s.lowFrequencyFactor()) {
      return frequency / s.factor();
    }
    if (wavelength < s.originalContext() / s.highFrequencyFactor()) {
      return frequency;
    }
    double smooth =
        (s.originalContext() / wavelength - s.lowFrequencyFactor())
            / (s.highFrequencyFactor() - s.lowFrequencyFactor());
    return (1 - smooth) * (frequency / s.factor()) + smooth * frequency;
  }

  private double[] biased(String name, double[] x) {
    double[] out = times(name + ".weight", x);
    if (config.qkvBias()) {
      add(out, row(weights.tensor(name + ".bias"), 0));
    }
    return out;
  }

  private double[] times(String name, double[] x) {
    float[][] matrix = matrices.computeIfAbsent(name, key -> dequantize(weights.tensor(key)));
    double[] out = new double[matrix.length];
    for (int i = 0; i < out.length; i++) {
      double sum = 0;
      for (int k = 0; k < x.length; k++) {
        sum += matrix[i][k] * x[k];
      }
      out[i] = sum;
    }
    return out;
  }

  private static float[][] dequantize(Tensor tensor) {
    float[][] rows = new float[tensor.rows()][tensor.columns()];
    for (int i = 0; i < rows.length; i++) {
      tensor.dequantize(i, rows[i], 0);
    }
    return rows;
  }

  private double[] norm(double[] x, String gain) {
    double[] weight = row(weights.tensor(gain), 0);
    double squares = 0;
    for (double v : x) {
      squares += v * v;
    }
    double factor = 1 / Math.sqrt(squares / x.length + config.normEpsilon());
    double[] out = new double[x.length];
    for (int i = 0; i < x.length; i++) {
      out[i] = x[i] * factor * weight[i];
    }
    return out;
  }

  private static double[] row(Tensor tensor, int row) {
    float[] values = new float[tensor.columns()];
    tensor.dequantize(row, values, 0);
    double[] out = new double[values.length];
    for (int i = 0; i < out.length; i++) {
      out[i] = values[i];
    }
    return out;
  }

  private static void add(double[] target, double[] delta) {
    for (int i = 0; i < target.length; i++) {
      target[i] += delta[i];
    }
  }
}
