package io.radixflow.text;

import io.radixflow.models.ModelFormatException;
import io.radixflow.models.SamplingDefaults;
import io.radixflow.models.file.ModelFile;
import io.radixflow.models.file.format.GgufMetadata;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.JinjaChatTemplate;
import io.radixflow.text.template.MissingChatTemplate;
import io.radixflow.text.template.NamedTemplates;
import io.radixflow.text.tokenizer.GgufTokenizers;
import io.radixflow.text.tokenizer.Tokenizer;
import io.radixflow.text.tokenizer.VocabularyTokenizer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The text side of a model. Immutable and thread-safe.
 *
 * @param chatTemplate if the model has none, all methods throw {@link ChatTemplateException}
 * @param promptStart the ids before a text without a chat template: BOS, if the tokenizer adds it
 * @param samplingDefaults the sampling parameters that the model's authors recommend
 */
public record TextModel(
    Tokenizer tokenizer,
    ChatTemplate chatTemplate,
    int[] promptStart,
    SamplingDefaults samplingDefaults) {

  private static final String TEMPLATE_KEY = "tokenizer.chat_template";

  /** Creates the text side of a model from a tokenizer and a template. */
  public static TextModel of(Tokenizer tokenizer, ChatTemplate chatTemplate) {
    return new TextModel(tokenizer, chatTemplate, new int[0], SamplingDefaults.NONE);
  }

  /**
   * Reads the text side of an open model. The file may be closed afterwards.
   *
   * @throws ModelFormatException if it is incomplete, contradictory or not supported
   */
  public static TextModel of(ModelFile file) {
    TextModel text =
        file.metadata().map(TextModel::fromGguf).orElseGet(() -> fromDirectory(file.path()));
    int tokens = text.tokenizer.vocabSize();
    int rows = file.config().vocabSize();
    if (tokens > rows) {
      throw new ModelFormatException(
          file.path() + ": the tokenizer has " + tokens + " tokens, the embedding " + rows);
    }
    return text;
  }

  /**
   * Reads the tokenizer and the template from a GGUF file's metadata.
   *
   * @throws ModelFormatException if the metadata is incomplete or contradictory, or if the
   *     tokenizer is not supported
   */
  public static TextModel fromGguf(GgufMetadata metadata) {
    try {
      return read(metadata);
    } catch (ModelFormatException e) {
      throw e.in(metadata.file());
    }
  }

  private static TextModel read(GgufMetadata metadata) {
    VocabularyTokenizer tokenizer = GgufTokenizers.read(metadata);
    int[] promptStart = GgufTokenizers.promptStart(metadata);
    Map<String, String> templates = templates(metadata);
    Map<String, Object> constants = new HashMap<>();
    for (String name : List.of("bos", "eos", "unknown", "padding")) {
      String key = "tokenizer.ggml." + name + "_token_id";
      if (metadata.has(key)) {
        constants.put(variable(name), GgufTokenizers.token(metadata, key));
      }
    }
    return new TextModel(
        tokenizer,
        template(tokenizer, templates, constants),
        promptStart,
        SamplingAdvice.of(metadata));
  }

  private static Map<String, String> templates(GgufMetadata metadata) {
    Map<String, String> templates = new HashMap<>();
    if (metadata.has(TEMPLATE_KEY)) {
      templates.put(NamedTemplates.DEFAULT, metadata.string(TEMPLATE_KEY));
    }
    for (String name : List.of(NamedTemplates.TOOL_USE, NamedTemplates.RAG)) {
      String key = TEMPLATE_KEY + "." + name;
      if (metadata.has(key)) {
        templates.put(name, metadata.string(key));
      }
    }
    return templates;
  }

  /**
   * Reads the tokenizer and the template from a Hugging Face model directory: {@code
   * tokenizer.json}, {@code tokenizer_config.json}, {@code chat_template.jinja}, {@code
   * additional_chat_templates}, {@code generation_config.json}.
   *
   * @throws ModelFormatException if a file is missing, not readable or not supported
   */
  public static TextModel fromDirectory(Path directory) {
    try {
      return read(directory);
    } catch (ModelFormatException e) {
      throw e.in(directory);
    }
  }

  private static TextModel read(Path directory) {
    ModelDirectory files = new ModelDirectory(directory);
    VocabularyTokenizer tokenizer = files.tokenizer();
    Map<String, String> templates = files.templates();
    int[] promptStart = files.promptStart(tokenizer);
    return new TextModel(
        tokenizer,
        template(tokenizer, templates, files.constants()),
        promptStart,
        files.samplingDefaults());
  }

  private static String variable(String name) {
    return switch (name) {
      case "unknown" -> "unk_token";
      case "padding" -> "pad_token";
      default -> name + "_token";
    };
  }

  private static ChatTemplate template(
      VocabularyTokenizer tokenizer, Map<String, String> templates, Map<String, Object> constants) {
    return templates.isEmpty()
        ? new MissingChatTemplate()
        : new JinjaChatTemplate(new NamedTemplates(templates, constants), tokenizer);
  }
}
