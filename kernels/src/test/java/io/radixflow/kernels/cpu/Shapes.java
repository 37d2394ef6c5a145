package io.radixflow.kernels.cpu;

import io.radixflow.models.Attention;
import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.Attention.QkNorm;
import io.radixflow.models.Attention.QueryGrowth;
import io.radixflow.models.Attention.Scores;
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
import io.radixflow.models.Rope.Llama3Scaling;
import io.radixflow.models.Rope.YarnScaling;
import java.util.List;

/** Shapes of small models for tests. */
public final class Shapes {

  private static final Llama3Scaling SCALING = new Llama3Scaling(8, 1, 4, 64);

  private Shapes() {}

  /** Grouped queries, interleaved rotation, tied embedding. */
  public static ModelConfig llama() {
    return config("llama", 96, 3, 1, 32, new Rope(10000, true, null), false, false, true);
  }

  /** The llama shape with frequency scaling and its own output matrix. */
  public static ModelConfig llama3() {
    return config("llama", 64, 4, 2, 16, new Rope(500000, true, SCALING), false, false, false);
  }

  /** Biases on q, k and v; halves are rotated. */
  public static ModelConfig qwen2() {
    return config("qwen2", 64, 4, 2, 16, new Rope(1e6, false, null), true, false, true);
  }

  /** Norms on query and key heads, whose width is not hidden size by heads. */
  public static ModelConfig qwen3() {
    return config("qwen3", 64, 2, 2, 48, new Rope(1e6, false, null), false, true, true);
  }

  /** Widths that are no multiple of any vector: for the float types. */
  public static ModelConfig odd() {
    return config("llama", 52, 3, 3, 10, new Rope(10000, true, null), false, false, false);
  }

  /** One block of 256 columns a row: for the K-quants. */
  static ModelConfig wide() {
    return ModelConfig.uniform(
        "llama",
        "wide",
        300,
        512,
        1,
        256,
        512,
        8,
        4,
        32,
        1e-5f,
        new Rope(10000, true, null),
        false,
        false,
        true);
  }

  /** Windows in every other layer, norms on both sides, soft caps, gelu, scaled embeddings. */
  public static ModelConfig windowed() {
    Rope local = new Rope(10000, false, null);
    Rope global = new Rope(1e6, false, new YarnScaling(4, 64, 32, 1, true));
    Scores scores = new Scores(0.2f, 5, false, null);
    Dense mlp = new Dense(104, Gating.GELU_TANH, 0, false);
    return model(
        Norm.rms(1e-5f),
        new Scales(8, 1, 1, 12),
        new Layer(
            new Grouped(4, 2, 24, local, false, false, QkNorm.HEAD, 19, scores),
            mlp,
            Norms.BEFORE_AND_AFTER),
        new Layer(
            new Grouped(4, 2, 24, global, false, false, QkNorm.HEAD, 0, scores),
            mlp,
            Norms.BEFORE_AND_AFTER));
  }

  /** Sinks, windows, biases everywhere, experts with a clamped gate; an own scale by position. */
  public static ModelConfig sinks() {
    Rope rope = new Rope(10000, false, null, List.of(), 0.5, 1.2);
    Scores scores = new Scores(0.25f, 0, true, new QueryGrowth(0.1, 32));
    Experts experts =
        new Experts(
            8,
            2,
            new Dense(40, Gating.CLAMPED_SILU, 2, true),
            new Router(Scoring.SOFTMAX, true, false, 1, 1, 1, true, 1),
            0,
            false);
    return model(
        Norm.rms(1e-5f),
        new Scales(1, 0.6f, 0.125f, 0),
        new Layer(
            new Grouped(6, 2, 16, rope, true, true, QkNorm.NONE, 16, scores),
            experts,
            Norms.BEFORE),
        new Layer(
            new Grouped(6, 2, 16, rope, true, true, QkNorm.NONE, 0, scores),
            experts,
            Norms.BEFORE));
  }

  /** Norms that subtract the mean, beside the blocks; a layer that is not rotated. */
  public static ModelConfig parallel() {
    Rope rope = new Rope(10000, true, null);
    Scores scores = Scores.of(16);
    Dense mlp = new Dense(100, Gating.SILU, 0, true);
    return model(
        new Norm(true, 1e-5f, 1e-6f),
        Scales.NONE,
        new Layer(
            new Grouped(4, 4, 16, rope, false, false, QkNorm.ALL_HEADS, 33, scores),
            mlp,
            Norms.PARALLEL),
        new Layer(
            new Grouped(4, 4, 16, null, false, true, QkNorm.NONE, 0, scores), mlp, Norms.AFTER));
  }

  /** Latent attention with compressed queries; groups of experts, and one that all tokens have. */
  public static ModelConfig latent() {
    Rope rope = new Rope(10000, true, null);
    Latent compressed = new Latent(6, 40, 48, 16, 8, 20, rope, true, 0.2f);
    Router router = new Router(Scoring.SIGMOID, false, true, 4, 2, 2, true, 2.5f);
    Experts experts = new Experts(8, 3, Dense.silu(24), router, 48, true);
    return model(
        new Norm(false, 1e-5f, 1e-6f),
        Scales.NONE,
        new Layer(compressed, Dense.silu(112), Norms.BEFORE),
        new Layer(new Latent(6, 0, 48, 16, 8, 20, rope, false, 0.2f), experts, Norms.BEFORE));
  }

  /** Experts and latent attention of whole blocks of 32 columns: for encodings by blocks. */
  public static ModelConfig mixture() {
    Rope rope = new Rope(10000, true, null);
    Router router = new Router(Scoring.SOFTMAX, true, false, 1, 1, 1, true, 1);
    Experts experts = new Experts(8, 3, Dense.silu(96), router, 32, false);
    return model(
        Norm.rms(1e-5f),
        Scales.NONE,
        new Layer(
            new Latent(4, 32, 64, 32, 32, 32, rope, false, 0.15f), Dense.silu(160), Norms.BEFORE),
        new Layer(
            new Grouped(4, 2, 16, rope, true, true, QkNorm.NONE, 0, Scores.of(16)),
            experts,
            Norms.BEFORE));
  }

  /** One layer with this attention. */
  public static ModelConfig of(Attention attention) {
    return model(Norm.rms(1e-5f), Scales.NONE, new Layer(attention, Dense.silu(64), Norms.BEFORE));
  }

  private static ModelConfig model(Norm norm, Scales scales, Layer... layers) {
    return new ModelConfig(
        "synthetic", "synthetic", 203, 1024, 64, norm, scales, List.of(layers), false);
  }

  private static ModelConfig config(
      String architecture,
      int hidden,
      int heads,
      int kvHeads,
      int headDim,
      Rope rope,
      boolean bias,
      boolean norm,
      boolean tied) {
    return ModelConfig.uniform(
        architecture,
        architecture,
        203,
        1024,
        2,
        hidden,
        2 * hidden,
        heads,
        kvHeads,
        headDim,
        1e-5f,
        rope,
        bias,
        norm,
        tied);
  }
}
