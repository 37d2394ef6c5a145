package io.radixflow.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.SamplingDefaults;
import io.radixflow.models.file.format.BoundedJson;
import io.radixflow.models.io.RegularFiles;
import io.radixflow.text.template.NamedTemplates;
import io.radixflow.text.tokenizer.TokenizerJson;
import io.radixflow.text.tokenizer.VocabularyTokenizer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Reads the text files of a Hugging Face model directory. */
final class ModelDirectory {

  private static final int LARGEST_FILE = 256 << 20;
  private static final int LARGEST_TEMPLATE = 1 << 20;
  private static final String BYTE_ORDER_MARK = "\uFEFF";

  private final Path directory;
  private final JsonNode config;

  ModelDirectory(Path directory) {
    this.directory = directory;
    config = optional("tokenizer_config.json");
  }

  /**
   * Reads the tokenizer. The tokens that end a turn come from generation_config.json, config.json
   * and eos_token.
   */
  VocabularyTokenizer tokenizer() {
    Path file = directory.resolve("tokenizer.json");
    if (!RegularFiles.isThere(file)) {
      throw new ModelFormatException(
          file + " is missing; the model's slow tokenizer must be converted to tokenizer.json");
    }
    JsonNode declared = optional("generation_config.json").path("eos_token_id");
    if (declared.isMissingNode() || declared.isNull()) {
      declared = optional("config.json").path("eos_token_id");
    }
    Set<String> texts = new HashSet<>();
    texts.add(text(config.path("eos_token")));
    return TokenizerJson.read(json(file), texts, ids(declared));
  }

  /**
   * Returns the ids to put before a text that no chat template made: the ids of the post-processor
   * in tokenizer.json, or BOS if tokenizer_config.json says to add it.
   */
  int[] promptStart(VocabularyTokenizer tokenizer) {
    JsonNode processor = json(directory.resolve("tokenizer.json")).path("post_processor");
    List<JsonNode> steps = new ArrayList<>();
    processor.path("processors").forEach(steps::add);
    steps.add(processor);
    StringBuilder start = new StringBuilder();
    for (JsonNode step : steps) {
      for (JsonNode piece : step.path("single")) {
        if (!piece.has("SpecialToken")) {
          break;
        }
        start.append(piece.path("SpecialToken").path("id").asText());
      }
    }
    if (start.isEmpty() && config.path("add_bos_token").asBoolean(false)) {
      start.append(text(config.path("bos_token")));
    }
    return tokenizer.encodeWithSpecial(start);
  }

  SamplingDefaults samplingDefaults() {
    String name = String.valueOf(directory.toAbsolutePath().normalize().getFileName());
    return SamplingAdvice.of(optional("generation_config.json"), name);
  }

  /** Returns the sources of the chat templates by name; empty if there are none. */
  Map<String, String> templates() {
    Map<String, String> templates = new HashMap<>();
    declared(optional("chat_template.json").path("chat_template"), templates);
    declared(config.path("chat_template"), templates);
    Path file = directory.resolve("chat_template.jinja");
    if (RegularFiles.isThere(file)) {
      templates.put(NamedTemplates.DEFAULT, read(file));
    }
    for (String name : List.of(NamedTemplates.TOOL_USE, NamedTemplates.RAG)) {
      Path further = directory.resolve("additional_chat_templates").resolve(name + ".jinja");
      if (RegularFiles.isThere(further)) {
        templates.put(name, read(further));
      }
    }
    return templates;
  }

  /**
   * Adds the templates in a field, which is one template, a list of named templates, or an object
   * of templates.
   */
  private static void declared(JsonNode field, Map<String, String> templates) {
    if (field.isArray()) {
      field.forEach(
          named ->
              templates.put(
                  template("a name", named.path("name")),
                  template("a template", named.path("template"))));
    } else if (field.isObject()) {
      field
          .properties()
          .forEach(
              named -> templates.put(named.getKey(), template(named.getKey(), named.getValue())));
    } else if (!field.isMissingNode() && !field.isNull()) {
      templates.put(NamedTemplates.DEFAULT, template("its text", field));
    }
  }

  private static String template(String what, JsonNode text) {
    if (!text.isTextual()) {
      throw new ModelFormatException("chat_template: " + what + " is not a text");
    }
    return text.textValue();
  }

  /** Returns the texts of the special tokens that templates use. */
  Map<String, Object> constants() {
    Map<String, Object> constants = new HashMap<>();
    for (String name : new String[] {"bos_token", "eos_token", "unk_token", "pad_token"}) {
      String text = text(config.path(name));
      if (!text.isEmpty()) {
        constants.put(name, text);
      }
    }
    return constants;
  }

  private static String text(JsonNode token) {
    return token.isObject() ? token.path("content").asText("") : token.asText("");
  }

  private static int[] ids(JsonNode declared) {
    if (declared.isMissingNode() || declared.isNull()) {
      return new int[0];
    }
    List<JsonNode> listed = new ArrayList<>();
    (declared.isArray() ? declared : List.of(declared)).forEach(listed::add);
    return listed.stream().mapToInt(ModelDirectory::id).toArray();
  }

  private static int id(JsonNode id) {
    if (!id.isInt()) {
      throw new ModelFormatException("eos_token_id is " + id + "; expected token ids");
    }
    return id.intValue();
  }

  private JsonNode optional(String name) {
    Path file = directory.resolve(name);
    return RegularFiles.isThere(file) ? json(file) : MissingNode.getInstance();
  }

  private static JsonNode json(Path file) {
    try {
      return BoundedJson.object(file, LARGEST_FILE);
    } catch (IOException e) {
      throw new ModelFormatException(file + " cannot be read: " + e.getMessage(), e);
    }
  }

  private static String read(Path file) {
    try {
      if (Files.size(RegularFiles.require(file)) > LARGEST_TEMPLATE) {
        throw new ModelFormatException(file + " is larger than " + LARGEST_TEMPLATE + " bytes");
      }
      String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
      String marked = text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
      if (marked.isBlank()) {
        throw new ModelFormatException(file + " is empty; fetch it again");
      }
      return marked;
    } catch (IOException e) {
      throw new ModelFormatException(file + " cannot be read: " + e.getMessage(), e);
    }
  }
}
