package io.radixflow.kernels.cpu;

import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import io.radixflow.kernels.model.WeightSource;
import java.util.LinkedHashMap;
import java.util.Map;

/** A model of random weights, the same on every machine. */
public final class SyntheticWeights implements WeightSource {

  private final ModelConfig config;
  private final TensorType type;
  private final Map<String, Tensor> tensors = new LinkedHashMap<>();

  private SyntheticWeights(ModelConfig config, TensorType type) {
    this.config = config;
    this.type = type;
  }

  /** All matrices of one type. */
  public static SyntheticWeights of(ModelConfig config, TensorType type) {
    return of(config, type, type, type);
  }

  /** The value projection and the embedding may have types of their own. */
  public static SyntheticWeights of(
      ModelConfig config, TensorType type, TensorType valueType, TensorType embeddingType) {
    SyntheticWeights weights = new SyntheticWeights(config, type);
    int hidden = config.hiddenSize();
    int queries = config.heads() * config.headDim();
    int keys = config.kvHeads() * config.headDim();
    weights.matrix("token_embd.weight", embeddingType, config.vocabSize(), hidden);
    if (!config.tiedEmbedding()) {
      weights.matrix("output.weight", embeddingType, config.vocabSize(), hidden);
    }
    weights.vector("output_norm.weight", hidden, 1f);
    for (int layer = 0; layer < config.layers(); layer++) {
      String prefix = "blk." + layer + ".";
      weights.vector(prefix + "attn_norm.weight", hidden, 1f);
      weights.matrix(prefix + "attn_q.weight", type, queries, hidden);
      weights.matrix(prefix + "attn_k.weight", type, keys, hidden);
      weights.matrix(prefix + "attn_v.weight", valueType, keys, hidden);
      if (config.qkvBias()) {
        weights.vector(prefix + "attn_q.bias", queries, 0f);
        weights.vector(prefix + "attn_k.bias", keys, 0f);
        weights.vector(prefix + "attn_v.bias", keys, 0f);
      }
      if (config.qkNorm()) {
        weights.vector(prefix + "attn_q_norm.weight", config.headDim(), 1f);
        weights.vector(prefix + "attn_k_norm.weight", config.headDim(), 1f);
      }
      weights.matrix(prefix + "attn_output.weight", type, hidden, queries);
      weights.vector(prefix + "ffn_norm.weight", hidden, 1f);
      weights.matrix(prefix + "ffn_gate.weight", type, config.intermediateSize(), hidden);
      weights.matrix(prefix + "ffn_up.weight", type, config.intermediateSize(), hidden);
      weights.matrix(prefix + "ffn_down.weight", type, hidden, config.intermediateSize());
    }
    return weights;
  }

  private void matrix(String name, TensorType matrixType, int rows, int columns) {
    float size = (float) (3 / Math.sqrt(columns));
    tensors.put(name, new SyntheticTensor(name, matrixType, rows, columns, size, 0f, 7));
  }

  private void vector(String name, int columns, float center) {
    tensors.put(name, new SyntheticTensor(name, TensorType.F32, 1, columns, 0.3f, center, 7));
  }

  @Override
  public ModelConfig config() {
    return config;
  }

  @Override
  public Tensor tensor(String name) {
    Tensor tensor = tensors.get(name);
    if (tensor == null) {
      throw new ModelFormatException("no tensor " + name);
    }
    return tensor;
  }

  @Override
  public String fingerprint() {
    return String.format("%016x", config.hashCode() * 31L + type.ordinal());
  }

  @Override
  public void close() {}
}
