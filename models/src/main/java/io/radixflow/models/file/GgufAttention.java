package io.radixflow.models.file;

import io.radixflow.models.Attention;
import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.Attention.QkNorm;
import io.radixflow.models.Attention.QueryGrowth;
import io.radixflow.models.Attention.Scores;
import io.radixflow.models.file.GgufArchitecture.Trait;
import java.util.Set;

/** The attention of each layer that a GGUF file describes. */
final class GgufAttention {

  private static final String WINDOW = "attention.sliding_window";
  private static final String PATTERN = "attention.sliding_window_pattern";

  private final GgufFields fields;
  private final GgufArchitecture architecture;
  private final Set<String> tensors;
  private final GgufRope rope;
  private final int layers;
  private final int window;
  private final int context;

  /**
   * @param tensors names of the file's tensors, which show whether the projections have biases
   */
  GgufAttention(GgufFields fields, GgufArchitecture architecture, Set<String> tensors, int layers) {
    this.fields = fields;
    this.architecture = architecture;
    this.tensors = tensors;
    this.layers = layers;
    rope = new GgufRope(fields, architecture);
    context = fields.size("context_length");
    window = fields.has(WINDOW) ? fields.count(WINDOW) : architecture.usualWindow();
  }

  Attention layer(int layer) {
    return architecture.has(Trait.LATENT) ? latent() : grouped(layer);
  }

  /**
   * Reads the shape of latent attention. Files made before 2025 store the widths of heads under the
   * keys that newer files use for the widths of compressed keys and values.
   */
  private Latent latent() {
    boolean newer = fields.has("attention.key_length_mla");
    String key = newer ? "attention.key_length_mla" : "attention.key_length";
    String value = newer ? "attention.value_length_mla" : "attention.value_length";
    int width = fields.size(key);
    int rotated = fields.size("rope.dimension_count");
    if (rotated >= width) {
      throw fields.error(key, width + " elements of a head, of which " + rotated + " are rotated");
    }
    if (fields.real("attention.temperature_scale", 0) != 0) {
      throw fields.unsupported(
          "attention.temperature_scale",
          "a scale of compressed queries that grows with the position");
    }
    return new Latent(
        fields.size("attention.head_count"),
        fields.count("attention.q_lora_rank"),
        fields.size("attention.kv_lora_rank"),
        width - rotated,
        rotated,
        fields.size(value),
        rope.read(false, rotated),
        false,
        (float) (1 / Math.sqrt(width) * rope.scoreFactor()));
  }

  private Grouped grouped(int layer) {
    int heads = fields.size("attention.head_count");
    int headDim = fields.size("attention.key_length", fields.size("embedding_length") / heads);
    refuseOtherWidths(headDim);
    boolean windowed = windowed(layer);
    boolean bias = tensors.contains("blk.0.attn_q.bias") || tensors.contains("blk.0.attn_qkv.bias");
    return new Grouped(
        heads,
        fields.size("attention.head_count_kv", heads),
        headDim,
        rotates(layer, windowed) ? rope.read(windowed, headDim) : null,
        bias,
        tensors.contains("blk.0.attn_output.bias"),
        qkNorm(),
        windowed && window < context ? window : 0,
        scores(heads, headDim));
  }

  private QkNorm qkNorm() {
    boolean stored = tensors.contains("blk.0.attn_q_norm.weight");
    return stored && architecture.has(Trait.HEAD_NORMS_IF_STORED)
        ? QkNorm.HEAD
        : architecture.qkNorm();
  }

  private void refuseOtherWidths(int headDim) {
    if (fields.size("attention.value_length", headDim) != headDim) {
      throw fields.unsupported("attention.value_length", "values and keys of different widths");
    }
    for (String name : new String[] {"attention.key_length_swa", "attention.value_length_swa"}) {
      if (fields.size(name, headDim) != headDim) {
        throw fields.unsupported(name, "heads of a different width in layers with a window");
      }
    }
  }

  private Scores scores(int heads, int headDim) {
    int width =
        architecture.scalesByWidth(layers) ? fields.size("embedding_length") / heads : headDim;
    double beta = fields.positive("attention.temperature_scale", 0);
    QueryGrowth growth =
        beta == 0
            ? null
            : new QueryGrowth(
                beta, fields.size("attention.temperature_length", rope.originalContext()));
    return new Scores(
        fields.factor("attention.scale", 1 / Math.sqrt(width)),
        fields.bound("attn_logit_softcapping", architecture.usualScoreCap()),
        tensors.contains("blk.0.attn_sinks.weight"),
        growth);
  }

  /**
   * Returns whether a layer has a window. The pattern has one boolean per layer, or the distance
   * between layers that see all tokens.
   */
  private boolean windowed(int layer) {
    if (window == 0) {
      return false;
    }
    if (fields.isArray(PATTERN)) {
      return fields.perLayer(PATTERN, layers)[layer] != 0;
    }
    int period = fields.has(PATTERN) ? fields.count(PATTERN) : architecture.windowPeriod();
    if (period < 0 && window < context) {
      throw fields.unsupported(WINDOW, "a sliding window of " + window + " tokens");
    }
    return period == 0 || period > 0 && (layer + 1) % period != 0;
  }

  private boolean rotates(int layer, boolean windowed) {
    if (architecture.has(Trait.ROTATES_WINDOWS_ONLY)) {
      return windowed || window == 0;
    }
    if (architecture.has(Trait.ROTATES_IF_FINETUNED)) {
      return fields.flag("rope.scaling.finetuned", true);
    }
    return !architecture.has(Trait.FOURTH_NOT_ROTATED) || (layer + 1) % 4 != 0;
  }
}
