package io.radixflow.gateway.text;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.models.ModelFormatException;
import io.radixflow.models.file.ModelFile;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.SimText;
import io.radixflow.text.TextModel;
import io.radixflow.text.prompt.PromptText;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.Message;
import io.radixflow.text.tokenizer.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tokenizer and the chat template of the served model. They are read from the file of the
 * option {@code model} on first use; weights are not loaded. Thread-safe. All methods may take
 * long, so call them on worker threads.
 */
public final class ModelText {

  private static final Logger LOG = LoggerFactory.getLogger(ModelText.class);

  /**
   * The context window.
   *
   * @param served the most tokens of prompt and reply together
   * @param trained number of positions for which the model was trained
   * @param vocabulary the number of tokens in the vocabulary
   */
  public record Window(int served, int trained, int vocabulary) {}

  /**
   * An opened model.
   *
   * @param positions the number of positions that the model was trained for
   * @param specials the texts of special tokens by id
   */
  private record Opened(
      TextModel text, PromptText prompts, int positions, Map<Integer, String> specials) {

    static Opened of(TextModel text, int positions) {
      return new Opened(text, new PromptText(text), positions, text.tokenizer().specials());
    }

    Tokenizer tokenizer() {
      return text.tokenizer();
    }
  }

  private final String name;
  private final int longest;
  private Opened model;

  public ModelText(Settings settings) {
    name = settings.get(SharedConfig.MODEL);
    longest = settings.get(SharedConfig.CONTEXT_LENGTH);
  }

  /**
   * Counts the tokens of the prompt of a turn with these messages and options.
   *
   * @param options options of the turn, or null
   * @param field the request's field with the messages, for errors
   * @throws ApiException if the template refuses the messages, the options contradict each other,
   *     or the gateway has no model file
   */
  public int count(List<Message> messages, GenerationOptions options, String field) {
    return encode(messages, options, field).length;
  }

  /** Returns the tokens of a prompt. Throws the same errors as {@link #count}. */
  public int[] encode(List<Message> messages, GenerationOptions options, String field) {
    Opened opened = open();
    try {
      return opened.prompts.encode(messages, TurnText.options(options));
    } catch (ChatTemplateException e) {
      throw ApiException.badRequest(
          field, "the chat template refuses the messages: " + e.getMessage());
    } catch (IllegalArgumentException e) {
      throw ApiException.badRequest(e.getMessage());
    }
  }

  /**
   * Returns the tokens of a text without a template, as in the prompt of a completion. Special
   * tokens in the text are recognised.
   *
   * @param special whether to add BOS before the text if the model's tokenizer does
   */
  public int[] encode(String text, boolean special) {
    Opened opened = open();
    int[] start = special ? opened.text.promptStart() : new int[0];
    int[] ids = opened.tokenizer().encodeWithSpecial(text);
    return IntStream.concat(IntStream.of(start), IntStream.of(ids)).toArray();
  }

  /** Returns the context window; null if the gateway has no model file. */
  public Window window() {
    try {
      Opened opened = open();
      int trained = opened.positions;
      return new Window(
          longest == 0 ? trained : Math.min(longest, trained),
          trained,
          opened.tokenizer().vocabSize());
    } catch (ApiException e) {
      return null;
    }
  }

  /**
   * Returns the bytes of a token from {@link #encode}; for a special token, the bytes of its text.
   */
  public byte[] bytes(int id) {
    Opened opened = open();
    byte[] bytes = opened.tokenizer().bytes(id);
    return bytes.length > 0
        ? bytes
        : opened.specials.getOrDefault(id, "").getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Returns the text of tokens; control tokens have none.
   *
   * @throws ApiException if the vocabulary has no such token
   */
  public String decode(int[] ids) {
    Tokenizer tokenizer = open().tokenizer();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int id : ids) {
      if (id < 0 || id >= tokenizer.vocabSize()) {
        throw ApiException.badRequest(
            "tokens", "tokens has " + id + "; ids are 0 to " + (tokenizer.vocabSize() - 1));
      }
      bytes.writeBytes(tokenizer.bytes(id));
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private synchronized Opened open() {
    if (model == null) {
      try {
        model = read(name);
      } catch (ModelFormatException | IllegalArgumentException e) {
        LOG.debug("The model {} cannot be opened to count tokens", name, e);
        throw ApiException.notFound(
            "this gateway has no file of the model, and cannot count tokens; the option model"
                + " names it");
      }
    }
    return model;
  }

  private static Opened read(String name) {
    if (SimText.isNamed(name)) {
      return Opened.of(SimText.open(), SimText.contextLength(name));
    }
    try (ModelFile file = ModelFile.open(Path.of(name))) {
      return Opened.of(TextModel.of(file), file.config().contextLength());
    }
  }
}
