package io.radixflow.text.template;

import java.util.List;

/**
 * A model's chat template: messages to the prompt's text and token ids. Safe for many threads.
 *
 * <p>Special tokens are recognised only where the template itself wrote them; the text between two
 * of them (role name, newline and content together) is encoded as one run.
 */
public interface ChatTemplate {

  /** The template's text, by which its formats of calls and reasoning are known; may be empty. */
  default String source() {
    return "";
  }

  /**
   * The prompt's text.
   *
   * @param addGenerationPrompt whether to end with the opening of an assistant turn
   * @param options tools and further variables of the template
   * @throws ChatTemplateException if the template refuses the messages or fails
   */
  String render(List<ChatMessage> messages, boolean addGenerationPrompt, TemplateOptions options);

  /** The prompt's token ids; same errors as {@link #render}. */
  int[] encode(List<ChatMessage> messages, boolean addGenerationPrompt, TemplateOptions options);

  /**
   * The ids that a new turn adds: those to append after the reply, given the ids of everything up
   * to and including the reply's end-of-turn token.
   *
   * @param before messages so far, the last one the assistant's reply
   * @param added messages of the new turn
   * @param options tools and further variables, the same as in the prompts before
   * @return the ids of {@code render(before + added, true)} after {@code render(before, false)}
   *     without the text after the reply's end token; null if the first rendering does not extend
   *     the second (the template rewrites earlier turns) and the whole prompt must be encoded again
   */
  int[] encodeTurn(List<ChatMessage> before, List<ChatMessage> added, TemplateOptions options);

  /**
   * The end of a prompt whose last message the model is to continue.
   *
   * @param extendsPrompt whether the ids continue the ids of {@code encode(all but the last
   *     message, true)}; if not, they are the ids of the whole prompt
   */
  record Continued(boolean extendsPrompt, int[] ids) {}

  /**
   * The ids of a prompt that ends with the content of its last message; same errors as {@link
   * #render}.
   *
   * @param messages the last one has content
   */
  default Continued encodeContinued(List<ChatMessage> messages, TemplateOptions options) {
    throw new ChatTemplateException("the last message cannot be continued with this model");
  }

  /**
   * The ids of a text in a reply: of the tokens that it spells, only special ones are not meant.
   */
  default int[] encodeReply(String text) {
    throw new ChatTemplateException("the last message cannot be continued with this model");
  }
}
