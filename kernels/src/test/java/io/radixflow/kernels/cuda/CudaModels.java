package io.radixflow.kernels.cuda;

import io.radixflow.kernels.cpu.SyntheticWeights;
import io.radixflow.kernels.model.FeedForward;
import io.radixflow.kernels.model.FeedForward.Dense;
import io.radixflow.kernels.model.FeedForward.Experts;
import io.radixflow.kernels.model.FeedForward.Router;
import io.radixflow.kernels.model.FeedForward.Scoring;
import io.radixflow.kernels.model.Layer;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.Rope;
import io.radixflow.kernels.model.TensorType;
import io.radixflow.kernels.model.WeightSource;
import java.util.ArrayList;
import java.util.List;

/** Tiny random models that the CUDA kernels know the heads of. */
public final class CudaModels {

  /** Tokens of each vocabulary; no multiple of anything. */
  public static final int VOCAB = 203;

  private CudaModels() {}

  /** Grouped queries, interleaved rotation, tied embedding. */
  public static ModelConfig llama() {
    return llama(VOCAB);
  }

  /** The same as {@link #llama()} with another vocabulary. */
  public static ModelConfig llama(int vocab) {
    return config("llama", vocab, 4, 2, new Rope(10000, true, null), false, false, true);
  }

  /** Biases on q, k and v; halves are rotated. */
  public static ModelConfig qwen2() {
    return config("qwen2", VOCAB, 2, 1, new Rope(1e6, false, null), true, false, true);
  }

  /** Norms on query and key heads, and an output matrix of its own. */
  public static ModelConfig qwen3() {
    return config("qwen3", VOCAB, 3, 3, new Rope(1e6, false, null), false, true, false);
  }

  /** The same as {@link #llama()} with rows of whole groups of 32. */
  public static ModelConfig inGroups() {
    return config("llama", VOCAB, 4, 2, new Rope(10000, true, null), false, false, true, 96, 160);
  }

  /** The same as {@link #llama()} with rows of whole blocks of 256. */
  public static ModelConfig inBlocks() {
    return config("llama", VOCAB, 4, 2, new Rope(10000, true, null), false, false, true, 256, 256);
  }

  /**
   * Two of six experts by softmax, normalised, in every layer, as qwen3_moe and mixtral have them.
   */
  public static ModelConfig experts() {
    return withExperts(qwen3(), 0, Router.softmax(true), 0, false);
  }

  /** The same as {@link #experts()} with rows of whole blocks of 256. */
  public static ModelConfig expertsInBlocks() {
    Dense expert = Dense.silu(256);
    FeedForward experts = new Experts(6, 2, expert, Router.softmax(true), 0, false);
    return replaced(inBlocks(), 0, experts);
  }

  /** With an expert that every token has, weighed by a gate, as qwen2_moe has it. */
  public static ModelConfig sharedExpert() {
    return withExperts(qwen2(), 0, Router.softmax(false), 88, true);
  }

  /** By sigmoid, out of the best groups, behind a dense layer, as deepseek_v3 and glm4_moe. */
  public static ModelConfig groupedExperts() {
    Router router = new Router(Scoring.SIGMOID, false, true, 3, 2, 2, true, 2.5f);
    return withExperts(llama(), 1, router, 40, false);
  }

  private static ModelConfig withExperts(
      ModelConfig config, int firstLayer, Router router, int sharedWidth, boolean gated) {
    Dense expert = Dense.silu(24);
    return replaced(config, firstLayer, new Experts(6, 2, expert, router, sharedWidth, gated));
  }

  /** The model with another feed-forward block from a layer on. */
  private static ModelConfig replaced(ModelConfig config, int firstLayer, FeedForward block) {
    List<Layer> layers = new ArrayList<>(config.blocks());
    for (int i = firstLayer; i < layers.size(); i++) {
      layers.set(i, new Layer(layers.get(i).attention(), block, layers.get(i).norms()));
    }
    return config.withBlocks(layers);
  }

  /** Random weights, bf16 so that a device rounds nothing more. */
  public static WeightSource weights(ModelConfig config) {
    return SyntheticWeights.of(config, TensorType.BF16);
  }

  private static ModelConfig config(
      String architecture,
      int vocab,
      int heads,
      int kvHeads,
      Rope rope,
      boolean bias,
      boolean norm,
      boolean tied) {
    return config(architecture, vocab, heads, kvHeads, rope, bias, norm, tied, 72, 104);
  }

  private static ModelConfig config(
      String architecture,
      int vocab,
      int heads,
      int kvHeads,
      Rope rope,
      boolean bias,
      boolean norm,
      boolean tied,
      int hidden,
      int intermediate) {
    return ModelConfig.uniform(
        architecture,
        architecture,
        vocab,
        1024,
        2,
        hidden,
        intermediate,
        heads,
        kvHeads,
        64,
        1e-5f,
        rope,
        bias,
        norm,
        tied);
  }
}
