package io.radixflow.operators.prompt;

import io.radixflow.engine.SessionRef;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.TurnOptions;
import io.radixflow.text.ReplyText;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import io.radixflow.text.template.ToolCall;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Computes the beginning of a branch's next prompt before its message is known. It differs from the
 * current prompt and reply if the chat template leaves out the reasoning of earlier turns.
 * Immutable; thread-safe.
 */
public final class NextPrompts {

  private static final String THOUGHT = "pondering";

  /**
   * Two messages without a common beginning. The common beginning of both prompts is in every next
   * prompt.
   */
  private static final List<String> MESSAGES = List.of("A", "b");

  private final Tokenizer tokenizer;
  private final ChatTemplate template;
  private final boolean dropsThinking;

  public NextPrompts(ReplyReading reading) {
    this.tokenizer = reading.tokenizer();
    this.template = reading.template();
    this.dropsThinking = reading.thinks() && drops();
  }

  /** Returns whether the template leaves out earlier reasoning; if not, prompts only grow. */
  public boolean dropsThinking() {
    return dropsThinking;
  }

  private boolean drops() {
    Message reply = new Message("assistant", "yes", null, List.of(), null, THOUGHT);
    List<Message> messages = List.of(new Message("user", "a"), reply, new Message("user", "b"));
    try {
      return !template.render(messages, true, TemplateOptions.NONE).contains(THOUGHT);
    } catch (ChatTemplateException e) {
      return false; // the template does not accept these plain messages
    }
  }

  /**
   * Returns a function from a turn's reply to the prompt after the turn.
   *
   * @param prompt returns the turn's prompt after it was made
   * @param conversation the conversation before the turn
   * @param added the turn's messages
   * @param options the options that the turn runs with
   * @param reader creates the reader of the reply to a prompt
   */
  public SessionRef.NextPrompt after(
      Supplier<Prompt> prompt,
      Conversation conversation,
      List<Message> added,
      TurnOptions options,
      Function<Prompt, ReplyParts> reader) {
    TemplateOptions given = options.prompt().template();
    return reply -> {
      Prompt made = prompt.get();
      ReplyParts parts = reader.apply(made);
      parts.accept(text(reply, options.stop()));
      parts.finish(false);
      Message said = parts.whole();
      List<Message> all = conversation.messages(made.dropped(), added);
      all.add(said);
      if (template.encodeTurn(all, List.of(answer(said, MESSAGES.get(0))), given) != null) {
        return null;
      }
      int[] one = next(all, answer(said, MESSAGES.get(0)), given);
      int common = Arrays.mismatch(one, next(all, answer(said, MESSAGES.get(1)), given));
      return common < 0 ? one : Arrays.copyOf(one, common);
    };
  }

  /**
   * Returns a message that may follow a reply: the result of its first call, or a message of a
   * user.
   */
  private static Message answer(Message reply, String text) {
    if (reply.toolCalls().isEmpty()) {
      return new Message("user", text);
    }
    ToolCall call = reply.toolCalls().get(0);
    return new Message("tool", text, call.name(), List.of(), call.id(), null);
  }

  private int[] next(List<Message> said, Message message, TemplateOptions options) {
    List<Message> messages = new ArrayList<>(said);
    messages.add(message);
    return template.encode(messages, true, options);
  }

  /** Returns the text from which the parts of a reply are read. */
  private String text(int[] reply, List<String> stop) {
    ReplyText text = new ReplyText(tokenizer, stop, tokenizer.markup());
    for (int id : reply) {
      text.accept(id);
    }
    text.finish();
    return text.take();
  }
}
