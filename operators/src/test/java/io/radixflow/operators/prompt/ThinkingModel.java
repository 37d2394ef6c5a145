package io.radixflow.operators.prompt;

import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.models.ModelConfig;
import io.radixflow.text.TextModel;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The simulated model with a Jinja template that drops what was thought in earlier turns, as Qwen3
 * and DeepSeek R1 have it. The tokenizer has the simulated device's ids: a byte each.
 */
public final class ThinkingModel implements ServedModel {
  private static final String TEMPLATE =
      """
      {%- for m in messages %}
      {%- set c = m.content %}
      {%- if m.role == 'assistant' and not loop.last and '</think>' in c %}
      {%- set c = c.split('</think>')[-1].lstrip('\\n') %}
      {%- endif %}
      {{- '<|im_start|>' + m.role + '\\n' + c + '<|im_end|>\\n' }}
      {%- endfor %}
      {%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
      """;

  private static final List<String> SPECIAL =
      List.of("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<|pad|>");

  private final SimModel device;
  private final TextModel text;

  private ThinkingModel(SimModel device, TextModel text) {
    this.device = device;
    this.text = text;
  }

  /**
   * @param directory an empty one, for the tokenizer's files
   */
  public static ThinkingModel open(Path directory, SimOptions options) {
    return open(directory, options, TEMPLATE);
  }

  /**
   * @param directory an empty one, for the tokenizer's files
   */
  public static ThinkingModel open(Path directory, SimOptions options, String template) {
    return open(directory, options, template, SPECIAL, "<|im_end|>");
  }

  /**
   * @param directory an empty one, for the tokenizer's files
   * @param special special tokens; the device has the first four
   * @param ends those that end a turn
   */
  static ThinkingModel open(
      Path directory, SimOptions options, String template, List<String> special, String... ends) {
    String ids =
        Arrays.stream(ends)
            .map(end -> String.valueOf(256 + special.indexOf(end)))
            .collect(Collectors.joining(","));
    try {
      Files.writeString(directory.resolve("tokenizer.json"), tokenizerJson(special));
      Files.writeString(
          directory.resolve("tokenizer_config.json"), "{\"eos_token\":\"" + ends[0] + "\"}");
      Files.writeString(
          directory.resolve("generation_config.json"), "{\"eos_token_id\":[" + ids + "]}");
      Files.writeString(directory.resolve("chat_template.jinja"), template);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return new ThinkingModel(SimModel.open(options), TextModel.fromDirectory(directory));
  }

  private static String tokenizerJson(List<String> special) {
    StringBuilder vocabulary = new StringBuilder();
    int shifted = 256;
    for (int b = 0; b < 256; b++) {
      boolean shown = b > 32 && b < 127 || b > 160 && b != 173;
      int symbol = shown ? b : shifted++;
      vocabulary.append(b == 0 ? "" : ",").append("\"\\u%04x\": %d".formatted(symbol, b));
    }
    StringBuilder added = new StringBuilder();
    for (int i = 0; i < special.size(); i++) {
      added
          .append(i == 0 ? "" : ",")
          .append("{\"id\": %d, \"content\": \"%s\", ".formatted(256 + i, special.get(i)))
          .append("\"special\": true, \"single_word\": false, \"lstrip\": false, ")
          .append("\"rstrip\": false, \"normalized\": false}");
    }
    return "{\"added_tokens\": ["
        + added
        + "], \"normalizer\": null, \"pre_tokenizer\": {\"type\": \"ByteLevel\", "
        + "\"add_prefix_space\": false, \"use_regex\": true}, \"model\": {\"type\": \"BPE\", "
        + "\"vocab\": {"
        + vocabulary
        + "}, \"merges\": []}}";
  }

  @Override
  public String name() {
    return "thinking";
  }

  @Override
  public String fingerprint() {
    return device.fingerprint();
  }

  @Override
  public ModelConfig config() {
    return device.config();
  }

  @Override
  public TextModel text() {
    return text;
  }

  @Override
  public Backend openBackend(DeviceOptions options) {
    return device.openBackend(options);
  }

  @Override
  public void close() {
    device.close();
  }
}
