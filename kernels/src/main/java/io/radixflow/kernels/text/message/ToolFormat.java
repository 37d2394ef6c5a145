package io.radixflow.kernels.text.message;

import io.radixflow.kernels.text.message.TagCalls.Parameter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;

/** The forms in which families of models write calls of functions. */
public enum ToolFormat {
  /** {@code <tool_call>{"name": "f", "arguments": {}}</tool_call>}: Qwen, Hermes, Granite 4. */
  HERMES(
      List.of("hermes", "qwen", "qwen25", "granite4"),
      new JsonCalls(List.of("<tool_call>"), List.of(), List.of("</tool_call>"), false)),

  /** {@code <tool_call><function=f><parameter=a>1</parameter></function></tool_call>}. */
  QWEN3_CODER(
      List.of("qwen3_coder", "qwen3_xml", "mimo", "step3p5"),
      functionTags("<tool_call>", "</tool_call>")),

  /** As {@link #QWEN3_CODER}, with tags of its own around the call. */
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

  /** {@code <｜tool▁call▁begin｜>function<｜tool▁sep｜>f} and the arguments in a block of code. */
  DEEPSEEK_V3(
      List.of("deepseek_v3", "deepseekv3"),
      deepseek("function<｜tool▁sep｜>", List.of("```json"), "```")),

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

  /** {@code {"name": "f", "parameters": {}}}, alone or after {@code <|python_tag|>}. */
  LLAMA3_JSON(
      List.of("llama3_json", "llama4_json", "llama3"),
      new JsonCalls(List.of("<|python_tag|>"), List.of("{", "[{"), List.of(), false)),

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

  private final List<String> names;
  private final List<CallFormat> calls;

  ToolFormat(List<String> names, CallFormat... calls) {
    this.names = names;
    this.calls = List.of(calls);
  }

  /**
   * Returns the form in which a chat template writes calls, or asks the model to write them; {@link
   * #HERMES}, the most common one, for a template that does neither.
   */
  public static ToolFormat of(String template) {
    if (template.contains("<|channel|>") && template.contains("<|message|>")) {
      return HARMONY;
    }
    if (template.contains("DSML")) {
      return DEEPSEEK_V32;
    }
    if (template.contains("<minimax:tool_call>")) {
      return MINIMAX_M2;
    }
    if (template.contains("<seed:tool_call>")) {
      return SEED_OSS;
    }
    if (template.contains("<function=") && template.contains("<parameter=")) {
      return QWEN3_CODER;
    }
    if (template.contains("<arg_key>")) {
      return GLM45;
    }
    if (template.contains("<|tool_call_argument_begin|>")) {
      return KIMI_K2;
    }
    if (template.contains("<｜tool▁call▁begin｜>")) {
      return template.contains("```json") ? DEEPSEEK_V3 : DEEPSEEK_V31;
    }
    if (template.contains("[TOOL_CALLS]")) {
      return MISTRAL;
    }
    if (template.contains("<|tools_prefix|>")) {
      return APERTUS;
    }
    if (template.contains("<|START_ACTION|>")) {
      return COHERE;
    }
    if (template.contains("<tool_call>")) {
      return HERMES;
    }
    if (template.contains("<|tool_call|>")) {
      return GRANITE;
    }
    boolean llama = template.contains("<|python_tag|>") || template.contains("\"parameters\": ");
    return llama ? LLAMA3_JSON : HERMES;
  }

  /**
   * Returns the form of a name, as vLLM and SGLang name their parsers.
   *
   * @throws IllegalArgumentException if there is none; the message has the names
   */
  public static ToolFormat byName(String name) {
    String wanted = name.toLowerCase(Locale.ROOT);
    for (ToolFormat format : values()) {
      if (format.names.contains(wanted)) {
        return format;
      }
    }
    throw new IllegalArgumentException(
        "there is no tool parser " + name + "; there are " + String.join(", ", names()));
  }

  /** All names, in alphabetical order. */
  public static List<String> names() {
    TreeSet<String> all = new TreeSet<>();
    Arrays.stream(values()).forEach(f -> all.addAll(f.names));
    return new ArrayList<>(all);
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
