package io.radixflow.kernels.text.message;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How a model writes its replies: calls of functions and reasoning. Immutable; for many threads.
 *
 * @param tools the form of calls
 * @param reasoning the marks of reasoning; null if the model writes none, or not with marks
 */
public record ReplyFormat(ToolFormat tools, ReasoningFormat reasoning) {

  /** Chooses the formats by what a chat template writes. */
  public static ReplyFormat of(String template) {
    ToolFormat tools = ToolFormat.of(template);
    return new ReplyFormat(
        tools, tools == ToolFormat.HARMONY ? null : ReasoningFormat.of(template));
  }

  /** Returns this format with another form of calls; harmony has reasoning of its own. */
  public ReplyFormat with(ToolFormat tools) {
    return new ReplyFormat(tools, tools == ToolFormat.HARMONY ? null : reasoning);
  }

  /**
   * Returns a parser of one reply; null if there is nothing to look for, and all text is content.
   *
   * @param functions what the reply may call; empty for none, and calls are content
   * @param promptEnd the prompt's text, or its last characters: a reply may begin within reasoning
   */
  public ReplyParser parser(List<Tool> functions, CharSequence promptEnd) {
    Map<String, Tool> known = new LinkedHashMap<>();
    functions.forEach(f -> known.put(f.name(), f));
    if (tools == ToolFormat.HARMONY) {
      return new HarmonyParser(known);
    }
    ReplyParser calls = known.isEmpty() ? null : new CallParser(tools.calls(), known);
    if (reasoning == null) {
      return calls;
    }
    return new ReasoningParser(
        reasoning, reasoning.openAt(promptEnd), calls == null ? new PlainParser() : calls);
  }
}
