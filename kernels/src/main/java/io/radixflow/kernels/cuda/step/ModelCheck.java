package io.radixflow.kernels.cuda.step;

import io.radixflow.models.Attention.Latent;
import io.radixflow.models.Layer;
import io.radixflow.models.ModelConfig;
import java.util.Set;
import java.util.TreeSet;

/** Checks whether the kernels support a model. The error names every unsupported feature. */
final class ModelCheck {

  private ModelCheck() {}

  /**
   * @throws IllegalArgumentException if the kernels do not support the model
   */
  static void check(ModelConfig config) {
    Set<String> unknown = unknown(config);
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException(
          String.format(
              "%s has %s; the CUDA kernels do not support that yet: use device cpu",
              config.architecture(), String.join(", ", unknown)));
    }
    if (config.vocabSize() > SamplingKernel.MAX_VOCAB) {
      throw new IllegalArgumentException(
          String.format(
              "a vocabulary of %s tokens; the CUDA kernels support up to %s",
              config.vocabSize(), SamplingKernel.MAX_VOCAB));
    }
    if (config.hiddenSize() % 8 != 0 || config.intermediateSize() % 8 != 0) {
      throw new IllegalArgumentException(
          String.format(
              "hidden size %s and intermediate size %s; the CUDA kernels support multiples of 8",
              config.hiddenSize(), config.intermediateSize()));
    }
  }

  private static Set<String> unknown(ModelConfig config) {
    Set<String> unknown = new TreeSet<>();
    for (Layer layer : config.blocks()) {
      if (layer.attention() instanceof Latent latent) {
        note(unknown, latent);
      }
    }
    return unknown;
  }

  private static void note(Set<String> unknown, Latent latent) {
    if (latent.rope() == null) {
      unknown.add("latent attention without rotation");
    }
    int widths = latent.queryRank() | latent.plainDim() | latent.rotatedDim() | latent.valueDim();
    if (widths % 8 != 0) {
      unknown.add("latent attention with parts that are not multiples of 8");
    }
  }
}
