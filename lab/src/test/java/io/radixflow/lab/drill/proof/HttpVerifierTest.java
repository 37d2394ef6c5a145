package io.radixflow.lab.drill.proof;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.lab.drill.http.Heard;
import io.radixflow.lab.traffic.TrafficTurn;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.topic.EventWriter;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HttpVerifierTest {

  private final HttpVerifier verifier = new HttpVerifier("drill-");
  private final List<Heard> heard = new ArrayList<>();
  private final Map<TrafficTurn, Reply> expected = new HashMap<>();

  private void turn(String turn, String text) {
    send(turn, "Ahoy");
    expected.put(
        new TrafficTurn("s", turn),
        Reply.builder("s", "main", turn, EventKind.MESSAGE)
            .text(text)
            .finishReason("stop")
            .build());
  }

  private void send(String turn, String text) {
    verifier.event(EventWriter.write(ConversationEvent.message("s", turn, text)));
  }

  private void hear(String turn, String text, String finish, String... faults) {
    heard.add(
        new Heard(
            "k-" + turn, "s", turn, "id", text, List.of(), finish, List.of(7L), List.of(faults)));
  }

  private HttpVerifier.Verdict verdict(int unheard) {
    return verifier.verdict(heard, unheard, List.of(), expected);
  }

  @Test
  void whatWasHeardAsItWasRepliedHolds() {
    turn("1", "Aye");
    turn("2", "Aye, aye");
    send("2", "Ahoy");
    verifier.event(
        EventWriter.write(ConversationEvent.builder(EventKind.CANCEL, "s", "2").build()));
    hear("1", "Aye", "stop");
    hear("2", "Aye,", "cancelled");

    HttpVerifier.Verdict verdict = verdict(0);
    assertThat(verdict.findings()).isEmpty();
    assertThat(verdict.holds()).isTrue();
    assertThat(verdict).matches(v -> v.turns() == 2 && v.resumed() == 2);
    assertThat(verifier.events())
        .extracting(ConversationEvent::kind)
        .containsExactly(EventKind.MESSAGE, EventKind.MESSAGE, EventKind.CANCEL);
  }

  @Test
  void kafkaClientsTurnsAreNotLookedAt() {
    verifier.event(EventWriter.write(ConversationEvent.message("drill-1-1", "1", "Ahoy")));
    assertThat(verifier.events()).isEmpty();
    assertThat(verdict(0).holds()).isTrue();
  }

  @Test
  void anotherTextOrEndOrAFaultOrAnUnknownTurnCountsAsChanged() {
    turn("1", "Aye");
    turn("2", "Aye");
    turn("3", "Aye");
    turn("4", "Aye");
    hear("1", "Nay", "stop");
    hear("2", "Aye", "length");
    hear("3", "Aye", "stop", "a gap");
    hear("4", "y", "cancelled");
    hear("5", "Aye", "stop");

    HttpVerifier.Verdict verdict = verdict(0);
    assertThat(verdict.changed()).isEqualTo(5);
    assertThat(verdict.holds()).isFalse();
  }

  @Test
  void otherCallsThanTheRepliesCountAsChanged() {
    ToolCall call = new ToolCall("c", "ask", "{\"a\": 1}");
    turn("1", "");
    TrafficTurn key = new TrafficTurn("s", "1");
    expected.put(key, expected.get(key).toBuilder().toolCalls(List.of(call)).build());
    hear("1", "", "stop");
    assertThat(verdict(0).changed()).isEqualTo(1);

    heard.set(0, new Heard("k", "s", "1", "id", "", List.of(call), "stop", List.of(), List.of()));
    assertThat(verdict(0).changed()).isEqualTo(1); // counts all that were found so far
    ToolCall cut = new ToolCall("c", "ask", "{\"a");
    heard.set(
        0, new Heard("k", "s", "1", "id", "", List.of(cut), "cancelled", List.of(), List.of()));
    assertThat(verdict(0).changed()).isEqualTo(1);
    heard.set(0, new Heard("k", "s", "1", "id", "", List.of(cut), "stop", List.of(), List.of()));
    assertThat(verdict(0).changed()).isEqualTo(2);
  }

  @Test
  void aReplyThatWasNeverHeardIsLost() {
    turn("1", "Aye");
    assertThat(verdict(1)).matches(v -> v.lost() == 1 && v.doubled() == 0);
  }

  @Test
  void twoTurnsForOneRequestAndTwoRequestsForOneTurnAreDoubled() {
    turn("1", "Aye");
    turn("2", "Aye");
    hear("1", "Aye", "stop");
    assertThat(verdict(0).doubled()).isEqualTo(1);

    hear("2", "Aye", "stop");
    assertThat(verdict(0).doubled()).isZero();
    hear("1", "Aye", "stop");
    assertThat(verdict(0).doubled()).isEqualTo(1);
  }

  @Test
  void aRequestMayBeSentAgainWithOtherMetadata() {
    turn("1", "Aye");
    hear("1", "Aye", "stop");
    ConversationEvent again =
        ConversationEvent.message("s", "1", "Ahoy").toBuilder()
            .metadata(Map.of("radixflow.response", "later"))
            .build();
    verifier.event(EventWriter.write(again));
    assertThat(verdict(0).findings()).isEmpty();
  }

  @Test
  void aRequestThatIsSentAgainAsAnotherEventCountsAsChanged() {
    turn("1", "Aye");
    hear("1", "Aye", "stop");
    send("1", "Ahoy there");
    assertThat(verdict(0).changed()).isEqualTo(1);
  }
}
