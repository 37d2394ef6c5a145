package io.radixflow.operators.api;

import io.radixflow.engine.model.ServedModel;
import io.radixflow.operators.prompt.Prefill;
import io.radixflow.operators.prompt.PromptAssembly;
import io.radixflow.operators.prompt.PromptEnd;
import io.radixflow.operators.prompt.RawTemplate;
import io.radixflow.operators.prompt.ReplyReading;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.PromptOptions;
import io.radixflow.protocol.PublicApi;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Message;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.ChatTemplateException;
import java.util.Arrays;
import java.util.List;

/**
 * Makes the prompt of a session's first turn without a job, exactly as a job would, to count its
 * tokens or to look at it. Thread-safe.
 */
@PublicApi
public final class PromptText {
  private static final PromptAssembly.Window WINDOW =
      new PromptAssembly.Window(Integer.MAX_VALUE, 0, Integer.MAX_VALUE, false);

  private final ReplyReading reading;
  private final ChatTemplate raw;

  /**
   * @param model provides tokenizer and chat template; must stay open
   */
  public PromptText(ServedModel model) {
    reading = new ReplyReading(model);
    raw = new RawTemplate(model);
  }

  /**
   * Returns the ids of the prompt.
   *
   * @param messages the turn's messages, or one message that is the prompt itself, see {@link
   *     Message#prompt}
   * @param options the turn's options, or null
   * @throws ChatTemplateException if the chat template refuses the messages
   * @throws IllegalArgumentException if the options contradict each other
   */
  public int[] encode(List<Message> messages, GenerationOptions options) {
    PromptOptions resolved = PromptOptions.resolve(Arrays.asList(options));
    boolean instructed = !messages.isEmpty() && messages.get(0).instructs();
    boolean continued = options != null && options.continuesMessage();
    int end = messages.size() - (continued ? 1 : 0);
    boolean opens =
        continued || options == null || !Boolean.FALSE.equals(options.addGenerationPrompt());
    Prefill prefill = continued ? reading.prefill(resolved, messages.get(end)) : null;
    return new PromptAssembly(
            reading.tokenizer(),
            Message.isPrompt(messages) ? raw : reading.template(),
            Conversation.of(instructed ? messages.get(0).content() : null, List.of()),
            messages.subList(instructed ? 1 : 0, end),
            resolved,
            WINDOW,
            new PromptEnd(opens, prefill))
        .encode();
  }
}
