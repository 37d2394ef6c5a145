package io.radixflow.operators.api;

import io.radixflow.kernels.ServedModel;
import io.radixflow.kernels.text.template.ChatTemplate;
import io.radixflow.kernels.text.template.ChatTemplateException;
import io.radixflow.operators.PublicApi;
import io.radixflow.operators.prompt.RawTemplate;
import io.radixflow.operators.prompt.ReplyReading;
import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.PromptOptions;
import java.util.Arrays;
import java.util.List;

/**
 * Makes the prompt of a session's first turn as a job does, without one: to count its tokens, or to
 * look at it. Safe for many threads.
 */
@PublicApi
public final class PromptText {
  private final ChatTemplate template;
  private final ChatTemplate raw;

  /**
   * @param model gives tokenizer and chat template; must stay open
   */
  public PromptText(ServedModel model) {
    template = new ReplyReading(model).template();
    raw = new RawTemplate(model);
  }

  /**
   * Returns the ids of the prompt.
   *
   * @param messages of the turn, or one that is the prompt itself, see {@link Message#prompt}
   * @param options of the turn, or null
   * @throws ChatTemplateException if the chat template refuses the messages
   * @throws IllegalArgumentException if the options do not go together
   */
  public int[] encode(List<Message> messages, GenerationOptions options) {
    ChatTemplate used = Message.isPrompt(messages) ? raw : template;
    boolean instructed = !messages.isEmpty() && messages.get(0).instructs();
    String system = instructed ? messages.get(0).content() : null;
    return used.encode(
        Conversation.of(system, List.of())
            .messages(0, messages.subList(instructed ? 1 : 0, messages.size())),
        true,
        PromptOptions.resolve(Arrays.asList(options)).template());
  }
}
