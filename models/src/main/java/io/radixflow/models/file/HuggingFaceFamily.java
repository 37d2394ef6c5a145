package io.radixflow.models.file;

import io.radixflow.models.Attention.QkNorm;
import io.radixflow.models.Layer.Norms;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Model types of the transformers library. Has the properties that their modeling code fixes, and
 * the library's defaults for fields that a {@code config.json} may omit.
 */
enum HuggingFaceFamily {
  LLAMA(Norms.BEFORE, 0, 0, 1e-6, 10_000, 2048),
  MISTRAL(Norms.BEFORE, 8, 0, 1e-6, 10_000, 131_072),
  MINISTRAL(Norms.BEFORE, 8, 0, 1e-6, 10_000, 131_072),
  MINISTRAL3(Norms.BEFORE, 8, 128, 1e-5, 1_000_000, 262_144),
  MIXTRAL(Norms.BEFORE, 8, 0, 1e-5, 1_000_000, 131_072),
  QWEN2(Norms.BEFORE, 32, 0, 1e-6, 10_000, 32_768),
  QWEN2_MOE(Norms.BEFORE, 16, 0, 1e-6, 10_000, 32_768),
  QWEN3(Norms.BEFORE, 32, 128, 1e-6, 10_000, 32_768),
  QWEN3_MOE(Norms.BEFORE, 4, 0, 1e-6, 10_000, 32_768),
  PHI3(Norms.BEFORE, 0, 0, 1e-5, 10_000, 4096),
  SMOLLM3(Norms.BEFORE, 4, 0, 1e-6, 2_000_000, 32_768),
  GRANITE(Norms.BEFORE, 0, 0, 1e-6, 10_000, 2048),
  GLM4(Norms.BEFORE_AND_AFTER, 2, 128, 1.5625e-7, 10_000, 131_072),
  GLM4_MOE(Norms.BEFORE, 8, 0, 1e-5, 10_000, 131_072),
  OLMO2(Norms.AFTER, 0, 0, 1e-5, 10_000, 2048),
  OLMO3(Norms.AFTER, 0, 0, 1e-5, 500_000, 2048),
  EXAONE4(Norms.AFTER, 32, 0, 1e-5, 10_000, 2048),
  GEMMA2(Norms.BEFORE_AND_AFTER, 4, 256, 1e-6, 10_000, 8192),
  GEMMA3_TEXT(Norms.BEFORE_AND_AFTER, 4, 256, 1e-6, 1_000_000, 131_072),
  COHERE2(Norms.PARALLEL, 0, 0, 1e-5, 10_000, 8192),
  GPT_OSS(Norms.BEFORE, 8, 64, 1e-5, 150_000, 131_072),
  DEEPSEEK_V2(Norms.BEFORE, 0, 0, 1e-6, 10_000, 2048),
  DEEPSEEK_V3(Norms.BEFORE, 0, 0, 1e-6, 10_000, 4096);

  private final Norms norms;
  private final int kvHeads;
  private final int headDim;
  private final double epsilon;
  private final double theta;
  private final int context;

  HuggingFaceFamily(
      Norms norms, int kvHeads, int headDim, double epsilon, double theta, int context) {
    this.norms = norms;
    this.kvHeads = kvHeads;
    this.headDim = headDim;
    this.epsilon = epsilon;
    this.theta = theta;
    this.context = context;
  }

  /** The value of {@code model_type}. */
  String type() {
    return name().toLowerCase(Locale.ROOT);
  }

  static HuggingFaceFamily of(String type, SupportedShapes check) {
    List<String> types = Arrays.stream(values()).map(HuggingFaceFamily::type).toList();
    check.architecture(type, types);
    return valueOf(type.toUpperCase(Locale.ROOT));
  }

  boolean is(HuggingFaceFamily... some) {
    return Arrays.asList(some).contains(this);
  }

  Norms norms() {
    return norms;
  }

  /** Number of key and value heads if the file does not say; 0 for as many as query heads. */
  int kvHeads() {
    return kvHeads;
  }

  /** Width of a head if the file does not say; 0 for the hidden size divided by the heads. */
  int headDim() {
    return headDim;
  }

  double epsilon() {
    return epsilon;
  }

  double theta() {
    return theta;
  }

  /** Number of positions if the file does not say. */
  int context() {
    return context;
  }

  boolean gemma() {
    return is(GEMMA2, GEMMA3_TEXT);
  }

  boolean deepseek() {
    return is(DEEPSEEK_V2, DEEPSEEK_V3);
  }

  boolean mixture() {
    return deepseek() || is(MIXTRAL, QWEN2_MOE, QWEN3_MOE, GLM4_MOE, GPT_OSS);
  }

  boolean tied() {
    return gemma() || is(SMOLLM3, COHERE2);
  }

  /** Returns whether {@code attention_bias} is read from the file. */
  boolean readsBias() {
    return !is(MISTRAL, MINISTRAL, MINISTRAL3, MIXTRAL, QWEN2, QWEN2_MOE, PHI3, EXAONE4);
  }

  /** Returns whether q, k and v have a bias if the file does not say. */
  boolean bias() {
    return is(QWEN2, QWEN2_MOE, GLM4, GPT_OSS);
  }

  /** Returns whether the output projection has a bias if q, k and v have one. */
  boolean outputBias() {
    return readsBias() && !is(GLM4, GLM4_MOE);
  }

  boolean readsMlpBias() {
    return is(LLAMA, SMOLLM3, GRANITE);
  }

  QkNorm qkNorm() {
    if (is(OLMO2, OLMO3)) {
      return QkNorm.ALL_HEADS;
    }
    return is(QWEN3, QWEN3_MOE, EXAONE4, GEMMA3_TEXT) ? QkNorm.HEAD : QkNorm.NONE;
  }

  boolean interleaved() {
    return deepseek() || is(COHERE2, GLM4);
  }

  /** Returns whether {@code partial_rotary_factor} is read from the file. */
  boolean readsRotatedPart() {
    return is(PHI3, GLM4, GLM4_MOE);
  }

  /** Share of a head that is rotated if the file does not say. */
  double rotatedPart() {
    return is(GLM4, GLM4_MOE) ? 0.5 : 1;
  }

  /** Returns whether all layers have the window of {@code sliding_window}. */
  boolean windowsEverywhere() {
    return is(MISTRAL, MINISTRAL3, MIXTRAL, PHI3, QWEN3_MOE);
  }

  /** Returns whether {@code layer_types} or a pattern says which layers have windows. */
  boolean windowsByLayer() {
    return gemma()
        || is(MINISTRAL, OLMO3, EXAONE4, COHERE2, GPT_OSS)
        || is(QWEN2, QWEN2_MOE, QWEN3, SMOLLM3);
  }

  /** Returns whether {@code use_sliding_window} must be true for a window. */
  boolean asksForWindows() {
    return is(QWEN2, QWEN2_MOE, QWEN3, QWEN3_MOE, SMOLLM3);
  }

  /** The window if the file does not say; 0 for none. */
  int window() {
    if (is(GPT_OSS)) {
      return 128;
    }
    return is(MINISTRAL3, MIXTRAL, PHI3, SMOLLM3) ? 0 : 4096;
  }

  /** The number n if the file does not say: every n-th layer sees all tokens. */
  int pattern() {
    if (is(GEMMA3_TEXT)) {
      return 6;
    }
    return is(GEMMA2, GPT_OSS) ? 2 : 4;
  }
}
