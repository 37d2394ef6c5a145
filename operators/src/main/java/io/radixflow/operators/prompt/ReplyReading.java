package io.radixflow.operators.prompt;

import io.radixflow.kernels.ServedModel;
import io.radixflow.kernels.text.message.ReplyFormat;
import io.radixflow.kernels.text.message.ReplyParser;
import io.radixflow.kernels.text.message.Tool;
import io.radixflow.kernels.text.message.ToolFormat;
import io.radixflow.kernels.text.template.ChatTemplate;
import io.radixflow.kernels.text.tokenizer.Tokenizer;
import io.radixflow.operators.session.PromptOptions;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * Knows how a model writes calls and reasoning, by its chat template, and reads its replies.
 * Immutable; any thread.
 */
public final class ReplyReading {
  /** How much of a prompt's end is looked at: a template opens the reasoning of a reply there. */
  private static final int PROMPT_END = 32;

  private final Tokenizer tokenizer;
  private final ReplyFormat format;
  private final ChatTemplate template;

  public ReplyReading(ServedModel model) {
    this.tokenizer = model.tokenizer();
    this.format = ReplyFormat.of(model.chatTemplate().source());
    this.template = RepliesAsContent.of(model.chatTemplate());
  }

  /** Returns the model's chat template, which takes replies as they are read here. */
  public ChatTemplate template() {
    return template;
  }

  /**
   * Returns what reads the reply to a prompt.
   *
   * @param prompt its ids
   */
  public ReplyParts parts(PromptOptions options, int[] prompt, String session, String turn) {
    return new ReplyParts(parser(options, prompt), tokenizer, session, turn);
  }

  private ReplyParser parser(PromptOptions options, int[] prompt) {
    String chosen = options.toolParser();
    ReplyFormat used = chosen == null ? format : format.with(ToolFormat.byName(chosen));
    if (!options.separateReasoning()) {
      if (!options.calls()) {
        return null;
      }
      used = new ReplyFormat(used.tools(), null);
    }
    List<Tool> tools = options.calls() ? Tool.list(options.template().tools()) : List.of();
    return used.parser(tools, promptEnd(prompt));
  }

  /**
   * Returns the special tokens that a reply's text has as their text, so that its parts are found;
   * empty if it has no parts.
   */
  public Map<Integer, String> markup(PromptOptions options) {
    boolean plain = parser(options, new int[0]) == null;
    return plain ? Map.of() : tokenizer.markup();
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
