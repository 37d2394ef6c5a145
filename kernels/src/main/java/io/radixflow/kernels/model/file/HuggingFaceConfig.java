package io.radixflow.kernels.model.file;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.kernels.model.ModelConfig;
import io.radixflow.kernels.model.ModelFormatException;
import java.util.List;
import java.util.Map;

/**
 * Derives a {@link ModelConfig} from a {@code config.json} and refuses by name what it cannot
 * express. Defaults are those of the transformers library.
 */
final class HuggingFaceConfig {

  /** Fields that change the graph, with the values (besides null) that leave it as it is. */
  private static final Map<String, List<String>> UNSUPPORTED =
      Map.ofEntries(
          Map.entry("hidden_act", List.of("silu", "swish")),
          Map.entry("attention_bias", List.of("false")),
          Map.entry("mlp_bias", List.of("false")),
          Map.entry("use_sliding_window", List.of("false")),
          Map.entry("partial_rotary_factor", List.of("1.0", "1")),
          Map.entry("attn_logit_softcapping", List.of()),
          Map.entry("final_logit_softcapping", List.of()),
          Map.entry("quantization_config", List.of()),
          Map.entry("num_local_experts", List.of("0")),
          Map.entry("num_experts", List.of("0")),
          Map.entry("n_routed_experts", List.of("0")),
          Map.entry("kv_lora_rank", List.of()),
          Map.entry("q_lora_rank", List.of()),
          Map.entry("embedding_multiplier", List.of("1.0", "1")),
          Map.entry("residual_multiplier", List.of("1.0", "1")),
          Map.entry("attention_multiplier", List.of()),
          Map.entry("logits_scaling", List.of("1.0", "1")),
          Map.entry("no_rope_layers", List.of()),
          Map.entry("rope_interleaved", List.of("false")),
          Map.entry("use_qk_norm", List.of("false")),
          Map.entry("dual_chunk_attention_config", List.of()),
          Map.entry("is_causal", List.of("true")));

  /** The window of a mistral that does not say otherwise. */
  private static final int MISTRAL_WINDOW = 4096;

  private final String file;
  private final String name;
  private final JsonNode json;
  private final SupportedShapes check;
  private final String type;

  private HuggingFaceConfig(String file, String name, JsonNode json) {
    this.file = file;
    this.name = name;
    this.json = json;
    check = new SupportedShapes(file);
    type = json.path("model_type").asText("");
    check.architecture(type, List.of("llama", "mistral", "qwen2", "qwen3"));
  }

  /**
   * @param file named in errors
   * @param name the model's name for people
   */
  static ModelConfig read(String file, String name, JsonNode json) {
    return new HuggingFaceConfig(file, name, json).read();
  }

  private ModelConfig read() {
    refuse();
    int hidden = size("hidden_size");
    int heads = size("num_attention_heads");
    int usualHeadDim = type.equals("qwen3") ? 128 : hidden / heads;
    return check.consistent(
        new ModelConfig(
            type.equals("mistral") ? "llama" : type,
            name,
            size("vocab_size"),
            size("max_position_embeddings"),
            size("num_hidden_layers"),
            hidden,
            size("intermediate_size"),
            heads,
            type.equals("llama") ? size("num_key_value_heads", heads) : size("num_key_value_heads"),
            size("head_dim", usualHeadDim),
            (float) real(json, "rms_norm_eps", 1e-6),
            rope(),
            type.equals("qwen2"),
            type.equals("qwen3"),
            tied()));
  }

  private void refuse() {
    for (Map.Entry<String, List<String>> entry : UNSUPPORTED.entrySet()) {
      JsonNode value = json.path(entry.getKey());
      if (present(value) && !entry.getValue().contains(value.asText())) {
        String shown = value.isValueNode() ? value.asText() : "a value";
        throw check.unsupported(entry.getKey(), shown);
      }
    }
    JsonNode window = json.path("sliding_window");
    if (type.equals("mistral") && !window.isNull()) {
      long tokens = window.isMissingNode() ? MISTRAL_WINDOW : window.asLong(1);
      check.window("sliding_window", tokens, size("max_position_embeddings"));
    }
    for (JsonNode layer : json.path("layer_types")) {
      if (!layer.asText().equals("full_attention")) {
        throw check.unsupported("layer_types", "'" + layer.asText() + "'");
      }
    }
  }

  private boolean tied() {
    JsonNode value = json.path("tie_word_embeddings");
    if (present(value) && !value.isBoolean()) {
      throw check.error("tie_word_embeddings is neither true nor false");
    }
    return value.asBoolean(false);
  }

  private ModelConfig.Rope rope() {
    JsonNode parameters = json.path("rope_parameters");
    JsonNode scaling = present(parameters) ? parameters : json.path("rope_scaling");
    double base = real(json, "rope_theta", 10000);
    if (!present(scaling)) {
      return new ModelConfig.Rope(base, false, null);
    }
    base = real(scaling, "rope_theta", base);
    String kind = scaling.path("rope_type").asText(scaling.path("type").asText("default"));
    return switch (kind) {
      case "default" -> new ModelConfig.Rope(base, false, null);
      case "llama3" -> new ModelConfig.Rope(base, false, llama3(scaling));
      default -> throw check.unsupported("rope_scaling", "type '" + kind + "'");
    };
  }

  private ModelConfig.Llama3Scaling llama3(JsonNode scaling) {
    double factor = real(scaling, "factor", Double.NaN);
    double low = real(scaling, "low_freq_factor", Double.NaN);
    double high = real(scaling, "high_freq_factor", Double.NaN);
    if (!(factor >= 1 && low > 0 && high > low)) {
      throw check.error(
          String.format(
              "rope_scaling: factor %s, low_freq_factor %s, high_freq_factor %s; expected factor "
                  + ">= 1 and 0 < low < high",
              factor, low, high));
    }
    JsonNode original = scaling.path("original_max_position_embeddings");
    int context = check.size("original_max_position_embeddings", original.asLong(0));
    return new ModelConfig.Llama3Scaling(factor, low, high, context);
  }

  private int size(String field) {
    JsonNode value = json.path(field);
    if (!value.isIntegralNumber() || !value.canConvertToLong()) {
      throw check.error(field + " is missing or not a whole number");
    }
    return check.size(field, value.longValue());
  }

  private int size(String field, int otherwise) {
    return present(json.path(field)) ? size(field) : otherwise;
  }

  private double real(JsonNode from, String field, double otherwise) {
    JsonNode value = from.path(field);
    if (!present(value)) {
      return otherwise;
    }
    if (!value.isNumber()) {
      throw new ModelFormatException(file + ": " + field + " is not a number");
    }
    return value.doubleValue();
  }

  private static boolean present(JsonNode node) {
    return !node.isMissingNode() && !node.isNull();
  }
}
