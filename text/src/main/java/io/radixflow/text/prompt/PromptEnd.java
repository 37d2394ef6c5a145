package io.radixflow.text.prompt;

import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.ChatTemplate.Continued;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.util.ArrayList;
import java.util.List;

/**
 * The end of a prompt after its messages.
 *
 * @param opensReply whether the prompt ends with the template's opening of a reply
 * @param prefill the beginning of that reply; null for none
 */
public record PromptEnd(boolean opensReply, Prefill prefill) {

  /** The end of a prompt for a whole reply without a prefill. */
  public static final PromptEnd REPLY = new PromptEnd(true, null);

  /**
   * Returns the ids of a prompt with this end.
   *
   * @param messages all messages before the reply
   * @throws ChatTemplateException if the template refuses the messages
   */
  public int[] encode(ChatTemplate template, List<Message> messages, TemplateOptions options) {
    if (prefill == null) {
      return template.encode(messages, opensReply, options);
    }
    Continued continued = continued(template, messages, options);
    return continued.extendsPrompt()
        ? continued.after(template.encode(messages, opensReply, options))
        : continued.ids();
  }

  /** Returns the ids of the prefill after these messages; there must be a prefill. */
  public Continued continued(
      ChatTemplate template, List<Message> messages, TemplateOptions options) {
    if (!prefill.thinks()) {
      List<Message> all = new ArrayList<>(messages);
      all.add(prefill.given());
      return template.encodeContinued(all, options);
    }
    String opening = template.render(messages, true, options).stripTrailing();
    String text = opening.endsWith(prefill.mark()) ? prefill.read().reasoning() : prefill.text();
    return new Continued(true, template.encodeReply(text));
  }
}
