package io.radixflow.text.reply;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls that are malformed, of unknown functions, or cut by a limit. */
class BrokenCallsTest {

  private static final String ARGUMENTS = "{\"lines\": [1, 2]}";

  private static List<String> characters(String reply) {
    return reply.chars().mapToObj(c -> String.valueOf((char) c)).toList();
  }

  /** The parts of a reply, which must be the same however it is cut into pieces. */
  private static List<String> parse(ToolFormat format, String reply) {
    List<String> whole = Replies.parse(Replies.parser(format), reply);
    List<ReplyPart> pieces = Replies.parse(Replies.parser(format), characters(reply));
    assertThat(Replies.describe(pieces)).isEqualTo(whole);
    return whole;
  }

  @ParameterizedTest
  @EnumSource
  void givesCallsOfUnknownFunctionsAsCalls(ToolFormat format) {
    assertThat(parse(format, Calls.write(format, "fly", ARGUMENTS)))
        .containsExactly("0:fly{\"lines\": [1, 2]}");
  }

  @ParameterizedTest
  @EnumSource
  void givesNoMarkupWhereverALimitCutsAReply(ToolFormat format) {
    for (String name : List.of("write", "fly")) {
      boolean unmarked = format == ToolFormat.LLAMA3_JSON || format == ToolFormat.PYTHONIC;
      if (unmarked && name.equals("fly")) {
        continue; // such a text may be content until its arguments begin
      }
      String first = Calls.write(format, name, ARGUMENTS);
      String reply = format == ToolFormat.HARMONY || unmarked ? first : "Well: " + first + first;
      for (int end = 0; end <= reply.length(); end++) {
        String cut = reply.substring(0, end);
        List<String> parts = Replies.parseCut(Replies.parser(format), List.of(cut));
        assertThat(Replies.parseCut(Replies.parser(format), characters(cut))).isEqualTo(parts);
        for (String part : parts) {
          boolean call = part.startsWith("0:" + name) || part.startsWith("1:" + name);
          assertThat(
                  call || "Well: <[f".startsWith(part) || part.length() == 1 || part.length() == 7)
              .as("%s of %s", part, cut)
              .isTrue();
        }
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void givesAllOfBrokenArgumentsToTheCall(ToolFormat format) {
    for (String value : List.of("[1, !]", "!\\\"a\\\": [", "1 2 3")) {
      String reply = Calls.write(format, "write", "{\"lines\": " + value + "}");
      List<String> parts = parse(format, reply);
      assertThat(parts).as(reply).hasSize(1);
      assertThat(parts.get(0)).startsWith("0:write{\"lines\": ").endsWith("}");
      assertThat(parts.get(0).replaceAll("[\\\\\"]", ""))
          .contains(value.replaceAll("[\\\\\"]", ""));
    }
  }

  static Stream<Arguments> broken() {
    ToolFormat hermes = ToolFormat.HERMES;
    String end = "}\n</tool_call>";
    String head = "<tool_call>\n{\"name\": \"now\", \"arguments\": ";
    String now = "<tool_call>{\"name\":\"now\",\"arguments\":{}}</tool_call>";
    String args = "\n</tool_call>";
    return Stream.of(
        row(hermes, head + "{\\\"a\\\": 1}" + end, "0:now{\\\"a\\\": 1}"),
        row(hermes, head + "{\"a\": 1,, }" + end + now, "0:now{\"a\": 1,, }", "1:now{}"),
        row(hermes, head + "{'a': None}" + end + "\nok", "0:now{'a': None}", "\nok"),
        row(hermes, head + "{\"a\": 1, }" + end + now, "0:now{\"a\": 1, }", "1:now{}"),
        row(hermes, head + "{\"a\": 1" + args, "0:now{\"a\": 1\n"),
        row(hermes, head + "{\"a\": 1}" + args + "ok", "0:now{\"a\": 1}", "ok"),
        row(hermes, head + "{\"a\": 1}}}}" + end + "ok", "0:now{\"a\": 1}", "ok"),
        row(hermes, head + "{\"a\": 1} and" + end + "ok", "0:now{\"a\": 1}", " and}\nok"),
        row(hermes, head + "[1, 2]" + end, "0:now[1, 2]"),
        row(hermes, head + "7" + end, "0:now7"),
        row(hermes, head + "none" + end, "0:now" + "none"),
        row(hermes, head + "null" + end, "0:now{}"),
        row(hermes, head + "\"\"" + end, "0:now{}"),
        row(hermes, head + "\"{\\\"a\\\": \\\"x\ny\\\"}\"" + end, "0:now{\"a\": \"x\\ny\"}"),
        row(hermes, head + "\"by \\u00e9\"" + end, "0:nowby é"),
        row(hermes, head + "{\"a\": !} " + now, "0:now{\"a\": !", "1:now{}"),
        row(
            hermes,
            "<tool_call>{'name': 'now', 'arguments': {'a': 1}}</tool_call>",
            "0:now{'a': 1}"),
        row(hermes, "<tool_call>{name: now, arguments: {a: 1}}</tool_call>", "0:now{a: 1}"),
        row(
            hermes,
            "<tool_call>{\"id\": \"c\", \"function\": {\"name\": \"now\", \"arguments\":"
                + " {\"a\": 1}}}</tool_call>",
            "0:now{\"a\": 1}"),
        row(hermes, "<tool_call>{\"arguments\": \"{}\", \"name\": \"now\"}</tool_call>", "0:now{}"),
        row(
            ToolFormat.QWEN3_CODER,
            "<tool_call><function=write>{\"path\": \"a\"}</function></tool_call>ok",
            "0:write{\"path\": \"a\"}",
            "ok"),
        row(
            ToolFormat.QWEN3_CODER,
            "<tool_call><function=write><parameter=path>\na\n</parameter>\n</tool_call>ok",
            "0:write{\"path\": \"a\"}",
            "ok"),
        row(
            ToolFormat.KIMI_K2,
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.fly:0"
                + "<|tool_call_argument_begin|>up<|tool_call_end|><|tool_call_begin|>functions.now:1"
                + "<|tool_call_argument_begin|><|tool_call_end|><|tool_calls_section_end|>ok",
            "0:flyup",
            "1:now{}",
            "ok"),
        row(
            ToolFormat.DEEPSEEK_V3,
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```json\n{a: 1}\n"
                + "```<｜tool▁call▁end｜>\n<｜tool▁call▁begin｜>function<｜tool▁sep｜>now\n```\n{}\n"
                + "```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
            "0:now{a: 1}",
            "1:now{}"),
        row(
            ToolFormat.MISTRAL,
            "[TOOL_CALLS][{\"name\": \"now\", \"arguments\": {a: 1}}]",
            "0:now{a: 1}"),
        row(
            ToolFormat.MISTRAL,
            "[TOOL_CALLS]now[ARGS]{a: 1}[TOOL_CALLS]fly[ARGS]up",
            "0:now{a: 1}",
            "1:flyup"),
        row(
            ToolFormat.OLMO3,
            "<function_calls>\nnow(a=b c)\nnow(a=1)\n</function_calls>",
            "0:now{\"a\": b c}",
            "1:now{\"a\": 1}"),
        row(
            ToolFormat.LLAMA3_JSON,
            "{\"name\": \"Bo\", \"age\": 3}",
            "{\"name\": \"Bo\", \"age\": 3}"),
        row(ToolFormat.PYTHONIC, "[see(this)](http://a)", "[see(this)](http://a)"),
        row(ToolFormat.PYTHONIC, "[fly()]", "0:fly{}"));
  }

  private static Arguments row(ToolFormat format, String reply, String... parts) {
    return Arguments.of(format, reply, List.of(parts));
  }

  @ParameterizedTest
  @MethodSource("broken")
  void endsABrokenCallAtItsEndOrTheNextCall(ToolFormat format, String reply, List<String> parts) {
    assertThat(parse(format, reply)).isEqualTo(parts);
  }

  @Test
  void keepsTextThatTheModelEndedWithinAMark() {
    assertThat(parse(ToolFormat.HERMES, "The mark is <tool_call>"))
        .containsExactly("The mark is <tool_call>");
    assertThat(Replies.parseCut(Replies.parser(ToolFormat.HERMES), List.of("if a <")))
        .containsExactly("if a <");
  }

  @Test
  void leavesContentOfAGrammarAlone() {
    ReplyFormat format = new ReplyFormat(ToolFormat.LLAMA3_JSON, null);
    String content = "{\"name\": \"fly\", \"parameters\": {}}";
    List<ReplyPart> parts = new ArrayList<>();
    ReplyParser parser = format.parser(Replies.TOOLS, true, "");
    parser.accept(content, parts::add);
    parser.finish(parts::add);
    assertThat(Replies.describe(parts)).containsExactly(content);
  }
}
