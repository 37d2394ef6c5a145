package io.radixflow.gateway.text;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.models.ModelFormatException;
import io.radixflow.operators.api.PromptText;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Message;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.tokenizer.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
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
public final class ModelText implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ModelText.class);

  /**
   * The context window.
   *
   * @param served the most tokens of prompt and reply together @param trained number of positions
   *     for which the model was trained
   * @param vocabulary the number of tokens in the vocabulary
   */
  public record Window(int served, int trained, int vocabulary) {}

  /** Opens the model with a name. */
  @FunctionalInterface
  interface Factory {
    ServedModel open(String name) throws IOException;
  }

  private final String name;
  private final Factory factory;
  private final int longest;
  private ServedModel model;
  private volatile PromptText prompts;
  private volatile Map<Integer, String> specials;
  private boolean closed;

  public ModelText(Settings settings) {
    this(
        settings.get(SharedConfig.MODEL),
        settings.get(SharedConfig.CONTEXT_LENGTH),
        name -> ModelLoader.open(name, Path::of));
  }

  /**
   * @param longest the most tokens of prompt and reply together; 0 for the model's own limit
   */
  ModelText(String name, int longest, Factory factory) {
    this.name = name;
    this.longest = longest;
    this.factory = factory;
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
    open();
    try {
      return prompts.encode(messages, options);
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
    ServedModel opened = open();
    int[] start = special ? opened.promptStart() : new int[0];
    int[] ids = opened.tokenizer().encodeWithSpecial(text);
    return IntStream.concat(IntStream.of(start), IntStream.of(ids)).toArray();
  }

  /** Returns the context window; null if the gateway has no model file. */
  public Window window() {
    try {
      ServedModel opened = open();
      int trained = opened.config().contextLength();
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
    byte[] bytes = open().tokenizer().bytes(id);
    return bytes.length > 0
        ? bytes
        : specials.getOrDefault(id, "").getBytes(StandardCharsets.UTF_8);
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

  private synchronized ServedModel open() {
    if (closed) {
      throw ApiException.unavailable("the gateway ends");
    }
    if (model == null) {
      try {
        ServedModel opened = factory.open(name);
        try {
          prompts = new PromptText(opened);
          specials = opened.tokenizer().specials();
          model = opened;
        } finally {
          if (model == null) {
            opened.close();
          }
        }
      } catch (IOException | ModelFormatException | IllegalArgumentException e) {
        LOG.debug("The model {} cannot be opened to count tokens", name, e);
        throw ApiException.notFound(
            "this gateway has no file of the model, and cannot count tokens; the option model"
                + " names it");
      }
    }
    return model;
  }

  @Override
  public synchronized void close() {
    closed = true;
    if (model != null) {
      model.close();
    }
  }
}
