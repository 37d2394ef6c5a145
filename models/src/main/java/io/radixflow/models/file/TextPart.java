package io.radixflow.models.file;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.Map;

/**
 * The text model inside a checkpoint that also reads images. Its configuration is {@code
 * text_config}, and its tensors have other names. The image encoder is ignored.
 */
final class TextPart {

  /** The type of the text model if {@code text_config} does not say it. */
  private static final Map<String, String> TYPES =
      Map.of("gemma3", "gemma3_text", "mistral3", "mistral");

  /** Fields outside {@code text_config} that apply to the text model. */
  private static final List<String> OUTER = List.of("quantization_config", "tie_word_embeddings");

  private static final String MODEL = "model.";
  private static final String TEXT = "language_model.";

  private TextPart() {}

  /**
   * Returns the configuration of the text model; {@code json} itself if it is a pure text model.
   */
  static JsonNode config(JsonNode json) {
    String type = TYPES.get(json.path("model_type").asText());
    if (type == null || !json.path("text_config").isObject()) {
      return json;
    }
    ObjectNode config = json.get("text_config").deepCopy();
    if (!ConfigFields.present(config.path("model_type"))) {
      config.put("model_type", type);
    }
    for (String field : OUTER) {
      if (!config.has(field) && json.has(field)) {
        config.set(field, json.get(field));
      }
    }
    return config;
  }

  /**
   * Returns the name that a tensor would have in a pure text model; null for a tensor of the image
   * encoder.
   */
  static String tensor(String name) {
    if (name.startsWith(TEXT)) {
      return name.substring(TEXT.length());
    }
    if (name.startsWith(MODEL + TEXT)) {
      return MODEL + name.substring((MODEL + TEXT).length());
    }
    boolean images = name.matches("(model\\.)?(vision_tower|multi_modal_projector)\\..*");
    return images ? null : name;
  }
}
