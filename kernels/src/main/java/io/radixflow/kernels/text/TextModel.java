package io.radixflow.kernels.text;

import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.model.file.GgufMetadata;
import io.radixflow.kernels.text.template.ChatTemplate;
import io.radixflow.kernels.text.template.ChatTemplateException;
import io.radixflow.kernels.text.template.JinjaChatTemplate;
import io.radixflow.kernels.text.template.JinjaRenderer;
import io.radixflow.kernels.text.template.MissingChatTemplate;
import io.radixflow.kernels.text.tokenizer.GgufTokenizers;
import io.radixflow.kernels.text.tokenizer.Tokenizer;
import io.radixflow.kernels.text.tokenizer.VocabularyTokenizer;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The text side of a model: its tokenizer and its chat template. Immutable; for many threads. */
public final class TextModel {

  private static final String TEMPLATE_KEY = "tokenizer.chat_template";

  private final Tokenizer tokenizer;
  private final ChatTemplate chatTemplate;
  private final int[] promptStart;

  private TextModel(Tokenizer tokenizer, ChatTemplate chatTemplate, int[] promptStart) {
    this.tokenizer = tokenizer;
    this.chatTemplate = chatTemplate;
    this.promptStart = promptStart;
  }

  /**
   * Reads tokenizer and template from a GGUF file's metadata.
   *
   * @throws ModelFormatException if the metadata is incomplete, contradictory, or names a tokenizer
   *     that is not supported
   */
  public static TextModel fromGguf(GgufMetadata metadata) {
    VocabularyTokenizer tokenizer = GgufTokenizers.read(metadata);
    int[] promptStart = GgufTokenizers.promptStart(metadata);
    if (!metadata.has(TEMPLATE_KEY)) {
      return new TextModel(tokenizer, new MissingChatTemplate(), promptStart);
    }
    Map<String, Object> constants = new HashMap<>();
    for (String name : List.of("bos", "eos", "unknown", "padding")) {
      String key = "tokenizer.ggml." + name + "_token_id";
      if (metadata.has(key)) {
        constants.put(variable(name), GgufTokenizers.token(metadata, key));
      }
    }
    return of(tokenizer, metadata.string(TEMPLATE_KEY), constants, promptStart);
  }

  /**
   * Reads tokenizer and template from a Hugging Face model directory: {@code tokenizer.json},
   * {@code tokenizer_config.json}, {@code chat_template.jinja}, {@code generation_config.json}.
   *
   * @throws ModelFormatException if a file is missing, not readable, or names something that is not
   *     supported
   */
  public static TextModel fromDirectory(Path directory) {
    ModelDirectory files = new ModelDirectory(directory);
    VocabularyTokenizer tokenizer = files.tokenizer();
    String template = files.template();
    int[] promptStart = files.promptStart(tokenizer);
    return template == null
        ? new TextModel(tokenizer, new MissingChatTemplate(), promptStart)
        : of(tokenizer, template, files.constants(), promptStart);
  }

  private static String variable(String name) {
    return switch (name) {
      case "unknown" -> "unk_token";
      case "padding" -> "pad_token";
      default -> name + "_token";
    };
  }

  private static TextModel of(
      VocabularyTokenizer tokenizer,
      String template,
      Map<String, Object> constants,
      int[] promptStart) {
    JinjaRenderer renderer = new JinjaRenderer(template, constants);
    return new TextModel(tokenizer, new JinjaChatTemplate(renderer, tokenizer), promptStart);
  }

  public Tokenizer tokenizer() {
    return tokenizer;
  }

  /** The ids before a text that no chat template made: BOS, if the tokenizer adds it. */
  public int[] promptStart() {
    return promptStart.clone();
  }

  /** The chat template; of a model without one, all methods throw {@link ChatTemplateException}. */
  public ChatTemplate chatTemplate() {
    return chatTemplate;
  }
}
