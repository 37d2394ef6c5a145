package io.radixflow.gateway.text;

import io.radixflow.gateway.http.ApiException;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.Settings;
import io.radixflow.kernels.ModelLoader;
import io.radixflow.kernels.ServedModel;
import io.radixflow.kernels.model.ModelFormatException;
import io.radixflow.kernels.text.template.ChatMessage;
import io.radixflow.kernels.text.template.ChatTemplateException;
import io.radixflow.kernels.text.template.JsonValues;
import io.radixflow.kernels.text.template.TemplateOptions;
import io.radixflow.kernels.text.template.ToolCall;
import io.radixflow.kernels.text.tokenizer.Tokenizer;
import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.operators.record.Message;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tokenizer and the chat template of the served model, read from the file that the option
 * {@code model} names when they are first needed; no weights are loaded. Safe for many threads; all
 * methods may take long, and are for worker threads.
 */
public final class ModelText implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ModelText.class);

  private final String name;
  private ServedModel model;
  private boolean closed;

  public ModelText(Settings settings) {
    name = settings.get(RadixflowOptions.MODEL);
  }

  /**
   * Counts the tokens of a prompt as a turn with these messages and options would have it.
   *
   * @param options of the turn, or null
   * @throws ApiException if the template refuses the messages, or the gateway has no model file
   */
  public int count(List<Message> messages, GenerationOptions options) {
    return encode(messages, options).length;
  }

  /** Returns the tokens of a prompt; same errors as {@link #count}. */
  public int[] encode(List<Message> messages, GenerationOptions options) {
    try {
      return open()
          .chatTemplate()
          .encode(messages.stream().map(ModelText::message).toList(), true, prompt(options));
    } catch (ChatTemplateException e) {
      throw ApiException.badRequest(
          null, "the chat template refuses the messages: " + e.getMessage());
    }
  }

  private static ChatMessage message(Message message) {
    return new ChatMessage(
        message.role(),
        message.content(),
        message.name(),
        message.toolCalls().stream()
            .map(call -> new ToolCall(call.id(), call.name(), call.arguments()))
            .toList(),
        message.toolCallId(),
        message.reasoning());
  }

  private static TemplateOptions prompt(GenerationOptions options) {
    if (options == null) {
      return TemplateOptions.NONE;
    }
    Map<String, Object> variables = new HashMap<>();
    if (options.chatTemplateKwargs() != null) {
      variables.putAll(JsonValues.object(options.chatTemplateKwargs()));
    }
    if (options.reasoningEffort() != null) {
      variables.put("reasoning_effort", options.reasoningEffort());
    }
    boolean tools = options.tools() != null && !options.tools().equals("[]");
    return new TemplateOptions(
        tools ? (List<?>) JsonValues.value(options.tools()) : null, variables);
  }

  /** Returns the tokens of a text as it is. */
  public int[] encode(String text) {
    return open().tokenizer().encode(text);
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
        model = ModelLoader.open(name, Path::of);
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
