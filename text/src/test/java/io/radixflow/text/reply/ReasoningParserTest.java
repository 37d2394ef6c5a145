package io.radixflow.text.reply;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ReasoningParserTest {

  private static final String CALL =
      "<tool_call>\n{\"name\": \"now\", \"arguments\": {}}\n</tool_call>";

  private static ReplyParser parser(String template, String promptEnd, List<Tool> tools) {
    return new ReplyFormat(ToolFormat.HERMES, ReasoningFormat.of(template))
        .parser(tools, promptEnd);
  }

  private static List<String> parse(String template, String promptEnd, String reply) {
    List<String> whole = Replies.parse(parser(template, promptEnd, Replies.TOOLS), reply);
    List<String> characters = reply.chars().mapToObj(c -> String.valueOf((char) c)).toList();
    List<ReplyPart> pieces = Replies.parse(parser(template, promptEnd, Replies.TOOLS), characters);
    assertThat(Replies.describe(pieces)).isEqualTo(whole);
    return whole;
  }

  private static List<String> think(String reply) {
    return parse("{{ '<think>' }}{{ '</think>' }}", "<|im_start|>assistant\n", reply);
  }

  @Test
  void takesReasoningAndTheLineBreaksAroundItsMarksOffTheReply() {
    assertThat(think("<think>\nHm.\n\nSo.\n</think>\n\nHello"))
        .containsExactly("~Hm.\n\nSo.", "Hello");
    assertThat(think("\n<think>a</think>b")).containsExactly("~a", "b");
    assertThat(think("<think>\n\n</think>\n\nHello")).containsExactly("Hello");
    assertThat(think("<think>\n x \n</think>\n  y")).containsExactly("~ x ", "  y");
  }

  @Test
  void findsCallsAfterTheReasoningAndNotWithinIt() {
    assertThat(think("<think>\n" + CALL + "\n</think>\n\n" + CALL))
        .containsExactly("~" + CALL, "0:now{}");
  }

  @Test
  void beginsWithinTheReasoningIfThePromptOpensIt() {
    String template = "<think></think>";
    assertThat(parse(template, "assistant\n<think>\n", "Hm.\n</think>\nHello"))
        .containsExactly("~Hm.", "Hello");
    assertThat(parse(template, "<think>\n\n</think>\n\n", "Hello")).containsExactly("Hello");
  }

  @Test
  void leavesMarksLaterInTheReplyAlone() {
    assertThat(think("<think>a</think>b<think>c</think>"))
        .containsExactly("~a", "b<think>c</think>");
    assertThat(think("b <think>c</think>")).containsExactly("b <think>c</think>");
    assertThat(think("b</think>")).containsExactly("b</think>");
  }

  @Test
  void givesReasoningThatNeverEnds() {
    assertThat(think("<think>\na\n</thi")).containsExactly("~a\n</thi");
    assertThat(think("<thi")).containsExactly("<thi");
    assertThat(think("<think>")).isEmpty();
    assertThat(think("\n")).containsExactly("\n");
  }

  @Test
  void dropsTheMarksAroundTheAnswer() {
    String template = "<think></think><response></response>";
    assertThat(parse(template, "", "<think>a</think>\n<response>\nb</response>"))
        .containsExactly("~a", "b");
    assertThat(parse(template, "", "<think>a</think>\nb</response>"))
        .containsExactly("~a", "b</response>");
    assertThat(parse(template, "", "<response>b</response>"))
        .containsExactly("<response>b</response>");
  }

  @Test
  void knowsTheMarksOfATemplate() {
    assertThat(ReasoningFormat.of("{{ messages }}")).isNull();
    assertThat(ReasoningFormat.of("[THINK]..[/THINK]").close()).isEqualTo("[/THINK]");
    assertThat(ReasoningFormat.of("{{ c.split('</think>')[-1] }}").open()).isEqualTo("<think>");
  }

  @Test
  void needsNoParserWhereThereIsNothingToFind() {
    assertThat(parser("{{ messages }}", "", List.of())).isNull();
    assertThat(parser("{{ messages }}", "", Replies.TOOLS)).isNotNull();
    assertThat(Replies.parse(parser("</think>", "", List.of()), "<think>a</think>" + CALL))
        .containsExactly("~a", CALL);
  }
}
