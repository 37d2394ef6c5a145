package io.radixflow.text.reply;

import io.radixflow.text.reply.TagCalls.Parameter;
import io.radixflow.text.reply.json.LiteralArguments.Dialect;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;

/** The formats in which families of models write function calls. */
public enum ToolFormat {
  /** {@code <tool_call>{"name": "f", "arguments": {}}</tool_call>}: Qwen, Hermes, Granite 4. */
  HERMES(
      List.of("hermes", "qwen", "qwen25", "granite4"),
      new JsonCalls(List.of("<tool_call>"), List.of(), List.of("</tool_call>"), false)),

  /** {@code <tool_call><function=f><parameter=a>1</parameter></function></tool_call>}. */
  QWEN3_CODER(
      List.of("qwen3_coder", "qwen3_xml", "mimo", "step3p5"),
      functionTags("<tool_call>", "</tool_call>")),

  /** The format of {@link #QWEN3_CODER} with other tags around the call. */
  SEED_OSS(List.of("seed_oss"), functionTags("<seed:tool_call>", "</seed:tool_call>")),

  /** {@code <tool_call>f<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>}. */
  GLM45(
      List.of("glm45", "glm47", "glm4_moe"),
      new TagCalls(
          "",
          "",
          "<tool_call>",
          "",
          new Parameter(
              "<arg_key>",
              "</arg_key>",
              "<arg_value>",
              "",
              "</arg_value>",
              "</tool_call>",
              false))),

  /** {@code <｜DSML｜function_calls><｜DSML｜invoke name="f">...}. */
  DEEPSEEK_V32(
      List.of("deepseek_v32", "deepseekv32"),
      new TagCalls(
          "<｜DSML｜function_calls>",
          "</｜DSML｜function_calls>",
          "<｜DSML｜invoke name=\"",
          "\">",
          new Parameter(
              "<｜DSML｜parameter name=\"",
              "\" string=\"",
              "false\">",
              "true\">",
              "</｜DSML｜parameter>",
              "</｜DSML｜invoke>",
              false))),

  /** {@code <minimax:tool_call><invoke name="f"><parameter name="a">1</parameter>...}. */
  MINIMAX_M2(
      List.of("minimax_m2", "minimax-m2"),
      new TagCalls(
          "<minimax:tool_call>",
          "</minimax:tool_call>",
          "<invoke name=\"",
          "\">",
          new Parameter("<parameter name=\"", "\">", "", "", "</parameter>", "</invoke>", false))),

  /** {@code <｜tool▁call▁begin｜>f<｜tool▁sep｜>{}<｜tool▁call▁end｜>}. */
  DEEPSEEK_V31(List.of("deepseek_v31", "deepseekv31"), deepseek("", List.of("<｜tool▁sep｜>"), "")),

  /** {@code <｜tool▁call▁begin｜>function<｜tool▁sep｜>f}, and the arguments in a code block. */
  DEEPSEEK_V3(
      List.of("deepseek_v3", "deepseekv3"),
      deepseek("function<｜tool▁sep｜>", List.of("```json", "```"), "```")),

  /** {@code <|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{}<|tool_call_end|>}. */
  KIMI_K2(
      List.of("kimi_k2"),
      new NamedCalls(
          "<|tool_calls_section_begin|>",
          "<|tool_call_begin|>",
          "",
          List.of("<|tool_call_argument_begin|>"),
          List.of("<|tool_call_end|>"),
          "<|tool_calls_section_end|>")),

  /** {@code [TOOL_CALLS][{"name": "f", "arguments": {}}]} and {@code [TOOL_CALLS]f[ARGS]{}}. */
  MISTRAL(
      List.of("mistral"),
      new JsonCalls(List.of("[TOOL_CALLS]"), List.of(), List.of(), false),
      new NamedCalls("", "[TOOL_CALLS]", "", List.of(NamedCalls.CALL_ID, "[ARGS]"), List.of(), "")),

  /** {@code {"name": "f", "parameters": {}}}, by itself or after {@code <|python_tag|>}. */
  LLAMA3_JSON(
      List.of("llama3_json", "llama4_json", "llama3"),
      new JsonCalls(List.of("<|python_tag|>"), List.of("{", "[{"), List.of(), false),
      new LiteralCalls(
          List.of("<|python_tag|>"), List.of(), "", ".call", Dialect.PYTHON, List.of(), false)),

  /** {@code [f(a=1), g()]}, by itself or between marks: Llama 4, LFM 2. */
  PYTHONIC(
      List.of("pythonic", "llama4_pythonic", "lfm2"),
      new LiteralCalls(
          List.of("<|python_start|>", "<|tool_call_start|>"),
          List.of("["),
          "",
          "",
          Dialect.PYTHON,
          List.of("<|python_end|>", "<|tool_call_end|>"),
          false)),

  /** {@code <function_calls>} with {@code f(a=1)} on each line. */
  OLMO3(
      List.of("olmo3"),
      new LiteralCalls(
          List.of("<function_calls>"),
          List.of(),
          "",
          "",
          Dialect.PYTHON,
          List.of("</function_calls>"),
          true)),

  /** {@code <|tool_call>call:f{a:<|"|>x<|"|>}<tool_call|>}. */
  GEMMA4(
      List.of("gemma4"),
      new LiteralCalls(
          List.of("<|tool_call>"),
          List.of(),
          "call:",
          "",
          Dialect.gemma("<|\"|>"),
          List.of("<tool_call|>"),
          false)),

  /** {@code <start_function_call>call:f{a:<escape>x<escape>}<end_function_call>}. */
  FUNCTIONGEMMA(
      List.of("functiongemma"),
      new LiteralCalls(
          List.of("<start_function_call>"),
          List.of(),
          "call:",
          "",
          Dialect.gemma("<escape>"),
          List.of("<end_function_call>"),
          false)),

  /** {@code <|tool_call|>[{"name": "f", "arguments": {}}]}: Granite 3, Phi-4-mini. */
  GRANITE(
      List.of("granite", "phi4_mini_json"),
      new JsonCalls(
          List.of("<|tool_call|>", "<tool_call>", "functools["),
          List.of(),
          List.of("<|/tool_call|>", "</tool_call>"),
          false)),

  /** {@code <|tools_prefix|>[{"f": {}}]<|tools_suffix|>}. */
  APERTUS(
      List.of("apertus"),
      new JsonCalls(List.of("<|tools_prefix|>"), List.of(), List.of("<|tools_suffix|>"), true)),

  /** {@code <|START_ACTION|>[{"tool_name": "f", "parameters": {}}]<|END_ACTION|>}. */
  COHERE(
      List.of("cohere_command3"),
      new JsonCalls(List.of("<|START_ACTION|>"), List.of(), List.of("<|END_ACTION|>"), false)),

  /** Messages with channels and recipients: gpt-oss. */
  HARMONY(List.of("openai", "harmony", "gpt-oss"));

  /**
   * The texts that identify a format in a template, in the order in which they are searched for.
   */
  private static final List<Map.Entry<String, ToolFormat>> SIGNS =
      List.of(
          Map.entry("DSML", DEEPSEEK_V32),
          Map.entry("<minimax:tool_call>", MINIMAX_M2),
          Map.entry("<seed:tool_call>", SEED_OSS),
          Map.entry("<function=", QWEN3_CODER),
          Map.entry("<arg_key>", GLM45),
          Map.entry("<|tool_call_argument_begin|>", KIMI_K2),
          Map.entry("<｜tool▁call▁begin｜>", DEEPSEEK_V31),
          Map.entry("[TOOL_CALLS]", MISTRAL),
          Map.entry("<|tools_prefix|>", APERTUS),
          Map.entry("<|START_ACTION|>", COHERE),
          Map.entry("<|tool_call>call:", GEMMA4),
          Map.entry("<start_function_call>", FUNCTIONGEMMA),
          Map.entry("<|tool_call_start|>", PYTHONIC),
          Map.entry("[func_name1(", PYTHONIC),
          Map.entry("<function_calls>", OLMO3),
          Map.entry("<tool_call>", HERMES),
          Map.entry("<|tool_call|>", GRANITE),
          Map.entry("<|python_tag|>", LLAMA3_JSON),
          Map.entry("\"parameters\": ", LLAMA3_JSON));

  private final List<String> names;
  private final List<CallFormat> calls;

  ToolFormat(List<String> names, CallFormat... calls) {
    this.names = names;
    this.calls = List.of(calls);
  }

  /**
   * Returns the format in which a chat template writes calls, or asks the model to write them. For
   * a template that does neither, returns the most common format, {@link #HERMES}.
   */
  public static ToolFormat of(String template) {
    if (template.contains("<|channel|>") && template.contains("<|message|>")) {
      return HARMONY;
    }
    for (Map.Entry<String, ToolFormat> sign : SIGNS) {
      if (template.contains(sign.getKey())) {
        boolean code = sign.getValue() == DEEPSEEK_V31 && template.contains("```json");
        return code ? DEEPSEEK_V3 : sign.getValue();
      }
    }
    return HERMES;
  }

  /**
   * Returns the format with a name. vLLM and SGLang have parsers with the same names.
   *
   * @throws IllegalArgumentException if the name is unknown; the message lists the names
   */
  public static ToolFormat byName(String name) {
    String wanted = name.toLowerCase(Locale.ROOT);
    for (ToolFormat format : values()) {
      if (format.names.contains(wanted)) {
        return format;
      }
    }
    throw new IllegalArgumentException(
        "there is no tool parser " + name + "; the parsers are " + String.join(", ", names()));
  }

  /** All names, in alphabetical order. */
  public static List<String> names() {
    TreeSet<String> all = new TreeSet<>();
    Arrays.stream(values()).forEach(f -> all.addAll(f.names));
    return new ArrayList<>(all);
  }

  /** Returns the texts that free text must not contain, because a call would begin there. */
  List<String> marks() {
    return this == HARMONY
        ? HarmonyParser.BOUND_MARKS
        : calls.stream().flatMap(c -> c.markers().stream()).distinct().toList();
  }

  /**
   * Returns whether calls have no mark. Such calls are recognised only at the start of the reply.
   */
  boolean leads() {
    return calls.stream().anyMatch(c -> !c.leading().isEmpty());
  }

  /** Returns the symbols of one or more calls. */
  String grammar(CallGrammar grammar) {
    String name = "{\"name\": \"";
    String arguments = "\", \"arguments\": ";
    String parameters = "\", \"parameters\": ";
    return switch (this) {
      case HERMES ->
          grammar.json("", "", "\n", "", "<tool_call>\n" + name, arguments, "}\n</tool_call>");
      case GRANITE -> grammar.json("", "<|tool_call|>[", ", ", "]", name, arguments, "}");
      case LLAMA3_JSON -> grammar.json("", "", "; ", "", name, parameters, "}");
      case COHERE ->
          grammar.json(
              "",
              "<|START_ACTION|>[\n",
              ",\n",
              "\n]<|END_ACTION|>",
              "{\"tool_name\": \"",
              parameters,
              "}");
      case APERTUS ->
          grammar.json("", "<|tools_prefix|>[", ", ", "]<|tools_suffix|>", "{\"", "\": ", "}");
      case MISTRAL ->
          grammar.json("list_", "[TOOL_CALLS][", ", ", "]", name, arguments, "}")
              + " | "
              + grammar.json("named_", "", "", "", "[TOOL_CALLS]", "[ARGS]", "");
      case KIMI_K2 ->
          grammar.json(
              "",
              "<|tool_calls_section_begin|>",
              "",
              "<|tool_calls_section_end|>",
              "<|tool_call_begin|>functions.",
              ":0<|tool_call_argument_begin|>",
              "<|tool_call_end|>");
      case DEEPSEEK_V3 ->
          grammar.json(
              "",
              "<｜tool▁calls▁begin｜>",
              "\n",
              "<｜tool▁calls▁end｜>",
              "<｜tool▁call▁begin｜>function<｜tool▁sep｜>",
              "\n```json\n",
              "\n```<｜tool▁call▁end｜>");
      case DEEPSEEK_V31 ->
          grammar.json(
              "",
              "<｜tool▁calls▁begin｜>",
              "",
              "<｜tool▁calls▁end｜>",
              "<｜tool▁call▁begin｜>",
              "<｜tool▁sep｜>",
              "<｜tool▁call▁end｜>");
      case HARMONY ->
          grammar.json(
                  "",
                  "",
                  "<|call|><|start|>assistant",
                  "",
                  "<|channel|>commentary to=functions.",
                  " <|constrain|>json<|message|>",
                  "")
              + " \"<|call|>\"?"; // missing if this token ends the turn
      case QWEN3_CODER, SEED_OSS, GLM45 -> grammar.tags((TagCalls) calls.get(0), false);
      case DEEPSEEK_V32, MINIMAX_M2 -> grammar.tags((TagCalls) calls.get(0), true);
      case PYTHONIC -> grammar.literals((LiteralCalls) calls.get(0), "[", ", ", "]");
      case OLMO3 ->
          grammar.literals(
              (LiteralCalls) calls.get(0), "<function_calls>\n", "\n", "\n</function_calls>");
      case GEMMA4 ->
          grammar.literals(
              (LiteralCalls) calls.get(0),
              "<|tool_call>",
              "<tool_call|><|tool_call>",
              "<tool_call|>");
      case FUNCTIONGEMMA ->
          grammar.literals(
              (LiteralCalls) calls.get(0),
              "<start_function_call>",
              "<end_function_call><start_function_call>",
              "<end_function_call>");
    };
  }

  List<CallFormat> calls() {
    return calls;
  }

  private static TagCalls functionTags(String block, String blockEnd) {
    return new TagCalls(
        block,
        blockEnd,
        "<function=",
        ">",
        new Parameter("<parameter=", ">", "", "", "</parameter>", "</function>", true));
  }

  private static NamedCalls deepseek(String before, List<String> after, String end) {
    List<String> ends = new ArrayList<>(List.of("<｜tool▁call▁end｜>"));
    if (!end.isEmpty()) {
      ends.add(0, end);
    }
    return new NamedCalls(
        "<｜tool▁calls▁begin｜>",
        "<｜tool▁call▁begin｜>",
        before,
        after,
        List.copyOf(ends),
        "<｜tool▁calls▁end｜>");
  }
}
