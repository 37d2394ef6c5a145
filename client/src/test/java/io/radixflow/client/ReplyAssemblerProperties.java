package io.radixflow.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class ReplyAssemblerProperties {

  @Property
  void joinedTextIsAPrefixOfTheReplyWhateverIsRepeatedOrLost(
      @ForAll("texts") String text, @ForAll Random random) {
    Heard heard = new Heard();
    ReplyAssembler assembler = new ReplyAssembler(heard);
    int length = text.codePointCount(0, text.length());
    long attempt = 1;
    int at = 0;
    while (at < length) {
      if (random.nextInt(8) == 0) {
        attempt++;
        at = random.nextInt(at + 1);
      }
      int end = at + 1 + random.nextInt(length - at);
      ReplyDelta delta = delta(attempt, at, slice(text, at, end), end == length);
      if (random.nextInt(16) != 0) {
        assembler.delta(delta);
      }
      if (random.nextInt(4) == 0) {
        assembler.delta(delta);
      }
      at = end;
    }
    assertThat(text).startsWith(heard.text);
    assembler.reply(reply(text));
    assembler.delta(delta(attempt, 0, text, true));
    assertThat(heard.text).hasToString(text);
    assertThat(heard.restarts).isEmpty();
    assertThat(heard.finished).isLessThanOrEqualTo(1);
    assertThat(heard.committed).isEqualTo(1);
  }

  @Example
  void partsAreJoinedByTheirOffsetsAndAgreeWithTheReply() {
    Heard heard = new Heard();
    ReplyAssembler assembler = new ReplyAssembler(heard);
    assembler.delta(part(1, 0, ReplyDelta.Kind.REASONING_CONTENT, -1, "Hm"));
    assembler.delta(part(1, 2, null, -1, "I ask. "));
    assembler.delta(part(1, 9, ReplyDelta.Kind.TOOL_CALL, 0, "f"));
    assembler.delta(part(1, 10, ReplyDelta.Kind.ARGUMENTS, 0, "{\"a\""));
    assembler.delta(part(2, 9, ReplyDelta.Kind.TOOL_CALL, 0, "f"));
    assembler.delta(part(2, 10, ReplyDelta.Kind.ARGUMENTS, 0, "{\"a\": 1}"));
    assembler.delta(part(2, 18, ReplyDelta.Kind.TOOL_CALL, 1, "g"));
    Reply reply =
        reply("I ask. ").toBuilder()
            .reasoning("Hm")
            .toolCalls(List.of(new ToolCall("c0", "f", "{\"a\": 1}"), new ToolCall("c1", "g", "")))
            .build();
    assembler.reply(reply);
    assertThat(heard.restarts).isEmpty();
    assertThat(heard.text).hasToString("HmI ask. f{\"a\": 1}g");
    assertThat(heard.kinds)
        .containsExactly(
            "REASONING_CONTENT", "text", "TOOL_CALL", "ARGUMENTS", "ARGUMENTS", "TOOL_CALL");
  }

  @Example
  void aReplyWithOtherPartsIsHeardFromTheBeginning() {
    Heard heard = new Heard();
    ReplyAssembler assembler = new ReplyAssembler(heard);
    assembler.delta(part(1, 0, null, -1, "fx"));
    assembler.reply(reply("").toBuilder().toolCalls(List.of(new ToolCall("c0", "f", "x"))).build());
    assertThat(heard.restarts).containsExactly(0);
    assertThat(heard.kinds).containsExactly("text", "TOOL_CALL", "ARGUMENTS");
    assertThat(heard.text).hasToString("fx");
  }

  private static ReplyDelta part(
      long attempt, int offset, ReplyDelta.Kind kind, int index, String text) {
    return new ReplyDelta(
        "s",
        "main",
        "t",
        0,
        offset,
        0,
        1,
        attempt,
        text,
        kind,
        index,
        index < 0 ? null : "c" + index,
        null,
        null,
        0,
        Usage.NONE,
        null,
        null,
        null,
        null);
  }

  @Example
  void anotherAttemptMayChangeTheTextAndSaysFromWhere() {
    Heard heard = new Heard();
    ReplyAssembler assembler = new ReplyAssembler(heard);
    assembler.delta(delta(1, 0, "one two three", false));
    assembler.delta(delta(2, 4, "too", false));
    assembler.delta(delta(1, 13, " four", false));
    assertThat(heard.text).hasToString("one too");
    assertThat(heard.restarts).containsExactly(5);
  }

  @Example
  void aDeltaBeforeTheTextIsPassedOver() {
    Heard heard = new Heard();
    ReplyAssembler assembler = new ReplyAssembler(heard);
    assembler.delta(delta(1, 0, "one", false));
    assembler.delta(delta(9, -1, "foreign", true));
    assembler.delta(delta(1, 3, " two", true));
    assertThat(heard.text).hasToString("one two");
    assertThat(heard.finished).isEqualTo(1);
  }

  @Example
  void theReplyHasTheLastWord() {
    Heard heard = new Heard();
    ReplyAssembler assembler = new ReplyAssembler(heard);
    assembler.delta(delta(1, 0, "too long", false));
    assembler.reply(reply("too"));
    assertThat(heard.text).hasToString("too");
    assertThat(heard.restarts).containsExactly(3);
  }

  @Example
  void aChangeWithinACharacterKeepsCharactersWhole() {
    Heard heard = new Heard();
    ReplyAssembler assembler = new ReplyAssembler(heard);
    assembler.delta(delta(1, 0, "a\uD83D\uDE00", false));
    assembler.delta(delta(2, 1, "\uD83D\uDE01b", false));
    assertThat(heard.text).hasToString("a\uD83D\uDE01b");
    assertThat(heard.restarts).containsExactly(1);
  }

  @Provide
  Arbitrary<String> texts() {
    return Arbitraries.of("a", "b", " ", "é", "\uD83D\uDE00")
        .list()
        .ofMinSize(1)
        .ofMaxSize(60)
        .map(characters -> String.join("", characters));
  }

  private static String slice(String text, int from, int to) {
    return text.substring(text.offsetByCodePoints(0, from), text.offsetByCodePoints(0, to));
  }

  private static ReplyDelta delta(long attempt, int offset, String text, boolean last) {
    return new ReplyDelta(
        "s", "main", "t", 0, offset, 0, 1, attempt, text, last ? "stop" : null, Usage.NONE);
  }

  private static Reply reply(String text) {
    return Reply.builder("s", "main", "t", EventKind.MESSAGE).attempt(1).text(text).build();
  }

  private static final class Heard implements ReplyListener {
    private final StringBuilder text = new StringBuilder();
    private final List<Integer> restarts = new ArrayList<>();
    private final List<String> kinds = new ArrayList<>();
    private int finished;
    private int committed;

    @Override
    public void text(String piece) {
      assertThat(piece).isNotEmpty();
      text.append(piece);
      kinds.add("text");
    }

    @Override
    public void part(ReplyDelta.Kind kind, int index, String id, String piece) {
      assertThat(piece).isNotEmpty();
      text.append(piece);
      kinds.add(kind.name());
    }

    @Override
    public void restarted(int codePoints) {
      restarts.add(codePoints);
      text.setLength(text.offsetByCodePoints(0, codePoints));
    }

    @Override
    public void finished(ReplyDelta last) {
      finished++;
    }

    @Override
    public void committed(Reply reply) {
      committed++;
    }
  }
}
