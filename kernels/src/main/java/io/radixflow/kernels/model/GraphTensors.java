package io.radixflow.kernels.model;

import java.util.LinkedHashMap;
import java.util.Map;

/** The tensors that the forward graph of a configuration reads, with their shapes. */
public final class GraphTensors {

  /**
   * @param rows outputs; 1 for a vector
   * @param columns inputs, or the length of a vector
   * @param vector whether it is a vector
   */
  public record Shape(int rows, int columns, boolean vector) {
    @Override
    public String toString() {
      return vector ? Integer.toString(columns) : rows + " x " + columns;
    }
  }

  private final Map<String, Shape> shapes = new LinkedHashMap<>();

  private GraphTensors() {}

  /** Shapes by canonical name, in the order of the graph. */
  public static Map<String, Shape> of(ModelConfig config) {
    GraphTensors tensors = new GraphTensors();
    tensors.matrix("token_embd.weight", config.vocabSize(), config.hiddenSize());
    for (int layer = 0; layer < config.layers(); layer++) {
      tensors.block(config, "blk." + layer + ".");
    }
    tensors.vector("output_norm.weight", config.hiddenSize());
    if (!config.tiedEmbedding()) {
      tensors.matrix("output.weight", config.vocabSize(), config.hiddenSize());
    }
    return tensors.shapes;
  }

  private void block(ModelConfig config, String prefix) {
    int hidden = config.hiddenSize();
    int queries = config.heads() * config.headDim();
    int keys = config.kvHeads() * config.headDim();
    vector(prefix + "attn_norm.weight", hidden);
    matrix(prefix + "attn_q.weight", queries, hidden);
    matrix(prefix + "attn_k.weight", keys, hidden);
    matrix(prefix + "attn_v.weight", keys, hidden);
    if (config.qkvBias()) {
      vector(prefix + "attn_q.bias", queries);
      vector(prefix + "attn_k.bias", keys);
      vector(prefix + "attn_v.bias", keys);
    }
    if (config.qkNorm()) {
      vector(prefix + "attn_q_norm.weight", config.headDim());
      vector(prefix + "attn_k_norm.weight", config.headDim());
    }
    matrix(prefix + "attn_output.weight", hidden, queries);
    vector(prefix + "ffn_norm.weight", hidden);
    matrix(prefix + "ffn_gate.weight", config.intermediateSize(), hidden);
    matrix(prefix + "ffn_up.weight", config.intermediateSize(), hidden);
    matrix(prefix + "ffn_down.weight", hidden, config.intermediateSize());
  }

  private void vector(String name, int length) {
    shapes.put(name, new Shape(1, length, true));
  }

  private void matrix(String name, int rows, int columns) {
    shapes.put(name, new Shape(rows, columns, false));
  }
}
