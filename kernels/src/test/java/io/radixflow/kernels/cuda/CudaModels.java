package io.radixflow.kernels.cuda;

import io.radixflow.kernels.cpu.SyntheticWeights;
import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.Attention.QkNorm;
import io.radixflow.models.Attention.QueryGrowth;
import io.radixflow.models.Attention.Scores;
import io.radixflow.models.FeedForward;
import io.radixflow.models.FeedForward.Dense;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.FeedForward.Gating;
import io.radixflow.models.FeedForward.Router;
import io.radixflow.models.FeedForward.Scoring;
import io.radixflow.models.Layer;
import io.radixflow.models.Layer.Norms;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelConfig.Norm;
import io.radixflow.models.ModelConfig.Scales;
import io.radixflow.models.Rope;
import io.radixflow.models.Rope.YarnScaling;
import io.radixflow.models.TensorType;
import io.radixflow.models.WeightSource;
import java.util.ArrayList;
import java.util.List;

/** Tiny random models whose heads the CUDA kernels support. */
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
    return inBlocks(false);
  }

  /** The same with biases of queries, keys and values or without. */
  static ModelConfig inBlocks(boolean bias) {
    return config("llama", VOCAB, 4, 2, new Rope(10000, true, null), bias, false, true, 256, 256);
  }

  /**
   * Two of six experts by softmax, normalised, in every layer, as qwen3_moe and mixtral have them.
   */
  public static ModelConfig experts() {
    return withExperts(qwen3(), 0, Router.softmax(true), 0, false);
  }

  /** A model with its norms elsewhere. */
  static ModelConfig withNorms(ModelConfig config, Norms norms) {
    return config.withBlocks(
        config.blocks().stream()
            .map(layer -> new Layer(layer.attention(), layer.feedForward(), norms))
            .toList());
  }

  /** The same as {@link #experts()} with rows of whole blocks of 256. */
  public static ModelConfig expertsInBlocks() {
    Dense expert = Dense.silu(256);
    FeedForward experts = new Experts(6, 2, expert, Router.softmax(true), 0, false);
    return replaced(inBlocks(), 0, experts);
  }

  /** A model with an expert for every token, weighted by a gate, as in qwen2_moe. */
  public static ModelConfig sharedExpert() {
    return withExperts(qwen2(), 0, Router.softmax(false), 88, true);
  }

  /**
   * A model with a dense layer, then experts chosen by sigmoid from the best groups, as in
   * deepseek_v3 and glm4_moe.
   */
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

  /** Windows in every other layer, norms on both sides, soft caps, gelu, scaled embeddings. */
  public static ModelConfig windowed() {
    return windowed(VOCAB);
  }

  /** A window in every layer. */
  static ModelConfig windowedOnly() {
    ModelConfig config = windowed();
    Layer layer = config.layer(0);
    return config.withBlocks(List.of(layer, layer));
  }

  /** The same as {@link #windowed()} with another vocabulary. */
  public static ModelConfig windowed(int vocab) {
    Rope local = new Rope(10000, false, null);
    Rope global = new Rope(1e6, false, new YarnScaling(4, 64, 32, 1, true));
    Scores scores = new Scores(0.1f, 5, false, null);
    Dense mlp = new Dense(104, Gating.GELU_TANH, 0, false);
    Grouped windowed = new Grouped(4, 2, 32, local, false, false, QkNorm.HEAD, 19, scores);
    Grouped full = new Grouped(4, 2, 32, global, false, false, QkNorm.HEAD, 0, scores);
    return model(
        vocab,
        Norm.rms(1e-5f),
        new Scales(8, 1, 1, 12),
        new Layer(windowed, mlp, Norms.BEFORE_AND_AFTER),
        new Layer(full, mlp, Norms.BEFORE_AND_AFTER));
  }

  /** Sinks, a window, biases everywhere, a clamped gate; queries that grow; a part rotates. */
  public static ModelConfig sinks() {
    Rope rope = new Rope(10000, true, null, List.of(), 0.5, 1.2);
    Scores scores = new Scores(0.1f, 0, true, new QueryGrowth(0.1, 32));
    Dense mlp = new Dense(40, Gating.CLAMPED_SILU, 2, true);
    Grouped windowed = new Grouped(6, 2, 64, rope, true, true, QkNorm.NONE, 128, scores);
    Grouped full = new Grouped(6, 2, 64, rope, true, true, QkNorm.NONE, 0, scores);
    return model(
        Norm.rms(1e-5f),
        Scales.NONE,
        new Layer(windowed, mlp, Norms.BEFORE),
        new Layer(full, mlp, Norms.BEFORE));
  }

  /** Norms that subtract the mean, beside the blocks; a layer that is not rotated. */
  public static ModelConfig parallel() {
    Rope rope = new Rope(10000, true, null);
    Dense mlp = Dense.silu(96);
    Grouped rotated =
        new Grouped(4, 4, 16, rope, false, false, QkNorm.ALL_HEADS, 33, Scores.of(16));
    Grouped plain = new Grouped(4, 4, 16, null, false, true, QkNorm.ALL_HEADS, 0, Scores.of(16));
    return model(
        new Norm(true, 1e-5f, 1e-6f),
        Scales.NONE,
        new Layer(plain, mlp, Norms.AFTER),
        new Layer(rotated, mlp, Norms.PARALLEL));
  }

  /** Scaled embeddings, residuals and logits; wide heads, of which an odd part rotates. */
  public static ModelConfig multiplied() {
    Rope rope = new Rope(10000, false, null, List.of(), 0.7, 1);
    Grouped attention =
        new Grouped(
            2, 1, 256, rope, false, false, QkNorm.HEAD, 0, new Scores(0.05f, 0, false, null));
    return model(
        Norm.rms(1e-5f),
        new Scales(6, 0.4f, 0.125f, 0),
        new Layer(attention, Dense.silu(96), Norms.BEFORE),
        new Layer(attention, Dense.silu(96), Norms.BEFORE));
  }

  /** Layers whose heads differ in number, width and groups; some have a window. */
  public static ModelConfig uneven() {
    Layer few = uneven(2, 1, 64, QkNorm.HEAD, 0);
    Layer many = uneven(12, 1, 32, QkNorm.ALL_HEADS, 40);
    return model(Norm.rms(1e-5f), Scales.NONE, few, many, uneven(4, 4, 16, QkNorm.NONE, 40), few);
  }

  private static Layer uneven(int heads, int kvHeads, int headDim, QkNorm norm, int window) {
    Rope rope = new Rope(10000, false, null);
    Scores scores = Scores.of(headDim);
    return new Layer(
        new Grouped(heads, kvHeads, headDim, rope, false, false, norm, window, scores),
        Dense.silu(96),
        Norms.BEFORE);
  }

  /** Latent attention of two widths, beside attention that is not latent. */
  public static ModelConfig unevenLatent() {
    Rope rope = new Rope(10000, true, null);
    Latent narrow = new Latent(6, 40, 32, 16, 8, 24, rope, false, 0.2f);
    Latent wide = new Latent(3, 24, 512, 32, 64, 32, rope, false, 0.05f);
    return latent(
        new Layer(narrow, Dense.silu(104), Norms.BEFORE),
        uneven(4, 2, 32, QkNorm.HEAD, 0),
        new Layer(wide, Dense.silu(40), Norms.BEFORE));
  }

  private static ModelConfig model(Norm norm, Scales scales, Layer... layers) {
    return model(VOCAB, norm, scales, layers);
  }

  private static ModelConfig model(int vocab, Norm norm, Scales scales, Layer... layers) {
    return new ModelConfig(
        "synthetic", "synthetic", vocab, 1024, 64, norm, scales, List.of(layers), false);
  }

  /**
   * Latent attention, with and without compressed queries, in front of experts, as deepseek_v3 and
   * deepseek_v2 have it.
   */
  public static ModelConfig latent() {
    Rope rope = new Rope(10000, true, null, List.of(), 1, 1.25);
    Router router = new Router(Scoring.SIGMOID, false, true, 3, 2, 2, true, 2.5f);
    Experts experts = new Experts(6, 2, Dense.silu(24), router, 40, false);
    return latent(
        new Layer(
            new Latent(6, 40, 32, 16, 8, 24, rope, true, 0.2f), Dense.silu(104), Norms.BEFORE),
        new Layer(new Latent(6, 0, 32, 24, 8, 16, rope, false, 0.2f), experts, Norms.BEFORE));
  }

  /** Latent attention of the width that deepseek_v2 and deepseek_v3 have. */
  public static ModelConfig wideLatent() {
    Rope rope = new Rope(10000, false, null);
    Latent wide = new Latent(5, 0, 512, 32, 64, 32, rope, false, 0.1f);
    return latent(new Layer(wide, Dense.silu(104), Norms.BEFORE));
  }

  private static ModelConfig latent(Layer... layers) {
    return new ModelConfig(
        "deepseek_v3",
        "latent",
        VOCAB,
        1024,
        72,
        new Norm(false, 1e-5f, 1e-6f),
        Scales.NONE,
        List.of(layers),
        false);
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
