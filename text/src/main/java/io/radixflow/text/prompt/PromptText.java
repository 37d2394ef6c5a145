package io.radixflow.text.prompt;

import io.radixflow.text.TextModel;
import io.radixflow.text.reply.ReplyFormat;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Makes the prompt of a session's first turn without a job, exactly as a job would, to count its
 * tokens or to look at it. Thread-safe.
 */
public final class PromptText {

  /**
   * What a prompt depends on besides its messages.
   *
   * @param template tools and further variables of the chat template
   * @param toolParser name of the format of calls; null for the format of the chat template
   * @param separateReasoning whether reasoning is separate from content
   * @param opensReply whether the prompt ends with the template's opening of a reply
   * @param continuesMessage whether the last message is the beginning of the reply
   */
  public record Options(
      TemplateOptions template,
      String toolParser,
      boolean separateReasoning,
      boolean opensReply,
      boolean continuesMessage) {}

  /** Roles of a first message that is the system prompt. */
  private static final Set<String> INSTRUCTING = Set.of("system", "developer");

  private final ChatTemplate template;
  private final ChatTemplate raw;
  private final ReplyFormat format;

  public PromptText(TextModel model) {
    template = RepliesAsContent.of(model.chatTemplate());
    raw = new RawTemplate(model.tokenizer(), model.promptStart());
    format = ReplyFormat.of(model.chatTemplate().source());
  }

  /**
   * Returns the ids of the prompt.
   *
   * @param given the turn's messages, or one message that is the prompt itself, see {@link
   *     RawTemplate}
   * @throws ChatTemplateException if the chat template refuses the messages
   * @throws IllegalArgumentException if no format has the name of the parser
   */
  public int[] encode(List<Message> given, Options options) {
    List<Message> messages = new ArrayList<>(given);
    if (Message.isPrompt(messages)) {
      return raw.encode(messages, true, options.template());
    }
    ReplyFormat used = format.with(options.toolParser(), options.separateReasoning());
    Prefill prefill =
        options.continuesMessage() ? Prefill.of(used, messages.remove(messages.size() - 1)) : null;
    if (!messages.isEmpty() && INSTRUCTING.contains(messages.get(0).role())) {
      messages.set(0, new Message("system", messages.get(0).content()));
    }
    boolean opens = options.opensReply() || options.continuesMessage();
    return new PromptEnd(opens, prefill).encode(template, messages, options.template());
  }
}
