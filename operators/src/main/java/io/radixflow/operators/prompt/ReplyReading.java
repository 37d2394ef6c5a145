package io.radixflow.operators.prompt;

import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.grammar.GrammarSpec.Kind;
import io.radixflow.grammar.ReplyConstraint;
import io.radixflow.operators.session.PromptOptions;
import io.radixflow.text.prompt.Prefill;
import io.radixflow.text.prompt.RepliesAsContent;
import io.radixflow.text.reply.ReasoningTokens;
import io.radixflow.text.reply.ReasoningTracker;
import io.radixflow.text.reply.ReplyFormat;
import io.radixflow.text.reply.ReplyParser;
import io.radixflow.text.reply.ToolFormat;
import io.radixflow.text.template.ChatTemplate;
import io.radixflow.text.template.Message;
import io.radixflow.text.tokenizer.Tokenizer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Knows from the chat template how a model writes calls and reasoning, and creates the readers of
 * its replies. Immutable; thread-safe.
 */
public final class ReplyReading {
  /**
   * Tokens at the end of a prompt to look at, because a template may open the reasoning of the
   * reply there.
   */
  private static final int PROMPT_END = 32;

  private final Tokenizer tokenizer;
  private final ReplyFormat format;

  /** The tokens of reasoning by format, for the few formats requested so far. */
  private final Map<ReplyFormat, Optional<ReasoningTokens>> reasoning = new ConcurrentHashMap<>();

  private final ChatTemplate template;

  public ReplyReading(ServedModel model) {
    this.tokenizer = model.tokenizer();
    this.format = ReplyFormat.of(model.chatTemplate().source());
    this.template = RepliesAsContent.of(model.chatTemplate());
  }

  /** Returns the model's tokenizer. */
  public Tokenizer tokenizer() {
    return tokenizer;
  }

  /** Returns whether the model may write reasoning. */
  boolean thinks() {
    return format.reasoning() != null || format.tools() == ToolFormat.HARMONY;
  }

  /** Returns the model's chat template; it accepts replies with the parts that this class reads. */
  public ChatTemplate template() {
    return template;
  }

  /**
   * Returns the reader of the reply to a prompt.
   *
   * @param prompt its ids
   */
  public ReplyParts parts(PromptOptions options, int[] prompt, String session, String turn) {
    return parts(options, prompt, session, turn, null);
  }

  /**
   * The same as {@link #parts(PromptOptions, int[], String, String)}.
   *
   * @param prefill the reply's beginning at the end of the prompt; null for none
   */
  public ReplyParts parts(
      PromptOptions options, int[] prompt, String session, String turn, Prefill prefill) {
    String end = promptEnd(prompt, prefill);
    ReasoningTracker tracker = tracker(options, end, ReasoningTracker.UNLIMITED);
    String before = prefill == null ? end : ""; // the parser reads the prefill itself
    return new ReplyParts(parser(options, before), tracker, session, turn, prefill);
  }

  /**
   * Returns a message of the assistant as the beginning of a reply.
   *
   * @return null if the message is empty
   */
  public Prefill prefill(PromptOptions options, Message given) {
    return Prefill.of(format(options), given);
  }

  private ReplyParser parser(PromptOptions options, String promptEnd) {
    if (!options.separateReasoning() && options.tools().isEmpty()) {
      return null;
    }
    boolean structured = options.constraint().content() != null;
    return format(options).parser(options.tools(), structured, promptEnd);
  }

  private ReplyFormat format(PromptOptions options) {
    return format.with(options.toolParser(), options.separateReasoning());
  }

  /**
   * Returns the source of the grammar of a reply; null for a reply without a constraint.
   *
   * @param prefill the reply's beginning, which the grammar does not constrain; null for none
   */
  public EngineRequest.GrammarSource grammar(PromptOptions options, Prefill prefill) {
    ReplyConstraint constraint = options.constraint();
    if (constraint.isFree()) {
      return null;
    }
    EngineRequest.GrammarSource source = prompt -> grammar(options, prefill, prompt);
    return source.of(constraint.option());
  }

  private GrammarSpec grammar(PromptOptions options, Prefill prefill, int[] prompt) {
    ReplyConstraint constraint = options.constraint();
    ReplyFormat used = format(options);
    boolean channels = used.tools() == ToolFormat.HARMONY;
    if (channels && !options.separateReasoning() && constraint.callable().isEmpty()) {
      throw new IllegalArgumentException(
          "separate_reasoning is false, but this model writes the format harmony, in which a"
              + " grammar constrains only the final channel: leave separate_reasoning out");
    }
    if (prefill != null && !prefill.thinks()) {
      if (channels && !constraint.callable().isEmpty()) {
        throw new IllegalArgumentException(
            "continue_final_message continues a message of the final channel, which cannot contain"
                + " calls that a grammar constrains: set tool_choice to none");
      }
      return grammar(new ReplyFormat(used.tools(), null), constraint, "", true);
    }
    return grammar(used, constraint, promptEnd(prompt, prefill), false);
  }

  /**
   * Returns the source of a tracker that ends the reasoning when its budget is used up; null for no
   * budget.
   */
  public EngineRequest.ReasoningSource budget(PromptOptions options, int budget, Prefill prefill) {
    return budget == ReasoningTracker.UNLIMITED
        ? null
        : prompt -> tracker(options, promptEnd(prompt, prefill), budget);
  }

  private ReasoningTracker tracker(PromptOptions options, String promptEnd, int budget) {
    return reasoning
        .computeIfAbsent(
            format.with(options.toolParser(), true),
            used -> Optional.ofNullable(ReasoningTokens.of(tokenizer, used)))
        .map(tokens -> tokens.tracker(promptEnd, budget))
        .orElse(null);
  }

  /**
   * @param begun whether the content has begun, so that no reasoning comes before it
   */
  private static GrammarSpec grammar(
      ReplyFormat format, ReplyConstraint constraint, String promptEnd, boolean begun) {
    GrammarSpec content = constraint.content();
    if (constraint.callable().isEmpty()) {
      return begun ? content : content.after(format.reasoningBefore(promptEnd));
    }
    String calls =
        format.grammar(
            constraint.callable(),
            constraint.required(),
            constraint.parallel(),
            content == null ? null : content.text(),
            promptEnd);
    return new GrammarSpec(Kind.LARK, calls);
  }

  /**
   * Returns the special tokens that a reply's text contains as text, because its parts are found by
   * them; empty if the reply has no parts.
   */
  public Map<Integer, String> markup(PromptOptions options) {
    boolean plain = parser(options, "") == null;
    return plain ? Map.of() : tokenizer.markup();
  }

  private String promptEnd(int[] prompt, Prefill prefill) {
    return prefill == null ? promptEnd(prompt) : prefill.mark();
  }

  private String promptEnd(int[] prompt) {
    StringBuilder end = new StringBuilder();
    Map<Integer, String> markup = tokenizer.markup();
    for (int i = Math.max(0, prompt.length - PROMPT_END); i < prompt.length; i++) {
      String mark = markup.get(prompt[i]);
      end.append(
          mark == null ? new String(tokenizer.bytes(prompt[i]), StandardCharsets.UTF_8) : mark);
    }
    return end.toString();
  }
}
