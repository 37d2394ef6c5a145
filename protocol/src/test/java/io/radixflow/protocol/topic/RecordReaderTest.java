package io.radixflow.protocol.topic;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.PartLength;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierTokens;
import io.radixflow.protocol.record.kv.TierUsage;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class RecordReaderTest {

  @Test
  void readsTheRepliesThatTheWriterWrites() throws IOException {
    Reply reply =
        Reply.builder("s", "b", "t", EventKind.QUERY)
            .attempt(7)
            .text("héllo \uD83D\uDE00")
            .usage(new Usage(10, 4, 9, new TierUsage(2, 1, 1, 650), 3))
            .reasoning("Hm.")
            .toolCalls(
                List.of(new ToolCall("call_1", "f", "{\"a\": 1}"), new ToolCall("c", "g", "")))
            .seed(-5)
            .droppedTurns(2)
            .logprobs(
                List.of(
                    new Reply.TokenLogprob(
                        1,
                        "a",
                        -0.5f,
                        List.of(new Reply.TopLogprob(2, "\uFFFD", -1.5f, List.of(0xf0, 0x9f))))))
            .error(ReplyError.failed("went wrong"))
            .items(
                List.of(
                    new Reply.Item(
                        "t0", new Message("assistant", "hi"), "stop", Map.of("k", "v"), null),
                    new Reply.Item(
                        "t1",
                        new Message(
                            "assistant",
                            null,
                            null,
                            List.of(new ToolCall("c", "f", "{}")),
                            null,
                            "hm"),
                        "tool_calls",
                        null,
                        List.of(
                            new PartLength(ReplyDelta.Kind.TOOL_CALL, 0, 1),
                            new PartLength(ReplyDelta.Kind.REASONING_CONTENT, -1, 2))),
                    new Reply.Item("t2", new Message("tool", "7", "f", List.of(), "c", null))))
            .status("cold")
            .metadata(Map.of("topic", "rivers", "", "é"))
            .turnState(
                new Reply.TurnState(
                    "t1",
                    "running",
                    "b",
                    "",
                    1_700_000_000_000L,
                    1_700_000_003_000L,
                    Map.of("k", "v"),
                    List.of(new Message("user", "hi")),
                    "so far",
                    List.of(new Reply.TokenLogprob(1, "a", -0.5f, List.of())),
                    "error",
                    "END",
                    new Usage(1, 0, 2),
                    ReplyError.failed("broken")))
            .created(1_700_000_000_000L)
            .pages(
                new Reply.Pages(
                    2_000,
                    new TierTokens(160, 320, 480, 640),
                    1_600_000_000_000L,
                    1_600_000_001_000L))
            .warnings(List.of("the function f: not enforced: pattern"))
            .build();
    assertThat(RecordReader.reply(new ReplyLimiter(1 << 20).write(reply))).isEqualTo(reply);
  }

  @Test
  void readsTheDeltasThatTheWriterWrites() throws IOException {
    Reply rejected =
        Reply.builder("s", "b", "t", EventKind.MESSAGE)
            .finishReason("rejected")
            .error(new ReplyError(ErrorCode.CONTEXT_LENGTH_EXCEEDED, "no room", 70, 64))
            .build();
    Reply answer =
        Reply.builder("s", "b", "t", EventKind.QUERY)
            .items(List.of(new Reply.Item("t0", "user", "hi")))
            .status("cold")
            .build();
    for (ReplyDelta delta :
        List.of(
            new ReplyDelta("s", "b", "t", 0, 3, 2, 1, 7, "é", "stop", new Usage(10, 4, 9)),
            new ReplyDelta("s", "b", "t", 0, 3, 2, 1, 7, "é", null, Usage.NONE),
            new ReplyDelta(
                "s",
                "b",
                "t",
                0,
                3,
                2,
                1,
                7,
                "é",
                ReplyDelta.Kind.ARGUMENTS,
                2,
                "call_1",
                "stop",
                "END",
                1_700_000_003_000L,
                Usage.NONE,
                null,
                List.of(new Reply.TokenLogprob(1, "é", -0.5f, List.of())),
                null,
                null),
            ReplyDelta.last(rejected),
            ReplyDelta.last(answer))) {
      assertThat(RecordReader.delta(DeltaWriter.write(delta))).isEqualTo(delta);
    }
  }

  @Test
  void fieldsThatAReplyLacksHaveTheirDefaults() throws IOException {
    for (String choices :
        List.of(
            "null",
            "[]",
            "[null]",
            "[{\"message\":null}]",
            "[{\"message\":{\"role\":\"assistant\",\"content\":null}}]")) {
      String json = "{\"session\":\"s\",\"type\":\"message\",\"choices\":" + choices + "}";
      assertThat(RecordReader.reply(json.getBytes(UTF_8)).text()).isEmpty();
    }
    String usage = "{\"type\":\"message\",\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2}}";
    assertThat(RecordReader.reply(usage.getBytes(UTF_8)).usage())
        .isEqualTo(new Usage(7, 0, 2, TierUsage.NONE));
  }

  @Test
  void refusesWhatIsNotARecord() {
    for (String value : List.of("", "[]", "{", "7")) {
      assertThatExceptionOfType(IOException.class)
          .isThrownBy(() -> RecordReader.reply(value.getBytes(UTF_8)));
    }
    assertThatExceptionOfType(IOException.class).isThrownBy(() -> RecordReader.delta(null));
  }
}
