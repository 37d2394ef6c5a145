package io.radixflow.kernels.model.file;

import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.WeightSource;
import java.util.Collection;
import java.util.Map;
import java.util.function.Supplier;

/** Weights whose tensors are at hand, mapped from files or made; safe for many threads. */
final class MappedWeights implements WeightSource {
  private final ModelConfig config;
  private final Supplier<String> fingerprint;
  private volatile Map<String, Tensor> tensors;

  /**
   * @param tensors every tensor of the graph by canonical name
   * @param fingerprint computed when first asked for
   */
  MappedWeights(ModelConfig config, Map<String, Tensor> tensors, Supplier<String> fingerprint) {
    this.config = config;
    this.tensors = Map.copyOf(tensors);
    this.fingerprint = fingerprint;
  }

  @Override
  public ModelConfig config() {
    return config;
  }

  @Override
  public Tensor tensor(String name) {
    Tensor tensor = tensors.get(name);
    if (tensor == null) {
      throw new ModelFormatException("model " + config.name() + " has no tensor " + name);
    }
    return tensor;
  }

  /** The tensors of the graph; none once closed. */
  Collection<Tensor> tensors() {
    return tensors.values();
  }

  @Override
  public String fingerprint() {
    return fingerprint.get();
  }

  @Override
  public void close() {
    tensors = Map.of();
  }
}
