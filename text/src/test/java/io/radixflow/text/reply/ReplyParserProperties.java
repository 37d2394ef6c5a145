package io.radixflow.text.reply;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class ReplyParserProperties {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** Pieces of all formats, whole and broken, of which replies are put together. */
  private static final List<String> FRAGMENTS =
      List.of(
          "<tool_call>",
          "</tool_call>",
          "<tool",
          "\n",
          " ",
          "  \n",
          "text",
          "é😀",
          "{",
          "}",
          "[",
          "]",
          ",",
          ";",
          ":",
          "\"",
          "\\",
          "\"name\"",
          "\"arguments\"",
          "\"parameters\"",
          "\"now\"",
          "{\"name\": \"now\", \"arguments\": {",
          "{\"a\": 1}",
          "{\"name\": \"now\", \"parameters\": {}}",
          "{\"arguments\": {\"a\": [1]}, \"name\": \"now\"}",
          "1",
          "-0.5e3",
          "tru",
          "true",
          "null",
          "<function=",
          "<function=write>",
          ">",
          "</function>",
          "<parameter=path>\n",
          "<parameter=mode>",
          "<parameter=text>\n",
          "\n</parameter>",
          "</parameter>",
          "<arg_key>",
          "</arg_key>",
          "<arg_value>",
          "</arg_value>",
          "<tool_call>write\n<arg_key>lines</arg_key>\n<arg_value>",
          "[TOOL_CALLS]",
          "[now(",
          "<function_calls>",
          "write(",
          "a=",
          "'",
          "\"\"\"",
          ")",
          "<|tool_call>call:now{",
          "lines:",
          "<|\"|>",
          "<escape>",
          "\\u00e9",
          "\\x4",
          "<start_function_call>call:write{",
          "[ARGS]",
          "now",
          "write",
          "<|python_tag|>",
          "<|tool_call|>",
          "<think>",
          "</think>",
          "<response>",
          "</response>",
          "<|channel|>",
          "<|message|>",
          "<|end|>",
          "<|call|>",
          "<|start|>assistant",
          "analysis",
          "final",
          "commentary",
          " to=functions.now",
          "<|constrain|>json",
          "<|channel|>commentary to=functions.now <|constrain|>json<|message|>{",
          "<｜tool▁calls▁begin｜>",
          "<｜tool▁call▁begin｜>",
          "function<｜tool▁sep｜>",
          "\n```json\n",
          "\n```",
          "<｜tool▁sep｜>",
          "<｜tool▁call▁end｜>",
          "<｜tool▁calls▁end｜>",
          "<｜DSML｜invoke name=\"write\">",
          "<｜DSML｜parameter name=\"path\" string=\"",
          "true\">",
          "</｜DSML｜parameter>",
          "</｜DSML｜invoke>");

  @Provide
  Arbitrary<String> replies() {
    return Arbitraries.of(FRAGMENTS).list().ofMaxSize(25).map(l -> String.join("", l));
  }

  @Provide
  Arbitrary<String> plain() {
    return Arbitraries.strings().withChars("abc .,!?'äß€\n".toCharArray()).ofMaxLength(60);
  }

  private static ReplyParser parser(ToolFormat format, boolean inside) {
    ReasoningFormat reasoning =
        ReasoningFormat.of(format == ToolFormat.GRANITE ? "</think><response>" : "</think>");
    return new ReplyFormat(format, reasoning).parser(Replies.TOOLS, inside ? "<think>\n" : "");
  }

  private static List<String> cut(String text, long seed) {
    Random random = new Random(seed);
    List<String> pieces = new ArrayList<>();
    for (int at = 0; at < text.length(); ) {
      int end = Math.min(text.length(), at + 1 + random.nextInt(1 + random.nextInt(12)));
      pieces.add(text.substring(at, end));
      at = end;
    }
    return pieces;
  }

  @Property(tries = 2000)
  void anyCutOfAReplyGivesTheSameParts(
      @ForAll ToolFormat format,
      @ForAll("replies") String reply,
      @ForAll boolean inside,
      @ForAll long cuts) {
    List<ReplyPart> whole = Replies.parse(parser(format, inside), List.of(reply));
    List<ReplyPart> pieces = Replies.parse(parser(format, inside), cut(reply, cuts));
    assertThat(Replies.merge(pieces)).isEqualTo(Replies.merge(whole));
    assertThat(pieces).noneMatch(p -> p.text().isEmpty());
  }

  @Property
  void plainTextPassesUnchangedAndAtOnce(
      @ForAll ToolFormat format, @ForAll("plain") String text, @ForAll long cuts) {
    ReplyParser parser = parser(format, false);
    StringBuilder given = new StringBuilder();
    int taken = 0;
    for (String piece : cut(text, cuts)) {
      parser.accept(piece, p -> given.append(p.text()));
      taken += piece.length();
      if (!text.substring(0, taken).isBlank()) {
        // A first letter may begin "functools[" or "to=".
        assertThat(taken - given.length()).isLessThan(10);
      }
    }
    parser.finish(p -> given.append(p.text()));
    assertThat(given).hasToString(text);
  }

  @Property(tries = 2000)
  void argumentsOfFinishedCallsAreJson(
      @ForAll ToolFormat format, @ForAll("replies") String reply, @ForAll("replies") String value)
      throws JsonProcessingException {
    String arguments = JSON.writeValueAsString(List.of(reply, value));
    if (format != ToolFormat.HARMONY && format.calls().get(0) instanceof TagCalls) {
      // A value that has its own end in it cannot be told from one that ends there.
      arguments = arguments.replace('<', '(');
    }
    String text = Calls.write(format, "write", "{\"lines\": " + arguments + "}");
    List<ReplyPart> parts = Replies.merge(Replies.parse(Replies.parser(format), List.of(text)));
    assertThat(parts).extracting(ReplyPart::kind).contains(PartKind.ARGUMENTS);
    String given =
        parts.stream()
            .filter(p -> p.kind() == PartKind.ARGUMENTS && p.index() == 0)
            .map(ReplyPart::text)
            .collect(Collectors.joining());
    assertThat(JSON.readTree(given).isObject()).isTrue();
  }

  @Property(tries = 2000)
  void repliesWithoutCallsLoseNoCharacter(
      @ForAll("replies") String reply, @ForAll ToolFormat format) {
    List<ReplyPart> parts = Replies.parse(Replies.parser(format), List.of(reply));
    boolean calls = parts.stream().anyMatch(p -> p.kind() != PartKind.CONTENT);
    if (!calls && format != ToolFormat.HARMONY) {
      assertThat(parts.stream().map(ReplyPart::text).collect(Collectors.joining()))
          .isEqualTo(reply);
    }
  }

  @Property(tries = 2000)
  void aCutReplyGivesTheSameHoweverItCame(
      @ForAll ToolFormat format, @ForAll("replies") String reply, @ForAll long cuts) {
    List<String> whole = Replies.parseCut(parser(format, false), List.of(reply));
    assertThat(Replies.parseCut(parser(format, false), cut(reply, cuts))).isEqualTo(whole);
  }
}
