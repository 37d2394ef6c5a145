package io.radixflow.text.reply;

/** Writes calls as models do, for tests. */
final class Calls {

  private Calls() {}

  /** A whole reply with one call of {@code write}, whose only argument is {@code lines}. */
  static String write(ToolFormat format, String name, String arguments) {
    String object = "{\"name\": \"" + name + "\", \"arguments\": " + arguments + "}";
    String value = arguments.substring(arguments.indexOf(':') + 2, arguments.length() - 1);
    return switch (format) {
      case HERMES -> "<tool_call>\n" + object + "\n</tool_call>";
      case GRANITE -> "<|tool_call|>[" + object + "]";
      case LLAMA3_JSON -> object.replace("\"arguments\"", "\"parameters\"");
      case COHERE -> "<|START_ACTION|>[" + object + "]<|END_ACTION|>";
      case APERTUS -> "<|tools_prefix|>[{\"" + name + "\": " + arguments + "}]<|tools_suffix|>";
      case MISTRAL -> "[TOOL_CALLS]" + name + "[ARGS]" + arguments;
      case KIMI_K2 ->
          "<|tool_call_begin|>functions."
              + name
              + ":0<|tool_call_argument_begin|>"
              + arguments
              + "<|tool_call_end|>";
      case DEEPSEEK_V3 ->
          "<｜tool▁call▁begin｜>function<｜tool▁sep｜>"
              + name
              + "\n```json\n"
              + arguments
              + "\n```<｜tool▁call▁end｜>";
      case DEEPSEEK_V31 ->
          "<｜tool▁call▁begin｜>" + name + "<｜tool▁sep｜>" + arguments + "<｜tool▁call▁end｜>";
      case HARMONY ->
          "<|channel|>commentary to=functions."
              + name
              + " <|constrain|>json<|message|>"
              + arguments
              + "<|call|>";
      case QWEN3_CODER, SEED_OSS ->
          "<function=" + name + ">\n<parameter=lines>\n" + value + "\n</parameter>\n</function>";
      case GLM45 ->
          "<tool_call>"
              + name
              + "\n<arg_key>lines</arg_key>\n<arg_value>"
              + value
              + "</arg_value>\n</tool_call>";
      case DEEPSEEK_V32 ->
          "<｜DSML｜invoke name=\""
              + name
              + "\">\n<｜DSML｜parameter name=\"lines\" string=\"false\">"
              + value
              + "</｜DSML｜parameter>\n</｜DSML｜invoke>";
      case PYTHONIC -> "[" + name + "(lines=" + value + ")]";
      case OLMO3 -> "<function_calls>" + name + "(lines=" + value + ")</function_calls>";
      case GEMMA4 -> "<|tool_call>call:" + name + "{lines:" + value + "}<tool_call|>";
      case FUNCTIONGEMMA ->
          "<start_function_call>call:" + name + "{lines:" + value + "}<end_function_call>";
      case MINIMAX_M2 ->
          "<invoke name=\""
              + name
              + "\">\n<parameter name=\"lines\">"
              + value
              + "</parameter>\n</invoke>";
    };
  }
}
