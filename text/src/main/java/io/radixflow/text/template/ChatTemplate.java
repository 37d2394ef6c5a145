package io.radixflow.text.template;

import java.util.List;
import java.util.stream.IntStream;

/**
 * A model's chat template, which turns messages into the prompt's text and token ids. Thread-safe.
 *
 * <p>Special tokens are recognised only if the template itself wrote them. The text between two
 * special tokens (role name, newline and content together) is encoded as one run.
 */
public interface ChatTemplate {

  /** The template's text, which shows its formats of calls and reasoning. It may be empty. */
  default String source() {
    return "";
  }

  /**
   * Returns the prompt's text.
   *
   * @param addGenerationPrompt whether to end with the beginning of an assistant turn
   * @param options tools and further variables of the template
   * @throws ChatTemplateException if the template rejects the messages or fails
   */
  String render(List<Message> messages, boolean addGenerationPrompt, TemplateOptions options);

  /** Returns the prompt's token ids. Throws the same errors as {@link #render}. */
  int[] encode(List<Message> messages, boolean addGenerationPrompt, TemplateOptions options);

  /**
   * Returns the ids that a new turn adds. They are appended to the ids of everything up to and
   * including the reply's end-of-turn token.
   *
   * @param before messages so far; the last one is the assistant's reply
   * @param added messages of the new turn
   * @param options tools and further variables, the same as in the earlier prompts
   * @return the ids of the text by which {@code render(before + added, true)} extends {@code
   *     render(before, false)}, where the latter ends with the reply's end token; null if it does
   *     not extend it, because the template rewrites earlier turns, so that the whole prompt must
   *     be encoded again
   */
  int[] encodeTurn(List<Message> before, List<Message> added, TemplateOptions options);

  /**
   * A prompt whose last message the model will continue.
   *
   * @param extendsPrompt whether {@code ids} continue the ids of {@code encode(all but the last
   *     message, true)}; if not, they are the ids of the whole prompt
   */
  record Continued(boolean extendsPrompt, int[] ids) {

    /** Returns the ids that follow the ids before. */
    public int[] after(int[] before) {
      return IntStream.concat(IntStream.of(before), IntStream.of(ids)).toArray();
    }
  }

  /**
   * Returns the ids of a prompt that ends with the content of its last message. Throws the same
   * errors as {@link #render}.
   *
   * @param messages the last message must have content
   */
  default Continued encodeContinued(List<Message> messages, TemplateOptions options) {
    throw new ChatTemplateException("the last message cannot be continued with this model");
  }

  /**
   * Returns the ids of a text in a reply. Texts of special tokens in it are encoded as plain text;
   * other added tokens are recognised.
   */
  default int[] encodeReply(String text) {
    throw new ChatTemplateException("the last message cannot be continued with this model");
  }
}
