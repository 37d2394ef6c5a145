package io.radixflow.operators.prompt;

import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.PromptException;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.PromptOptions;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.text.prompt.PromptEnd;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.ChatTemplate.Continued;
import io.radixflow.text.template.ChatTemplateException;
import io.radixflow.text.template.Message;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/**
 * Makes the prompt of one turn, on an intake thread, from an immutable view of its conversation.
 *
 * <p>The prompt of a conversation that has grown keeps its canonical ids, and only the new turn is
 * encoded. So the radix cache matches up to the last id. The whole conversation is encoded again if
 * the template rewrites earlier turns, the tokenizer or the tools change, or the window is trimmed.
 */
public final class PromptAssembly implements EngineRequest.PromptSource {

  /**
   * The limits of a prompt.
   *
   * @param contextLength tokens of prompt and reply together
   * @param reserve tokens of it that are reserved for the reply
   * @param maxTurns turns that a prompt may have besides the new one
   * @param dropOldest whether the oldest turns are dropped if the prompt does not fit
   * @param bound lower bound on the tokens of messages, checked before the template runs; null for
   *     none
   */
  public record Window(
      int contextLength, int reserve, int maxTurns, boolean dropOldest, PromptBound bound) {

    /** Makes a window without a bound. */
    public Window(int contextLength, int reserve, int maxTurns, boolean dropOldest) {
      this(contextLength, reserve, maxTurns, dropOldest, null);
    }
  }

  private final Tokenizer tokenizer;
  private final ChatTemplate template;
  private final Conversation conversation;
  private final List<Message> added;
  private final PromptOptions options;
  private final Window window;
  private final PromptEnd end;
  private volatile Prompt prompt;

  /**
   * @param added the new turn's messages; empty to encode the conversation as it is
   * @param options tools and other content of the prompt besides messages
   */
  public PromptAssembly(
      Tokenizer tokenizer,
      ChatTemplate template,
      Conversation conversation,
      List<Message> added,
      PromptOptions options,
      Window window) {
    this(
        tokenizer,
        template,
        conversation,
        added,
        options,
        window,
        new PromptEnd(!added.isEmpty(), null));
  }

  /**
   * @param added the new turn's messages
   * @param options tools and other content of the prompt besides messages
   * @param end the end of the prompt after the messages
   */
  public PromptAssembly(
      Tokenizer tokenizer,
      ChatTemplate template,
      Conversation conversation,
      List<Message> added,
      PromptOptions options,
      Window window,
      PromptEnd end) {
    this.tokenizer = tokenizer;
    this.template = template;
    this.conversation = conversation;
    this.added = List.copyOf(added);
    this.options = options;
    this.window = window;
    this.end = end;
  }

  /** Returns the prompt that {@link #ids} made; null before. */
  public Prompt prompt() {
    return prompt;
  }

  @Override
  public int[] ids() throws PromptException {
    checkBound();
    try {
      prompt = fitted(whole());
    } catch (ChatTemplateException e) {
      throw new PromptException(
          ErrorCode.INVALID_REQUEST, "the chat template refuses the messages: " + e.getMessage());
    }
    return prompt.ids();
  }

  /** Refuses a prompt that is too long even after dropping turns, before the template runs. */
  private void checkBound() throws PromptException {
    int least = window.bound() == null ? 0 : window.bound().leastTokens(added);
    if (least >= window.contextLength()) {
      throw PromptException.tooLong(
          "the turn's %d tokens or more leave no room in the context window of %d"
              .formatted(least, window.contextLength()),
          least,
          window.contextLength());
    }
  }

  private Prompt whole() throws PromptException {
    int dropped = conversation.dropped();
    if (conversation.depth() - dropped > window.maxTurns()) {
      return withFewerTurns();
    }
    int[] before = conversation.canonicalIds(tokenizer.fingerprint());
    if (before == null) {
      return made(encode(dropped), 0, dropped);
    }
    if (added.isEmpty() && !end.opensReply()) {
      return made(before, before.length, dropped);
    }
    int[] tail =
        end.opensReply() && conversation.variant().equals(options.identity())
            ? tail(dropped)
            : null;
    if (tail != null) {
      int[] ids = Arrays.copyOf(before, before.length + tail.length);
      System.arraycopy(tail, 0, ids, before.length, tail.length);
      return made(ids, before.length, dropped);
    }
    int[] ids = encode(dropped);
    int differs = Arrays.mismatch(before, ids);
    int keep = differs < 0 ? Math.min(before.length, ids.length) : differs;
    return new Prompt(ids, keep, dropped, tokenizer.fingerprint(), before.length - keep);
  }

  /**
   * Returns the ids that the new turn adds to the earlier ids, or null if it changes earlier ids.
   */
  private int[] tail(int dropped) {
    List<Message> turn = Stream.concat(conversation.unanswered().stream(), added.stream()).toList();
    List<Message> before = conversation.answered().messages(dropped, List.of());
    int[] tail = template.encodeTurn(before, turn, options.template());
    if (tail == null || end.prefill() == null) {
      return tail;
    }
    Continued continued =
        end.continued(template, conversation.messages(dropped, added), options.template());
    return continued.extendsPrompt() ? continued.after(tail) : null;
  }

  /** Drops the oldest turns down to half the limit, so that the next prompts extend this prompt. */
  private Prompt withFewerTurns() throws PromptException {
    if (!window.dropOldest()) {
      throw new PromptException(
          ErrorCode.CONTEXT_LENGTH_EXCEEDED,
          "the conversation has its limit of %d turns; fork an earlier turn or open another session"
              .formatted(window.maxTurns()));
    }
    int dropped = conversation.depth() - window.maxTurns() / 2;
    return made(encode(dropped), 0, dropped);
  }

  private Prompt fitted(Prompt whole) throws PromptException {
    int limit = window.contextLength() - 1;
    if (!window.dropOldest()) {
      if (whole.ids().length > limit) {
        throw PromptException.tooLong(
            "the conversation's %d tokens leave no room in the context window of %d; fork an"
                    .formatted(whole.ids().length, window.contextLength())
                + " earlier turn or open another session",
            whole.ids().length,
            window.contextLength());
      }
      return whole;
    }
    if (whole.ids().length + window.reserve() <= window.contextLength()) {
      return whole;
    }
    Prompt trimmed = whole.dropped() == conversation.depth() ? whole : trimmed(whole.dropped());
    if (trimmed.ids().length > limit) {
      throw PromptException.tooLong(
          "the turn's %d tokens, with the system prompt, leave no room in the context window of %d"
              .formatted(trimmed.ids().length, window.contextLength()),
          trimmed.ids().length,
          window.contextLength());
    }
    return trimmed;
  }

  /**
   * Drops as few turns as possible so that the prompt fits into half the window. Fewer turns always
   * make a shorter prompt.
   */
  private Prompt trimmed(int dropped) {
    int low = dropped;
    int high = conversation.depth();
    int[] ids = encode(high);
    while (low < high) {
      int middle = (low + high) >>> 1;
      int[] candidate = encode(middle);
      if (candidate.length <= window.contextLength() / 2) {
        ids = candidate;
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return made(ids, 0, high);
  }

  /**
   * Encodes the whole conversation again and returns its ids.
   *
   * @throws ChatTemplateException if the template refuses it
   */
  public int[] encode() {
    return encode(0);
  }

  private int[] encode(int dropped) {
    return end.encode(template, conversation.messages(dropped, added), options.template());
  }

  private Prompt made(int[] ids, int keep, int dropped) {
    return new Prompt(ids, keep, dropped, tokenizer.fingerprint());
  }
}
