package io.radixflow.text.reply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ToolFormatTest {

  private static final String WEATHER = "0:get_weather{\"city\": \"Oslo\", \"days\": 3}";

  /** A format, a reply, and its parts. */
  private static Arguments row(ToolFormat format, String reply, String... parts) {
    return Arguments.of(format, reply, List.of(parts));
  }

  static Stream<Arguments> replies() {
    return Stream.of(hermes(), tags(), named(), lists(), llama(), literals()).flatMap(s -> s);
  }

  private static Stream<Arguments> hermes() {
    ToolFormat f = ToolFormat.HERMES;
    String call =
        "<tool_call>\n"
            + "{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo\", \"days\": 3}}\n"
            + "</tool_call>";
    String now = "<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>";
    String unknown = "<tool_call>\n{\"name\": \"fly\", \"arguments\": {}}\n</tool_call>";
    return Stream.of(
        row(f, "plain text", "plain text"),
        row(f, "", new String[0]),
        row(f, "  \n", "  \n"),
        row(f, call, WEATHER),
        row(f, "\n\n" + call + "\n", WEATHER),
        row(f, "Let me look.\n" + call, "Let me look.\n", WEATHER),
        row(f, call + "\n" + now, WEATHER, "1:now{}"),
        row(f, call + " and " + now, WEATHER, " and ", "1:now{}"),
        row(f, call + "\nDone.", WEATHER, "\nDone."),
        row(f, unknown, "0:fly{}"),
        row(f, unknown + call, "0:fly{}", WEATHER.replace("0:", "1:")),
        row(f, call + unknown, WEATHER, "1:fly{}"),
        row(f, "<tool_call>\n{\"name\": \"now\"", "<tool_call>\n{\"name\": \"now\""),
        row(f, "<tool_call>\n{name: now}</tool_call>", "0:now{}"),
        row(f, "<tool_call>[1]</tool_call>", "<tool_call>[1]</tool_call>"),
        row(f, "<tool_call><tool_call>" + call, "<tool_call><tool_call>", WEATHER),
        row(f, "a <tool", "a <tool"),
        row(f, "<tool_call>{\"name\":\"now\"}</tool_call>", "0:now{}"),
        row(f, "<tool_call>{\"name\":\"now\",\"arguments\":null}</tool_call>", "0:now{}"),
        row(
            f,
            "<tool_call>{\"arguments\": {\"city\": \"}\"}, \"name\": \"get_weather\"}</tool_call>",
            "0:get_weather{\"city\": \"}\"}"),
        row(
            f,
            "<tool_call>{\"id\": 7, \"name\": \"now\", \"arguments\": {}, \"x\": [1]}</tool_call>",
            "0:now{}"),
        row(
            f,
            "<tool_call>{\"name\": \"now\", \"arguments\": {}}\n{\"name\": \"now\", "
                + "\"arguments\": {\"a\":1}}</tool_call>",
            "0:now{}",
            "1:now{\"a\":1}"),
        row(f, "<tool_call>{\"name\": \"now\", \"arguments\": {}", "0:now{}"),
        row(f, "<tool_call>{\"name\": \"now\", \"arguments\": {}}\n</tool_", "0:now{}"),
        row(f, "<tool_call>{\"name\": \"now\", \"arguments\": {\"a\": [1, 2", "0:now{\"a\": [1, 2"),
        row(
            f,
            "<tool_call>{\"name\": \"now\", \"arguments\": {\"a\": 1,, }}</tool_call>",
            "0:now{\"a\": 1,, }"),
        row(
            f,
            "<tool_call>{\"name\": \"now\", \"arguments\": {\"a\": \"x\ny\tz\"}}</tool_call>",
            "0:now{\"a\": \"x\\ny\\tz\"}"),
        row(f, "<tool_call>{\"name\": \"now\", \"arguments\": \"{}\"}</tool_call>", "0:now{}"),
        row(
            f,
            "<tool_call>{\"name\": \"n\\u006fw\", \"arguments\": {\"é\": \"\\u00e9"
                + " 😀\"}}</tool_call>",
            "0:now{\"é\": \"\\u00e9 😀\"}"));
  }

  private static Stream<Arguments> tags() {
    ToolFormat f = ToolFormat.QWEN3_CODER;
    ToolFormat glm = ToolFormat.GLM45;
    ToolFormat dsml = ToolFormat.DEEPSEEK_V32;
    String call =
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nOslo\n</parameter>\n"
            + "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>";
    String write = "<tool_call>\n<function=write>\n";
    String end = "\n</parameter>\n</function>\n</tool_call>";
    String glmCall =
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n"
            + "<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n</tool_call>";
    return Stream.of(
        row(f, call, WEATHER),
        row(f, "Sure.\n" + call + "\n" + call, "Sure.\n", WEATHER, WEATHER.replace("0:", "1:")),
        row(f, "<function=now>\n</function>", "0:now{}"),
        row(f, "<tool_call><function=now></function></tool_call>!", "0:now{}", "!"),
        row(
            f,
            write + "<parameter=text>\n a \"b\"\n\n\\n</parameter> <parameter\n" + end,
            "0:write{\"text\": \" a \\\"b\\\"\\n\\n\\\\n</parameter> <parameter\\n\"}"),
        row(f, write + "<parameter=text>\nnull" + end, "0:write{\"text\": null}"),
        row(f, write + "<parameter=text>\nnullable" + end, "0:write{\"text\": \"nullable\"}"),
        row(f, write + "<parameter=path>\n12" + end, "0:write{\"path\": \"12\"}"),
        row(f, write + "<parameter=path>" + end.substring(1), "0:write{\"path\": \"\"}"),
        row(f, write + "<parameter=mode>\n1.50" + end, "0:write{\"mode\": 1.50}"),
        row(f, write + "<parameter=mode>\nfast" + end, "0:write{\"mode\": \"fast\"}"),
        row(f, write + "<parameter=force>\nTrue" + end, "0:write{\"force\": true}"),
        row(f, write + "<parameter=force>\n1" + end, "0:write{\"force\": \"1\"}"),
        row(f, write + "<parameter=lines>\n[1, 2]" + end, "0:write{\"lines\": [1, 2]}"),
        row(f, write + "<parameter=lines>\n[1, 2" + end, "0:write{\"lines\": \"[1, 2\"}"),
        row(
            f,
            write + "<parameter=options>\n{\"a\": null}" + end,
            "0:write{\"options\": {\"a\": null}}"),
        row(f, write + "<parameter=other>\n{\"a\": 1}" + end, "0:write{\"other\": {\"a\": 1}}"),
        row(f, write + "<parameter=path>\nab", "0:write{\"path\": \"ab"),
        row(
            f,
            write + "<parameter=path>\nab\n</parameter>\nWell",
            "0:write{\"path\": \"ab\\n</parameter>\\nWell"),
        row(f, write + "oops", "0:writeoops"),
        row(f, "<function=fly>\n</function>", "0:fly{}"),
        row(f, "<function=now>\n", "<function=now>\n"),
        row(
            ToolFormat.SEED_OSS,
            "<seed:tool_call>\n<function=get_weather>\n<parameter=city>Oslo</parameter>\n"
                + "<parameter=days>3</parameter>\n</function>\n</seed:tool_call>",
            WEATHER),
        row(glm, glmCall, WEATHER),
        row(glm, glmCall.replace("\n", ""), WEATHER),
        row(glm, "\n<tool_call>now\n</tool_call>", "0:now{}"),
        row(glm, "<tool_call>fly\n</tool_call>", "0:fly{}"),
        row(
            dsml,
            "\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name=\"get_weather\">\n"
                + "<｜DSML｜parameter name=\"city\" string=\"true\">Oslo</｜DSML｜parameter>\n"
                + "<｜DSML｜parameter name=\"days\" string=\"false\">3</｜DSML｜parameter>\n"
                + "</｜DSML｜invoke>\n<｜DSML｜invoke name=\"now\">\n</｜DSML｜invoke>\n"
                + "</｜DSML｜function_calls>",
            WEATHER,
            "1:now{}"),
        row(
            ToolFormat.MINIMAX_M2,
            "<minimax:tool_call>\n<invoke name=\"get_weather\">\n<parameter name=\"city\">Oslo"
                + "</parameter>\n<parameter name=\"days\">3</parameter>\n</invoke>\n"
                + "</minimax:tool_call>",
            WEATHER));
  }

  private static Stream<Arguments> named() {
    String arguments = "{\"city\": \"Oslo\", \"days\": 3}";
    ToolFormat mistral = ToolFormat.MISTRAL;
    return Stream.of(
        row(
            ToolFormat.DEEPSEEK_V3,
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n```json\n"
                + arguments
                + "\n"
                + "```<｜tool▁call▁end｜>\n"
                + "<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n"
                + "```json\n"
                + "{}\n"
                + "```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            WEATHER,
            "1:now{}"),
        row(
            ToolFormat.DEEPSEEK_V31,
            "Hm.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
                + arguments
                + "<｜tool▁call▁end｜><｜tool▁call▁begin｜>now<｜tool▁sep｜>{}<｜tool▁call▁end｜>"
                + "<｜tool▁calls▁end｜>",
            "Hm.",
            WEATHER,
            "1:now{}"),
        row(
            ToolFormat.DEEPSEEK_V31,
            "<｜tool▁call▁begin｜>fly<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
            "0:fly{}"),
        row(
            ToolFormat.KIMI_K2,
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
                + "<|tool_call_argument_begin|>"
                + arguments
                + "<|tool_call_end|><|tool_calls_section_end|>",
            WEATHER),
        row(
            mistral,
            "[TOOL_CALLS][{\"name\": \"get_weather\", \"arguments\": "
                + arguments
                + ", \"id\": \"abcdefghi\"}, {\"name\": \"now\", \"arguments\": {}}]",
            WEATHER,
            "1:now{}"),
        row(mistral, "[TOOL_CALLS] [{\"name\": \"now\", \"arguments\": {}}] ok", "0:now{}", " ok"),
        row(
            mistral,
            "[TOOL_CALLS]get_weather[ARGS]" + arguments + "[TOOL_CALLS]now[ARGS]{}",
            WEATHER,
            "1:now{}"),
        row(mistral, "[TOOL_CALLS]now[CALL_ID]abcdefghi[ARGS]{}", "0:now{}"),
        row(mistral, "[TOOL_CALLS]now{}", "0:now{}"),
        row(mistral, "[TOOL_CALLS]fly[ARGS]{}", "0:fly{}"),
        row(
            mistral,
            "[TOOL_CALLS][{\"name\": \"now\", \"arguments\": {}}, {\"name\": \"fly\"}]",
            "0:now{}",
            "1:fly{}"));
  }

  private static Stream<Arguments> lists() {
    ToolFormat granite = ToolFormat.GRANITE;
    return Stream.of(
        row(granite, "<|tool_call|>[{\"name\": \"now\", \"arguments\": {}}]", "0:now{}"),
        row(granite, "<tool_call>[{\"name\": \"now\", \"arguments\": {}}]\n", "0:now{}"),
        row(
            granite,
            "<|tool_call|>[{\"type\":\"function\",\"name\":\"now\",\"arguments\":{}}]<|/tool_call|>",
            "0:now{}"),
        row(granite, "functions", "functions"),
        row(
            ToolFormat.APERTUS,
            "<|tools_prefix|>[{\"get_weather\": {\"city\": \"Oslo\", \"days\": 3}}, {\"now\": {}}]"
                + "<|tools_suffix|>",
            WEATHER,
            "1:now{}"),
        row(
            ToolFormat.COHERE,
            "<|START_ACTION|>[\n"
                + "{\"tool_call_id\": \"0\", \"tool_name\": \"now\", \"parameters\": {}}\n"
                + "]<|END_ACTION|>",
            "0:now{}"));
  }

  private static Stream<Arguments> llama() {
    ToolFormat f = ToolFormat.LLAMA3_JSON;
    String call = "{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Oslo\", \"days\": 3}}";
    String now = "{\"name\": \"now\", \"parameters\": {}}";
    return Stream.of(
        row(f, call, WEATHER),
        row(f, "<|python_tag|>" + call, WEATHER),
        row(f, call + "; " + now, WEATHER, "1:now{}"),
        row(f, "{\"type\": \"function\", \"name\": \"now\", \"parameters\": {}}", "0:now{}"),
        row(f, "[" + now + "]", "0:now{}"),
        row(f, "Text " + call, "Text " + call),
        row(f, "{\"name\": \"now\"}", "{\"name\": \"now\"}"),
        row(f, "{\"a\": 1}", "{\"a\": 1}"),
        row(f, "<|python_tag|>print(1)", "<|python_tag|>print(1)"));
  }

  private static Stream<Arguments> literals() {
    ToolFormat f = ToolFormat.PYTHONIC;
    String call = "[get_weather(city='Oslo', days=3)]";
    return Stream.of(
        row(f, call, WEATHER),
        row(f, "<|python_start|>" + call + "<|python_end|>", WEATHER),
        row(f, "Yes. <|tool_call_start|>[now()]<|tool_call_end|>ok", "Yes. ", "0:now{}", "ok"),
        row(f, "[get_weather(city=\"Oslo\", days=3), now()]", WEATHER, "1:now{}"),
        row(
            f,
            "[now(a=None, b=[True, -1.5e3,], c={'k': {}, \"l\": []}, d='''x'\ny''', e='',)]",
            "0:now{\"a\": null, \"b\": [true, -1.5e3], \"c\": {\"k\": {}, \"l\": []}, "
                + "\"d\": \"x'\\ny\", \"e\": \"\"}"),
        row(
            f,
            "[now(a='\\x41\\u00e9\\U0001F600\\ud83d\\n\\'\\d')]",
            "0:now{\"a\": \"Aé😀\\ud83d\\n'\\\\d\"}"),
        row(f, "[now(a=f(1))]", "0:now{\"a\": f(1)}"),
        row(f, "[now(a=01)]", "0:now{\"a\": 01}"),
        row(f, "[fly(a=1)]", "0:fly{\"a\": 1}"),
        row(f, "[1] and [now()]", "[1] and [now()]"),
        row(f, "[now(a='b", "0:now{\"a\": \"b"),
        row(
            ToolFormat.OLMO3,
            "<function_calls>\nget_weather(city=\"Oslo\", days=3)\nnow()\n</function_calls>",
            WEATHER,
            "1:now{}"),
        row(
            ToolFormat.GEMMA4,
            "<|tool_call>call:get_weather{city:<|\"|>Oslo<|\"|>,days:3}<tool_call|>"
                + "<|tool_call>call:now{}<tool_call|>",
            WEATHER,
            "1:now{}"),
        row(
            ToolFormat.GEMMA4,
            "<|tool_call>call:now{a:{b:[<|\"|>\\\"<|\"|>,true],c:x1},d:\"y\\n\"}<tool_call|>",
            "0:now{\"a\": {\"b\": [\"\\\\\\\"\", true], \"c\": \"x1\"}, \"d\": \"y\\n\"}"),
        row(
            ToolFormat.FUNCTIONGEMMA,
            "<start_function_call>call:get_weather{city:<escape>Oslo<escape>,days:3}"
                + "<end_function_call>",
            WEATHER),
        row(
            ToolFormat.LLAMA3_JSON,
            "<|python_tag|>get_weather.call(city=\"Oslo\", days=3)",
            WEATHER));
  }

  @ParameterizedTest
  @MethodSource("replies")
  void splitsAReplyIntoContentAndCalls(ToolFormat format, String reply, List<String> parts) {
    assertThat(Replies.parse(Replies.parser(format), reply)).isEqualTo(parts);
  }

  @ParameterizedTest
  @MethodSource("replies")
  void givesTheSamePartsForAReplyCharacterByCharacter(
      ToolFormat format, String reply, List<String> parts) {
    List<String> characters = reply.chars().mapToObj(c -> String.valueOf((char) c)).toList();
    List<ReplyPart> given = Replies.parse(Replies.parser(format), characters);
    assertThat(Replies.describe(given)).isEqualTo(parts);
  }

  @Test
  void streamsTheArgumentsAsTheyCome() {
    ReplyParser parser = Replies.parser(ToolFormat.HERMES);
    List<ReplyPart> parts = new java.util.ArrayList<>();
    parser.accept("<tool_call>{\"name\": \"now\", \"arguments\": {", parts::add);
    assertThat(parts)
        .containsExactly(
            new ReplyPart(PartKind.TOOL_CALL, 0, "now"), new ReplyPart(PartKind.ARGUMENTS, 0, "{"));
    parser.accept("\"a\": \"b", parts::add);
    assertThat(parts)
        .hasSize(3)
        .last()
        .isEqualTo(new ReplyPart(PartKind.ARGUMENTS, 0, "\"a\": \"b"));
  }

  @Test
  void namesFormatsAsOtherServersDo() {
    assertThat(ToolFormat.byName("hermes")).isEqualTo(ToolFormat.HERMES);
    assertThat(ToolFormat.byName("Qwen3_Coder")).isEqualTo(ToolFormat.QWEN3_CODER);
    assertThat(ToolFormat.names()).contains("mistral", "llama3_json", "openai").isSorted();
    assertThatThrownBy(() -> ToolFormat.byName("xlam"))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("xlam")
        .hasMessageContaining("llama3_json");
  }

  @Test
  void refusesToolsWithoutAName() {
    assertThatThrownBy(() -> Tool.list(List.of("f"))).isInstanceOf(IllegalArgumentException.class);
    assertThat(
            Tool.list(
                List.of(
                    java.util.Map.of(
                        "type",
                        "function",
                        "function",
                        java.util.Map.of("name", "f", "strict", true)))))
        .containsExactly(new Tool("f", java.util.Map.of(), true));
  }
}
