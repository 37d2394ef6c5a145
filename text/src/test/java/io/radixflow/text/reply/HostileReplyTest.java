package io.radixflow.text.reply;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Long replies that are made to be expensive: quadratic time would take minutes. */
class HostileReplyTest {

  private static final List<String> UNITS =
      List.of(
          "<tool_call>",
          "<tool_call>{\"name\": \"now\", \"arguments\": ",
          "<tool_call>" + " ".repeat(200),
          "[TOOL_CALLS][",
          "{\"name\":",
          "<function=write><parameter=lines>",
          "\n</parameter>",
          "<|channel|>",
          "<think>\n",
          "\n",
          " ",
          "{\"name\": \"now\", \"arguments\": {\"a\": {");

  @ParameterizedTest
  @EnumSource
  void takesLinearTimeAndGivesAllOfIt(ToolFormat format) {
    assertTimeoutPreemptively(
        Duration.ofSeconds(60),
        () -> {
          for (String unit : UNITS) {
            String start = Calls.write(format, "write", "{\"lines\": [1]}");
            for (String prefix : List.of("", start.substring(0, start.indexOf('[', 15) + 1))) {
              feed(format, prefix + unit.repeat(200_000 / unit.length()));
            }
          }
        });
  }

  private static void feed(ToolFormat format, String reply) {
    ReplyParser parser =
        new ReplyFormat(format, ReasoningFormat.of("</think>")).parser(Replies.TOOLS, "");
    long[] given = new long[1];
    for (int at = 0; at < reply.length(); at += 4) {
      parser.accept(
          reply.substring(at, Math.min(reply.length(), at + 4)),
          p -> given[0] += p.text().length());
      assertThat(given[0]).isLessThanOrEqualTo(2L * reply.length());
    }
    parser.finish(p -> given[0] += p.text().length());
  }
}
