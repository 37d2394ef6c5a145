package io.radixflow.models.file;

import io.radixflow.models.Attention.QkNorm;
import io.radixflow.models.Layer.Norms;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * The architectures of GGUF files, and the properties that files omit because the name of the
 * architecture implies them. The graph does not use these names: {@link GgufConfig} and the classes
 * that it uses turn names, metadata and tensors into a description, layer by layer.
 */
enum GgufArchitecture {
  LLAMA("llama", Norms.BEFORE, QkNorm.NONE, 0, Trait.NEIGHBOURS, Trait.EXPERTS),
  MISTRAL3("mistral3", Norms.BEFORE, QkNorm.NONE, 0, Trait.NEIGHBOURS),
  QWEN2("qwen2", Norms.BEFORE, QkNorm.NONE, -1),
  QWEN3("qwen3", Norms.BEFORE, QkNorm.HEAD, -1),
  QWEN2MOE("qwen2moe", Norms.BEFORE, QkNorm.NONE, -1, Trait.EXPERTS, Trait.GATED_SHARED_EXPERT),
  QWEN3MOE("qwen3moe", Norms.BEFORE, QkNorm.HEAD, -1, Trait.EXPERTS),
  GEMMA2(
      "gemma2",
      Norms.BEFORE_AND_AFTER,
      QkNorm.NONE,
      2,
      Trait.GELU,
      Trait.EMBEDDING_SCALED_BY_WIDTH),
  GEMMA3(
      "gemma3",
      Norms.BEFORE_AND_AFTER,
      QkNorm.HEAD,
      6,
      Trait.GELU,
      Trait.EMBEDDING_SCALED_BY_WIDTH,
      Trait.WINDOWS_NOT_SCALED),
  PHI3("phi3", Norms.BEFORE, QkNorm.NONE, 0),
  GLM4("glm4", Norms.BEFORE_AND_AFTER, QkNorm.NONE, -1, Trait.NEIGHBOURS),
  COHERE2(
      "cohere2",
      Norms.PARALLEL,
      QkNorm.NONE,
      4,
      Trait.NEIGHBOURS,
      Trait.CENTRED_NORMS,
      Trait.LOGITS_MULTIPLIED,
      Trait.ROTATES_WINDOWS_ONLY),
  OLMO2("olmo2", Norms.AFTER, QkNorm.ALL_HEADS, 4, Trait.WINDOWS_NOT_SCALED),
  EXAONE4("exaone4", Norms.AFTER, QkNorm.HEAD, 4, Trait.ROTATES_WINDOWS_ONLY),
  GRANITE(
      "granite",
      Norms.BEFORE,
      QkNorm.NONE,
      -1,
      Trait.NEIGHBOURS,
      Trait.LOGITS_DIVIDED,
      Trait.ROTATES_IF_FINETUNED),
  SMOLLM3("smollm3", Norms.BEFORE, QkNorm.NONE, -1, Trait.NEIGHBOURS, Trait.FOURTH_NOT_ROTATED),
  DEEPSEEK2(
      "deepseek2",
      Norms.BEFORE,
      QkNorm.NONE,
      -1,
      Trait.NEIGHBOURS,
      Trait.LATENT,
      Trait.EXPERTS,
      Trait.GROUPED_EXPERTS),
  GLM4MOE(
      "glm4moe",
      Norms.BEFORE,
      QkNorm.NONE,
      -1,
      Trait.HEAD_NORMS_IF_STORED,
      Trait.SECOND_NORM_NAMED_POST,
      Trait.EXPERTS,
      Trait.GROUPED_EXPERTS),
  GPT_OSS(
      "gpt-oss",
      Norms.BEFORE,
      QkNorm.NONE,
      2,
      Trait.SECOND_NORM_NAMED_POST,
      Trait.YARN_NOT_TRUNCATED,
      Trait.CLAMPED_EXPERTS,
      Trait.EXPERTS);

  /** A property of an architecture that does not depend on its metadata. */
  enum Trait {
    /** A rotary pair is two neighbouring rows of queries and keys. */
    NEIGHBOURS,
    /** Layers have experts if the file has a number of experts. */
    EXPERTS,
    /** There is also a shared expert, which has its own gate. */
    GATED_SHARED_EXPERT,
    /** Experts may have groups, shared experts have no gate, and the first layers may be dense. */
    GROUPED_EXPERTS,
    /** Experts clamp their gate and up projections at 7. */
    CLAMPED_EXPERTS,
    /** Keys and values are compressed. */
    LATENT,
    /** Queries and keys have norms if the file contains these norms. */
    HEAD_NORMS_IF_STORED,
    /** The norm before the MLP has a name that usually means a norm after attention. */
    SECOND_NORM_NAMED_POST,
    /** YaRN blends frequencies between limits that are not rounded to whole indexes. */
    YARN_NOT_TRUNCATED,
    /** The gate of the MLP uses gelu instead of silu. */
    GELU,
    /** Norms subtract the mean. */
    CENTRED_NORMS,
    /** Embeddings are multiplied by the square root of their width. */
    EMBEDDING_SCALED_BY_WIDTH,
    /** Logits are multiplied by {@code logit_scale}. */
    LOGITS_MULTIPLIED,
    /** Logits are divided by {@code logit_scale}. */
    LOGITS_DIVIDED,
    /** If some layers have windows, the other layers have no rotary embedding. */
    ROTATES_WINDOWS_ONLY,
    /** The rotary embedding of layers with windows is not scaled. */
    WINDOWS_NOT_SCALED,
    /** Every fourth layer has no rotary embedding. */
    FOURTH_NOT_ROTATED,
    /** No layer has a rotary embedding if {@code rope.scaling.finetuned} is false. */
    ROTATES_IF_FINETUNED
  }

  private final String type;
  private final Norms norms;
  private final QkNorm qkNorm;
  private final int windowPeriod;
  private final Set<Trait> traits;

  GgufArchitecture(String type, Norms norms, QkNorm qkNorm, int windowPeriod, Trait... traits) {
    this.type = type;
    this.norms = norms;
    this.qkNorm = qkNorm;
    this.windowPeriod = windowPeriod;
    this.traits = EnumSet.noneOf(Trait.class);
    this.traits.addAll(List.of(traits));
  }

  /** Finds an architecture by the value of {@code general.architecture}. */
  static GgufArchitecture of(String type, SupportedShapes check) {
    check.architecture(type, Arrays.stream(values()).map(GgufArchitecture::type).toList());
    return Arrays.stream(values()).filter(one -> one.type.equals(type)).findFirst().orElseThrow();
  }

  /**
   * The value of {@code general.architecture}, which is also the prefix of the file's other keys.
   */
  String type() {
    return type;
  }

  Norms norms() {
    return norms;
  }

  QkNorm qkNorm() {
    return qkNorm;
  }

  boolean has(Trait trait) {
    return traits.contains(trait);
  }

  /**
   * Which layers have windows if a file has a window but no pattern: of every n layers, the last
   * sees all tokens. 0 if all layers have windows, -1 if such a file is not supported.
   */
  int windowPeriod() {
    return windowPeriod;
  }

  /** The window if the file has none; 0 for no window. */
  int usualWindow() {
    return this == GEMMA2 || this == COHERE2 ? 4096 : 0;
  }

  /** The bound of the scores if the file has none; 0 for no bound. */
  float usualScoreCap() {
    return this == GEMMA2 ? 50 : 0;
  }

  /** The bound of the logits if the file has none; 0 for no bound. */
  float usualLogitCap() {
    return this == GEMMA2 ? 30 : 0;
  }

  /** The rotary base of layers with windows if the file has none. */
  double usualWindowBase(double base) {
    return this == GEMMA3 ? 10_000 : base;
  }

  /**
   * Returns whether scores are scaled by the width of the model divided by its heads, instead of by
   * the width of a head. Models with 27 billion weights were trained that way. No key says so; the
   * number of layers reveals it.
   */
  boolean scalesByWidth(int layers) {
    return this == GEMMA2 && layers == 46 || this == GEMMA3 && layers == 62;
  }
}
