package io.radixflow.text.reply;

import java.util.ArrayList;
import java.util.List;

/**
 * How a model writes function calls and reasoning in its replies. Immutable and thread-safe.
 *
 * @param tools the format of calls
 * @param reasoning the marks of reasoning; null if the model does not write reasoning or does not
 *     mark it
 */
public record ReplyFormat(ToolFormat tools, ReasoningFormat reasoning) {

  /** Headers of harmony's messages, and the end of a message that is not the last. */
  private static final String MESSAGE = "<|message|>";

  private static final String ANALYSIS = "<|channel|>analysis" + MESSAGE;
  private static final String FINAL = "<|channel|>final";
  private static final String JSON = " <|constrain|>json";
  private static final String NEXT = "<|end|><|start|>assistant";

  /** Chooses the formats from the text of a chat template. */
  public static ReplyFormat of(String template) {
    ToolFormat tools = ToolFormat.of(template);
    return new ReplyFormat(
        tools, tools == ToolFormat.HARMONY ? null : ReasoningFormat.of(template));
  }

  /**
   * Returns a grammar, in Lark with {@code %json}, for replies whose calls have this format and
   * match the functions' schemas.
   *
   * @param functions the functions that the reply may call; only one if the request names a
   *     function
   * @param required whether the reply must consist of calls; if not, it may begin with free text,
   *     and only the schemas of strict functions are enforced
   * @param parallel whether there may be more than one call
   * @param promptEnd see {@link #parser}; reasoning is not restricted
   * @throws IllegalArgumentException if a schema has a keyword that this format cannot enforce
   */
  public String grammar(
      List<Tool> functions, boolean required, boolean parallel, CharSequence promptEnd) {
    return grammar(functions, required, parallel, null, promptEnd);
  }

  /**
   * Like {@link #grammar(List, boolean, boolean, CharSequence)}, for replies that are calls or
   * JSON.
   *
   * @param schema the schema of a reply without calls; null for free text
   */
  public String grammar(
      List<Tool> functions,
      boolean required,
      boolean parallel,
      String schema,
      CharSequence promptEnd) {
    GrammarText grammar = new GrammarText();
    String calls =
        grammar.rule(
            "calls", tools.grammar(new CallGrammar(grammar, functions, parallel, required)));
    boolean open = reasoning != null && reasoning.openAt(promptEnd);
    String body =
        required
            ? calls
            : schema == null
                ? free(grammar, open)
                : "(" + calls + " | " + content(grammar, schema) + ")";
    grammar.rule("start", reasoning(grammar, open) + body);
    return grammar.toString();
  }

  private String content(GrammarText grammar, String schema) {
    String header =
        tools == ToolFormat.HARMONY
            ? "\"" + FINAL + "\" (\"" + JSON + "\")? \"" + MESSAGE + "\" "
            : "";
    return grammar.rule("content", header + "%json " + schema);
  }

  /** Text up to the first call, optionally followed by calls. */
  private String free(GrammarText grammar, boolean open) {
    List<String> marks = new ArrayList<>(tools.marks());
    if (reasoning != null && !open) {
      marks.add(reasoning.open());
    }
    String text = GrammarText.without(marks);
    if (tools == ToolFormat.HARMONY) {
      grammar.rule("FREE", "/" + text + "/");
      grammar.rule("preamble", "\"<|channel|>commentary" + MESSAGE + "\" FREE \"" + NEXT + "\"");
      return grammar.rule("free", "preamble* (\"" + FINAL + MESSAGE + "\" FREE | calls)");
    }
    if (tools.leads()) {
      grammar.rule("FREE", "/([ \\t\\r\\n]*[^ \\t\\r\\n{\\[<]" + text + ")?/");
      return grammar.rule("free", "FREE | calls");
    }
    grammar.rule("FREE", "/" + text + "/");
    return grammar.rule("free", "FREE calls?");
  }

  private String reasoning(GrammarText grammar, boolean open) {
    if (tools == ToolFormat.HARMONY) {
      grammar.rule("THOUGHT", "/" + GrammarText.without(List.of("<|end|>")) + "/");
      return "(\"" + ANALYSIS + "\" THOUGHT \"" + NEXT + "\")* ";
    }
    if (reasoning == null) {
      return "";
    }
    grammar.rule("THOUGHT", "/" + GrammarText.without(List.of(reasoning.close())) + "/");
    String thought = "THOUGHT " + GrammarText.literal(reasoning.close()) + " /\\n*/ ";
    return open ? thought : "(" + GrammarText.literal(reasoning.open()) + " " + thought + ")? ";
  }

  /**
   * Returns a regular expression for the text before the answer in a reply: reasoning and header.
   * Empty if there is no such text.
   *
   * @param promptEnd see {@link #parser}
   */
  public String reasoningBefore(CharSequence promptEnd) {
    if (tools == ToolFormat.HARMONY) {
      String thought = GrammarText.without(List.of("<|end|>"));
      String analysis = GrammarText.quote(ANALYSIS) + thought + GrammarText.quote(NEXT);
      String json = "(" + GrammarText.quote(JSON) + ")?";
      return "(" + analysis + ")*" + GrammarText.quote(FINAL) + json + GrammarText.quote(MESSAGE);
    }
    if (reasoning == null) {
      return "";
    }
    String close = reasoning.close();
    String thought = GrammarText.without(List.of(close)) + GrammarText.quote(close) + "\\n*";
    boolean open = reasoning.openAt(promptEnd);
    return open ? thought : "(" + GrammarText.quote(reasoning.open()) + thought + ")?";
  }

  /**
   * Returns the beginning of a reply, with its marks.
   *
   * @param thought its reasoning, or null
   * @param content its content; empty if the reasoning should continue
   */
  public String beginning(String thought, String content) {
    if (tools == ToolFormat.HARMONY) {
      String analysis = thought == null ? "" : ANALYSIS + thought;
      String answer = content.isEmpty() ? "" : FINAL + MESSAGE + content;
      return analysis + (analysis.isEmpty() || answer.isEmpty() ? "" : NEXT) + answer;
    }
    if (thought == null || reasoning == null) {
      return content;
    }
    String opened = reasoning.open() + "\n" + thought;
    return content.isEmpty() ? opened : opened + "\n" + reasoning.close() + "\n\n" + content;
  }

  /** Returns this format with another format of calls. Harmony has its own reasoning. */
  public ReplyFormat with(ToolFormat tools) {
    return new ReplyFormat(tools, tools == ToolFormat.HARMONY ? null : reasoning);
  }

  /**
   * Returns this format as the options of a turn change it.
   *
   * @param toolParser name of the format of calls; null for the same as here
   * @param separateReasoning whether reasoning is separate from content
   * @throws IllegalArgumentException if no format has the name
   */
  public ReplyFormat with(String toolParser, boolean separateReasoning) {
    ReplyFormat chosen = toolParser == null ? this : with(ToolFormat.byName(toolParser));
    return separateReasoning ? chosen : new ReplyFormat(chosen.tools, null);
  }

  /**
   * Returns a parser for one reply; null if all text is content.
   *
   * @param functions the functions that the reply may call; if empty, calls are content
   * @param promptEnd the text of the prompt, or its last characters, which show whether the reply
   *     begins inside the reasoning
   */
  public ReplyParser parser(List<Tool> functions, CharSequence promptEnd) {
    return parser(functions, false, promptEnd);
  }

  /**
   * Like {@link #parser(List, CharSequence)}.
   *
   * @param structured whether a grammar constrains the content; then a text that looks like a call
   *     without a mark is content if its function is unknown
   */
  public ReplyParser parser(List<Tool> functions, boolean structured, CharSequence promptEnd) {
    Functions known = Functions.of(functions, !structured);
    if (tools == ToolFormat.HARMONY) {
      return new HarmonyParser(known);
    }
    ReplyParser calls = functions.isEmpty() ? null : new CallParser(tools.calls(), known);
    if (reasoning == null) {
      return calls;
    }
    return new ReasoningParser(
        reasoning, reasoning.openAt(promptEnd), calls == null ? new PlainParser() : calls);
  }
}
