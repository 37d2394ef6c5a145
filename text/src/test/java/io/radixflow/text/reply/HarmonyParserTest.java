package io.radixflow.text.reply;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class HarmonyParserTest {

  private static final String CALL =
      " to=functions.get_weather <|constrain|>json<|message|>{\"city\": \"Oslo\"}<|call|>";
  private static final String WEATHER = "0:get_weather{\"city\": \"Oslo\"}";

  private static List<String> parse(String reply) {
    List<String> whole = Replies.parse(Replies.parser(ToolFormat.HARMONY), reply);
    List<String> characters = reply.chars().mapToObj(c -> String.valueOf((char) c)).toList();
    List<ReplyPart> pieces = Replies.parse(Replies.parser(ToolFormat.HARMONY), characters);
    assertThat(Replies.describe(pieces)).isEqualTo(whole);
    return whole;
  }

  @Test
  void splitsAnalysisFromTheFinalMessage() {
    assertThat(
            parse(
                "<|channel|>analysis<|message|>Hm.\n<|end|><|start|>assistant<|channel|>final"
                    + "<|message|>Hello<|return|>"))
        .containsExactly("~Hm.\n", "Hello");
  }

  @Test
  void readsACallWithItsRecipientAfterTheChannelOrBeforeIt() {
    String analysis = "<|channel|>analysis<|message|>Look.<|end|><|start|>assistant";
    assertThat(parse(analysis + "<|channel|>commentary" + CALL)).containsExactly("~Look.", WEATHER);
    assertThat(
            parse(
                " to=functions.get_weather<|channel|>commentary json<|message|>"
                    + "{\"city\": \"Oslo\"}<|call|>"))
        .containsExactly(WEATHER);
  }

  @Test
  void readsSeveralCallsAndTextBetweenThem() {
    String next = "<|start|>assistant<|channel|>commentary";
    assertThat(
            parse(
                "<|channel|>commentary<|message|>First.<|end|>"
                    + next
                    + CALL
                    + next
                    + " to=functions.now<|message|><|call|>"
                    + next
                    + "<|message|>Last.<|end|>"))
        .containsExactly("First.", WEATHER, "1:now{}", "\nLast.");
  }

  @Test
  void joinsMessagesOfOneKindByALineBreak() {
    String start = "<|start|>assistant<|channel|>";
    assertThat(
            parse(
                "<|channel|>analysis<|message|>a<|end|>"
                    + start
                    + "analysis<|message|>b<|end|>"
                    + start
                    + "final<|message|><|end|>"
                    + start
                    + "final<|message|>c"))
        .containsExactly("~a\nb", "c");
  }

  @Test
  void givesMessagesForUnknownFunctionsAsCalls() {
    String call = "<|channel|>commentary to=browser.search<|message|>{\"q\": 1}<|call|>";
    assertThat(parse(call)).containsExactly("0:browser.search{\"q\": 1}");
    String text = "<|channel|>commentary to=functions.now<|message|>soon<|call|>";
    assertThat(parse(text)).containsExactly("0:nowsoon");
    ReplyParser none = new ReplyFormat(ToolFormat.HARMONY, null).parser(List.of(), "");
    assertThat(Replies.parse(none, call)).containsExactly(call);
  }

  @Test
  void givesPlainTextAndBrokenHeadersAsContent() {
    assertThat(parse("Hello to=you")).containsExactly("Hello to=you");
    assertThat(parse("to be")).containsExactly("to be");
    assertThat(parse("<|channel|>ana")).containsExactly("<|channel|>ana");
    assertThat(parse("<|channel|>x<<|message|>y")).containsExactly("<|channel|>x<<|message|>y");
    assertThat(parse("<|channel|>final<|message|>a <| b")).containsExactly("a <| b");
  }

  @Test
  void givesArgumentsThatAreCutOrBrokenAsTheyAre() {
    String head = "<|channel|>commentary to=functions.now<|message|>";
    assertThat(parse(head + "{\"a\": \"b")).containsExactly("0:now{\"a\": \"b");
    assertThat(parse(head + "{\"a\" 1}<|call|>")).containsExactly("0:now{\"a\" 1}");
  }
}
