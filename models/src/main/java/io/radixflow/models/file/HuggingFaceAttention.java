package io.radixflow.models.file;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.models.Attention;
import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.Attention.QkNorm;
import io.radixflow.models.Attention.Scores;
import io.radixflow.models.Rope;

/** The attention of each layer that a {@code config.json} describes. */
final class HuggingFaceAttention {

  private final ConfigFields config;
  private final HuggingFaceFamily family;
  private final HuggingFaceRope rope;

  HuggingFaceAttention(ConfigFields config, HuggingFaceFamily family, int layers) {
    this.config = config;
    this.family = family;
    rope = new HuggingFaceRope(config, family);
    JsonNode types = config.get("layer_types");
    if (types.isArray() && types.size() != layers) {
      throw config.error("layer_types names " + types.size() + " layers of " + layers);
    }
  }

  Attention layer(int layer) {
    return family.deepseek() ? latent() : grouped(layer);
  }

  private Latent latent() {
    int plain = config.size("qk_nope_head_dim", 128);
    int rotated = config.size("qk_rope_head_dim", 64);
    double scale = 1 / Math.sqrt(plain + rotated) * rope.scoreFactor();
    boolean whole = config.get("q_lora_rank").isNull();
    return new Latent(
        config.size("num_attention_heads"),
        whole ? 0 : config.size("q_lora_rank", 1536),
        config.size("kv_lora_rank", 512),
        plain,
        rotated,
        config.size("v_head_dim", 128),
        rope.read(false, rotated),
        config.flag("attention_bias", false),
        (float) scale);
  }

  private Grouped grouped(int layer) {
    int heads = config.size("num_attention_heads");
    int usualHeadDim = family.headDim() > 0 ? family.headDim() : config.size("hidden_size") / heads;
    int headDim = config.size("head_dim", usualHeadDim);
    boolean hidden = config.get("num_key_value_heads").isNull();
    int usualKvHeads = hidden || family.kvHeads() == 0 ? heads : family.kvHeads();
    int window = window(layer);
    boolean bias =
        family.readsBias() ? config.flag("attention_bias", family.bias()) : family.bias();
    if (family == HuggingFaceFamily.QWEN2_MOE) {
      bias = config.flag("qkv_bias", true);
    }
    return new Grouped(
        heads,
        config.size("num_key_value_heads", usualKvHeads),
        headDim,
        rotates(layer, window) ? rope(window, headDim) : null,
        bias,
        bias && family.outputBias(),
        config.flag("use_qk_norm", false) ? QkNorm.HEAD : family.qkNorm(),
        window,
        scores(headDim));
  }

  private Rope rope(int window, int headDim) {
    return rope.read(window > 0, headDim);
  }

  private Scores scores(int headDim) {
    Scores usual = Scores.of(headDim);
    return switch (family) {
      case GEMMA2, GEMMA3_TEXT -> {
        double scalar = config.factor("query_pre_attn_scalar", 256);
        yield new Scores((float) (1 / Math.sqrt(scalar)), softCap(), false, null);
      }
      case GRANITE -> new Scores(config.factor("attention_multiplier", 1), 0, false, null);
      case GPT_OSS -> new Scores(usual.scale(), 0, true, null);
      case MINISTRAL3 -> new Scores(usual.scale(), 0, false, rope.growth());
      default -> usual;
    };
  }

  private float softCap() {
    String field = "attn_logit_softcapping";
    double usual = family == HuggingFaceFamily.GEMMA2 ? 50 : 0;
    if (config.get(field).isNull() || !config.has(field) && usual == 0) {
      return 0;
    }
    // gemma3 has the field but does not apply it.
    float cap = config.factor(field, usual);
    return family == HuggingFaceFamily.GEMMA2 ? cap : 0;
  }

  private int window(int layer) {
    int window = config.sizeOrNone("sliding_window", family.window());
    if (family.asksForWindows() && !config.flag("use_sliding_window", false)) {
      window = 0;
    }
    if (family.windowsEverywhere()) {
      return window;
    }
    if (!family.windowsByLayer()) {
      refuseWindow(layer);
      return 0;
    }
    return windowed(layer, window > 0) ? window : 0;
  }

  private void refuseWindow(int layer) {
    String type = config.get("layer_types").path(layer).asText("full_attention");
    if (!type.equals("full_attention")) {
      throw config.unsupported("layer_types", "'" + type + "'");
    }
  }

  private boolean windowed(int layer, boolean any) {
    JsonNode types = config.get("layer_types");
    if (types.isArray()) {
      String type = types.path(layer).asText();
      if (!type.equals("full_attention") && !type.equals("sliding_attention")) {
        throw config.unsupported("layer_types", "'" + type + "'");
      }
      return type.equals("sliding_attention");
    }
    return any
        && switch (family) {
          case QWEN2, QWEN3 -> layer >= maxWindowLayers();
          case QWEN2_MOE -> layer % 2 == 0 && layer < maxWindowLayers();
          case MINISTRAL -> true;
          case SMOLLM3 -> !rotates(layer, 0);
          default -> byPattern(layer);
        };
  }

  private int maxWindowLayers() {
    JsonNode value = config.get("max_window_layers");
    return value.isInt() ? value.intValue() : 28;
  }

  /**
   * Returns whether a layer has a window. If the pattern is a number n, every n-th layer sees all
   * tokens; if it is a text, it has one letter per layer.
   */
  private boolean byPattern(int layer) {
    JsonNode pattern = config.get("sliding_window_pattern");
    if (pattern.isTextual() && !pattern.textValue().isEmpty()) {
      String kinds = pattern.textValue();
      return kinds.charAt(layer % kinds.length()) == 'L';
    }
    return (layer + 1) % config.size("sliding_window_pattern", family.pattern()) != 0;
  }

  private boolean rotates(int layer, int window) {
    return switch (family) {
      case SMOLLM3 -> {
        JsonNode flags = config.get("no_rope_layers");
        yield flags.isArray()
            ? flags.path(layer).asInt(1) != 0
            : (layer + 1) % config.size("no_rope_layer_interval", 4) != 0;
      }
      case COHERE2 -> window > 0;
      case EXAONE4 -> window > 0 || config.get("sliding_window").isNull();
      default -> true;
    };
  }
}
