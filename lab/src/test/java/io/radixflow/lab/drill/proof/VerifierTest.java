package io.radixflow.lab.drill.proof;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.lab.traffic.TrafficTurn;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The verifier on topics that are broken on purpose: it must see each fault, and no other. */
class VerifierTest {

  private static final String TEXT = "of süße 𝄞";
  private static final int LENGTH = 9;

  private final List<ConversationEvent> sent =
      new ArrayList<>(List.of(message("1"), message("2"), fork("3"), message("4")));
  private final Set<TrafficTurn> deadly = new HashSet<>();
  private final Map<TrafficTurn, Reply> expected = new HashMap<>();
  private final List<Reply> replies = new ArrayList<>();
  private final List<ReplyDelta> deltas = new ArrayList<>();

  VerifierTest() {
    for (ConversationEvent event : sent) {
      Reply reply = reply(event.turn(), "stop", event.kind() == EventKind.FORK ? "" : TEXT);
      expected.put(TrafficTurn.of(event), reply);
      replies.add(reply);
      if (event.kind() == EventKind.MESSAGE) {
        deltas.addAll(List.of(piece(event.turn(), 0, 3), last(event.turn(), 3)));
      }
    }
  }

  @Test
  void topicsOfAnUndisturbedRunHold() {
    Verifier.Verdict verdict = verdict();

    assertThat(verdict.findings()).isEmpty();
    assertThat(verdict)
        .isEqualTo(new Verifier.Verdict(4, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, List.of()));
    assertThat(verdict.holds()).isTrue();
  }

  @Test
  void aTurnWithoutReplyIsLost() {
    replies.remove(1);
    deltas.removeIf(delta -> delta.turn().equals("2"));

    assertThat(verdict().lost()).isEqualTo(1);
    assertThat(verdict().findings()).containsExactly("s/2: no committed reply");
    assertThat(verdict().holds()).isFalse();
  }

  @Test
  void aSecondReplyToATurnIsDoubledEvenIfItIsEqual() {
    replies.add(replies.get(3));

    assertThat(verdict()).matches(v -> v.doubled() == 1 && v.lost() + v.changed() == 0);
    assertThat(verdict().findings()).singleElement().asString().contains("another committed");
  }

  @Test
  void aReplyToAnUnknownTurnCountsAsDoubled() {
    replies.add(reply("5", "stop", ""));

    assertThat(verdict().doubled()).isEqualTo(1);
  }

  @Test
  void aReplyWithAnotherTextCountsAsChanged() {
    replies.set(0, reply("1", "stop", TEXT.replace('f', 'g')));
    deltas.removeIf(delta -> delta.turn().equals("1"));
    deltas.add(
        new ReplyDelta("s", "main", "1", 0, 0, 0, 9, 7, "og süße 𝄞", "stop", new Usage(5, 0, 9)));

    assertThat(verdict()).matches(v -> v.changed() == 1 && v.brokenDeltas() == 0);
  }

  @Test
  void aReplyWithAnotherFinishReasonCountsAsChanged() {
    replies.set(0, reply("1", "length", TEXT));

    assertThat(verdict().changed()).isEqualTo(1);
    assertThat(verdict().findings().get(0)).contains("length after 9").contains("stop after 9");
  }

  @Test
  void anErrorCountsAsChanged() {
    replies.set(3, reply("4", "error", ""));
    deltas.removeIf(delta -> delta.turn().equals("4"));
    deltas.add(new ReplyDelta("s", "main", "4", 0, 0, 0, 0, 7, "", "error", new Usage(5, 0, 0)));

    assertThat(verdict().changed()).isEqualTo(1);
  }

  @Test
  void aDeadlyTurnMustEndAsAnError() {
    deadly.add(TrafficTurn.of(sent.get(3)));
    assertThat(verdict().changed()).isEqualTo(1);

    replies.set(3, reply("4", "error", ""));
    deltas.removeIf(delta -> delta.turn().equals("4"));
    deltas.add(last("4", 0, 0, "error"));
    assertThat(verdict().holds()).isTrue();

    replies.remove(3);
    assertThat(verdict().lost()).isEqualTo(1);
  }

  @Test
  void aCancelledReplyMustBeAPrefixOfTheWholeReply() {
    sent.add(cancel("1"));
    cut("1", "of s", last("1", 0, 4, "cancelled"));
    assertThat(verdict()).matches(v -> v.holds() && v.cancels() == 1 && v.cancelled() == 1);

    replies.set(0, reply("1", "cancelled", "if s"));
    assertThat(verdict().changed()).isEqualTo(1);
  }

  @Test
  void aTurnThatWasDoneBeforeItsCancelCameHasItsWholeReply() {
    sent.add(cancel("1"));
    assertThat(verdict()).matches(v -> v.holds() && v.cancels() == 1 && v.cancelled() == 0);

    replies.set(0, reply("1", "stop", "of s"));
    assertThat(verdict().changed()).isEqualTo(1);
  }

  @Test
  void aReplyWithoutACancelMustBeWhole() {
    sent.add(cancel("2"));
    cut("1", "of s", last("1", 0, 4, "cancelled"));

    assertThat(verdict().changed()).isEqualTo(1);
    assertThat(verdict().findings()).containsExactly("s/1: cancelled without a cancel event");
  }

  @Test
  void aSecondReplyToACancelledTurnIsDoubled() {
    sent.add(cancel("1"));
    cut("1", "of s", last("1", 0, 4, "cancelled"));
    replies.add(reply("1", "stop", TEXT));

    assertThat(verdict().doubled()).isEqualTo(1);
  }

  @Test
  void aCancelOfABranchCancelsAllItsEarlierTurns() {
    sent.add(3, cancel(null));
    cut("1", "of s", last("1", 0, 4, "cancelled"));
    cut("2", "", last("2", 0, 0, "cancelled"));
    assertThat(verdict()).matches(v -> v.holds() && v.cancelled() == 2);

    cut("4", "", last("4", 0, 0, "cancelled"));
    assertThat(verdict().findings()).containsExactly("s/4: cancelled without a cancel event");
  }

  @Test
  void aCancelledTurnNeedNotWaitForThoseBeforeIt() {
    sent.add(cancel("2"));
    cut("2", "", last("2", 0, 0, "cancelled"));
    replies.add(0, replies.remove(1));

    assertThat(verdict().holds()).isTrue();
  }

  @Test
  void deltasOfACancelledTurnMayContinueTheReplyButNotContradictIt() {
    sent.add(cancel("1"));
    cut("1", "of s", piece("1", 0, 3), piece("1", 3, 6), last("1", 4, 4, "cancelled"));
    assertThat(verdict().findings()).isEmpty();

    deltas.add(2, new ReplyDelta("s", "main", "1", 0, 5, 5, 1, 7, "x", null, Usage.NONE));
    assertThat(verdict().brokenDeltas()).isEqualTo(1);
  }

  @Test
  void anEarlierAttemptMayHaveBeenCancelledElsewhere() {
    ReplyDelta earlier =
        new ReplyDelta("s", "main", "1", 0, 0, 0, 6, 6, "of süß", "cancelled", new Usage(5, 0, 6));
    deltas.add(0, earlier);
    assertThat(verdict().brokenDeltas()).isEqualTo(1);

    sent.add(cancel("1"));
    assertThat(verdict().findings()).isEmpty();

    cut("1", "of s", earlier, last("1", 4, 4, "cancelled"));
    assertThat(verdict().findings()).isEmpty();
    cut("1", "of s", earlier);
    assertThat(verdict().brokenDeltas()).isEqualTo(1);
  }

  @Test
  void theLastDeltaOfACancelledTurnEndsWhereItsReplyEnds() {
    sent.add(cancel("1"));
    cut("1", "of s", piece("1", 0, 3), last("1", 3, 5, "cancelled"));

    assertThat(verdict().findings())
        .containsExactly("s/1: the last delta ends at code point 5 of 4");
  }

  @Test
  void aReplyBeforeThatOfAnEarlierTurnOfItsBranchIsDisordered() {
    Reply second = replies.remove(1);
    replies.add(second);

    assertThat(verdict()).matches(v -> v.disordered() == 1 && v.lost() + v.doubled() == 0);
    assertThat(verdict().findings()).singleElement().asString().startsWith("s/2: ");
  }

  @Test
  void aForkIsOrderedWithTheTurnsOfItsNewBranch() {
    Reply fork = replies.remove(2);
    replies.add(fork);

    assertThat(verdict().holds()).isTrue();
  }

  @Test
  void aRejectionMayComeAtAnyTime() {
    Reply first = replies.remove(0);
    replies.add(reply(first.turn(), "rejected", ""));
    deltas.removeIf(delta -> delta.turn().equals("1"));
    deltas.add(new ReplyDelta("s", "main", "1", 0, 0, 0, 0, 7, "", "rejected", new Usage(5, 0, 0)));

    assertThat(verdict()).matches(v -> v.holds() && v.rejected() == 1 && v.replied() == 3);
  }

  @Test
  void deltasMayOverlapWhereTheyAreEqual() {
    deltas.add(2, piece("2", 0, 3));
    deltas.add(piece("4", 2, 5));

    assertThat(verdict().holds()).isTrue();
  }

  @Test
  void aGapBetweenDeltasIsBroken() {
    deltas.set(0, piece("1", 0, 2));

    assertThat(verdict().brokenDeltas()).isEqualTo(1);
    assertThat(verdict().findings()).singleElement().asString().contains("after a gap: only 2");
  }

  @Test
  void deltasThatComeInAnotherOrderLeaveAGap() {
    deltas.add(deltas.remove(0));

    assertThat(verdict().brokenDeltas()).isEqualTo(1);
  }

  @Test
  void aDeltaThatDiffersFromTheReplyIsBroken() {
    deltas.add(new ReplyDelta("s", "main", "1", 0, 1, 1, 1, 8, "x", null, Usage.NONE));

    assertThat(verdict().brokenDeltas()).isEqualTo(1);
    assertThat(verdict().findings()).singleElement().asString().contains("'x' at 1");
  }

  @Test
  void deltasWithoutALastOneAreBroken() {
    deltas.removeIf(delta -> delta.turn().equals("1") && delta.finishReason() != null);

    assertThat(verdict().findings())
        .containsExactly("s/1: the deltas do not end; they have 3 of " + LENGTH);
  }

  @Test
  void aReplyWithoutDeltasIsBroken() {
    deltas.removeIf(delta -> delta.turn().equals("4"));

    assertThat(verdict().findings()).containsExactly("s/4: no deltas");
  }

  private static final ToolCall CALL = new ToolCall("c1", "ask", "{\"a\": 1}");
  private static final GenerationOptions.Builder OPTIONS =
      GenerationOptions.builder()
          .responseFormat(
              "{\"type\":\"json_schema\",\"json_schema\":{\"schema\":{\"type\":\"integer\"}}}")
          .tools(
              "[{\"type\":\"function\",\"function\":{\"name\":\"ask\",\"parameters\":"
                  + "{\"properties\":{\"a\":{\"type\":\"integer\"}}}}},"
                  + "{\"type\":\"function\",\"function\":{\"name\":\"other\",\"parameters\":{}}}]");

  /** Makes turn 1 one that asks for a form, and gets calls and a text. */
  private void formed(GenerationOptions options, String finish, String text, ToolCall... calls) {
    sent.set(0, sent.get(0).toBuilder().options(options).build());
    Reply reply =
        reply("1", finish, text).toBuilder()
            .toolCalls(List.of(calls))
            .usage(new Usage(5, 0, LENGTH))
            .build();
    replies.set(0, reply);
    expected.put(TrafficTurn.of(reply), reply);
    deltas.removeIf(delta -> delta.turn().equals("1"));
    int offset = 0;
    for (int i = 0; i < calls.length; i++) {
      deltas.add(part(offset, ReplyDelta.Kind.TOOL_CALL, i, calls[i].id(), calls[i].name(), null));
      offset += calls[i].name().length();
      String arguments = calls[i].arguments();
      deltas.add(part(offset, ReplyDelta.Kind.ARGUMENTS, i, calls[i].id(), arguments, null));
      offset += arguments.length();
    }
    deltas.add(part(offset, null, -1, null, text, finish));
  }

  private static ReplyDelta part(
      int offset, ReplyDelta.Kind kind, int index, String id, String text, String finish) {
    return new ReplyDelta(
        "s",
        "main",
        "1",
        0,
        offset,
        0,
        0,
        7,
        text,
        kind,
        index,
        id,
        finish,
        null,
        0,
        Usage.NONE,
        null,
        null,
        null,
        null);
  }

  @Test
  void repliesThatHaveTheFormThatWasAskedForAreCounted() {
    formed(OPTIONS.build(), "tool_calls", "", CALL, new ToolCall("c2", "other", "{}"));
    assertThat(verdict().findings()).isEmpty();
    assertThat(verdict()).matches(v -> v.holds() && v.calls() == 2 && v.contents() == 0);

    formed(OPTIONS.build(), "stop", "17");
    assertThat(verdict().findings()).isEmpty();
    assertThat(verdict()).matches(v -> v.holds() && v.calls() == 0 && v.contents() == 1);
  }

  @Test
  void aFinishedReplyOfAnotherFormCountsAsChanged() {
    formed(OPTIONS.build(), "stop", "1.5");
    assertThat(verdict()).matches(v -> v.changed() == 1 && v.contents() == 0);
    formed(OPTIONS.build(), "stop", "{");
    assertThat(verdict().changed()).isEqualTo(1);
    formed(OPTIONS.build(), "tool_calls", "", new ToolCall("c", "ask", "{\"a\": \"x\"}"));
    assertThat(verdict().changed()).isEqualTo(1);
    formed(OPTIONS.build(), "tool_calls", "", new ToolCall("c", "third", "{}"));
    assertThat(verdict().changed()).isEqualTo(1);

    formed(OPTIONS.build(), "length", "{");
    assertThat(verdict().holds()).isTrue();
    formed(OPTIONS.build(), "length", "", new ToolCall("c", "ask", "{\"a"));
    assertThat(verdict().holds()).isTrue();
  }

  @Test
  void aChoiceOfToolsThatWasNotFollowedCountsAsChanged() {
    GenerationOptions required =
        OPTIONS.build().toBuilder().toolChoice("required").parallelToolCalls(false).build();
    formed(required, "tool_calls", "", CALL);
    assertThat(verdict().holds()).isTrue();
    formed(required, "tool_calls", "", CALL, CALL);
    assertThat(verdict().changed()).isEqualTo(1);
    formed(required, "stop", "7");
    assertThat(verdict().changed()).isEqualTo(1);

    String other = "{\"type\":\"function\",\"function\":{\"name\":\"other\"}}";
    formed(required.toBuilder().toolChoice(other).build(), "tool_calls", "", CALL);
    assertThat(verdict().changed()).isEqualTo(1);
  }

  @Test
  void aCallThatIsNotTheUndisturbedRunsCountsAsChanged() {
    formed(OPTIONS.build(), "tool_calls", "", CALL);
    Reply reply = replies.get(0);
    ToolCall other = new ToolCall("c1", "ask", "{\"a\": 2}");
    expected.put(TrafficTurn.of(reply), reply.toBuilder().toolCalls(List.of(other)).build());
    assertThat(verdict().changed()).isEqualTo(1);
  }

  @Test
  void aDeltaOfAnotherPartThanTheReplyHasThereIsBroken() {
    formed(OPTIONS.build(), "tool_calls", "", CALL);
    deltas.add(part(0, null, -1, null, "ask", null));
    assertThat(verdict().brokenDeltas()).isEqualTo(1);
    assertThat(verdict().findings()).singleElement().asString().contains("'ask' at 0");
  }

  private Verifier.Verdict verdict() {
    Verifier verifier = new Verifier(sent, deadly, expected);
    replies.forEach(verifier::reply);
    deltas.forEach(verifier::delta);
    return verifier.verdict();
  }

  private static ConversationEvent message(String turn) {
    return event(EventKind.MESSAGE, turn, List.of(new Message("user", "hello")), null);
  }

  private static ConversationEvent cancel(String turn) {
    return event(EventKind.CANCEL, turn, List.of(), null);
  }

  private static ConversationEvent fork(String turn) {
    return event(EventKind.FORK, turn, List.of(), "side");
  }

  private static ConversationEvent event(
      EventKind kind, String turn, List<Message> messages, String newBranch) {
    return ConversationEvent.builder(kind, "s", turn)
        .messages(messages)
        .newBranch(newBranch)
        .build();
  }

  private static Reply reply(String turn, String finish, String text) {
    EventKind kind = turn.equals("3") ? EventKind.FORK : EventKind.MESSAGE;
    int tokens = text.codePointCount(0, text.length());
    return Reply.builder("s", "main", turn, kind)
        .attempt(7)
        .text(text)
        .finishReason(finish)
        .usage(new Usage(5, 0, tokens))
        .build();
  }

  /** Cuts a turn's reply; these are its deltas then. */
  private void cut(String turn, String text, ReplyDelta... sent) {
    replies.replaceAll(r -> r.turn().equals(turn) ? reply(turn, "cancelled", text) : r);
    deltas.removeIf(delta -> delta.turn().equals(turn));
    deltas.addAll(0, List.of(sent));
  }

  private static ReplyDelta piece(String turn, int from, int to) {
    return delta(turn, from, to, null);
  }

  private static ReplyDelta last(String turn, int from) {
    return last(turn, from, LENGTH, "stop");
  }

  private static ReplyDelta last(String turn, int from, int to, String finish) {
    return delta(turn, from, to, finish);
  }

  private static ReplyDelta delta(String turn, int from, int to, String finish) {
    String piece = TEXT.substring(TEXT.offsetByCodePoints(0, from), TEXT.offsetByCodePoints(0, to));
    return new ReplyDelta(
        "s", "main", turn, 0, from, from, to - from, 7, piece, finish, new Usage(0, 0, LENGTH));
  }
}
