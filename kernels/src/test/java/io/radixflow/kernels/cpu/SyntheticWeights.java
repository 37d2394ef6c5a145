package io.radixflow.kernels.cpu;

import io.radixflow.models.GraphTensors;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.WeightSource;
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
    GraphTensors.of(config)
        .forEach(
            (name, shape) -> {
              if (shape.vector()) {
                weights.vector(name, shape.columns(), name.endsWith("norm.weight") ? 1f : 0f);
              } else {
                TensorType own =
                    name.startsWith("blk.")
                        ? name.endsWith("attn_v.weight") ? valueType : type
                        : embeddingType;
                weights.matrix(name, own, shape.rows(), shape.columns());
              }
            });
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
