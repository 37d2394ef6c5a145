package io.radixflow.lab.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.lab.traffic.TrafficTurn;
import io.radixflow.protocol.event.EventParser;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.topic.EventWriter;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class SessionScriptTest {

  @Test
  void aSessionIsAFunctionOfSeedAndNumber() {
    assertThat(SessionScript.of(3, 1, 6, 100)).isEqualTo(SessionScript.of(3, 1, 6, 100));
    assertThat(SessionScript.of(3, 1, 6, 100)).isNotEqualTo(SessionScript.of(3, 4, 6, 100));
    assertThat(SessionScript.of(3, 1, 6, 100)).isNotEqualTo(SessionScript.of(4, 1, 6, 100));
  }

  @Test
  void everyEventIsOneThatTheJobTakes() {
    EventParser parser = new EventParser(1 << 20);
    List<ConversationEvent> events = manySessions();

    assertThat(events)
        .allSatisfy(
            event ->
                assertThat(parser.parse(EventWriter.write(event), new Origin(0, 0, 0)).isValid())
                    .isTrue());
  }

  @Test
  void sessionsOpenOnceAndHaveMessagesForksAndRegenerations() {
    List<ConversationEvent> events = manySessions();

    assertThat(events.stream().filter(event -> event.kind() == EventKind.OPEN)).hasSize(100);
    assertThat(events)
        .extracting(ConversationEvent::kind)
        .contains(EventKind.MESSAGE, EventKind.FORK, EventKind.REGENERATE);
    assertThat(SessionScript.turnsOf(events).stream().map(TrafficTurn::of)).doesNotHaveDuplicates();
  }

  @Test
  void someTurnsAskForJsonAndWhatFollowsACallGivesItsResult() {
    List<ConversationEvent> events = manySessions();
    assertThat(events)
        .anyMatch(event -> event.options() != null && event.options().responseFormat() != null);
    int results = 0;
    for (int i = 1; i < events.size(); i++) {
      ConversationEvent event = events.get(i);
      String turn = SessionScript.resultsOf(event);
      if (turn == null) {
        continue;
      }
      results++;
      ConversationEvent calls = events.get(i - 1);
      assertThat(calls.turn()).isEqualTo(turn);
      assertThat(calls.branch()).isEqualTo(event.branch());
      assertThat(calls.options().tools()).isEqualTo(event.options().tools());
      assertThat(SessionScript.needsQuiet(event)).isTrue();
      Reply reply =
          Reply.builder("s", "main", turn, EventKind.MESSAGE)
              .toolCalls(List.of(new ToolCall("c1", "find_light", "{}")))
              .build();
      ConversationEvent resolved = SessionScript.withResults(event, reply);
      assertThat(resolved.messages()).extracting(Message::toolCallId).containsExactly("c1");
      assertThat(SessionScript.resultsOf(resolved)).isNull();
      Reply none = reply.toBuilder().toolCalls(List.of()).build();
      assertThat(SessionScript.withResults(event, none).messages()).isEqualTo(event.messages());
    }
    assertThat(results).isGreaterThan(20);
  }

  @Test
  void nothingFollowsACancelledTurnOnItsBranch() {
    int alone = 0;
    int behind = 0;
    int all = 0;
    int early = 0;
    for (List<ConversationEvent> session : sessions()) {
      for (int i = 0; i < session.size(); i++) {
        ConversationEvent cancel = session.get(i);
        if (cancel.kind() != EventKind.CANCEL) {
          continue;
        }
        assertThat(SessionScript.pauseBefore(cancel)).isBetween(0L, 3_000L);
        boolean before = session.get(i + 1).kind() == EventKind.MESSAGE;
        int next = before ? i + 2 : i + 1;
        ConversationEvent fork = session.get(next);
        assertThat(fork.kind()).isEqualTo(EventKind.FORK);
        assertThat(session.get(next + 1).branch()).isEqualTo(fork.newBranch());
        assertThat(session.subList(next + 1, session.size()))
            .noneMatch(event -> !ends(event) && event.branch().equals(cancel.branch()));
        early += before ? 1 : 0;
        all += cancel.turn() == null ? 1 : 0;
        behind += String.valueOf(cancel.turn()).endsWith("-second") ? 1 : 0;
        alone += before || cancel.turn() == null || cancel.turn().endsWith("-second") ? 0 : 1;
      }
    }
    assertThat(List.of(alone, behind, all, early)).allMatch(count -> count > 5);
  }

  @Test
  void someTurnsAreGreedySomeHaveASeedAndSomeNone() {
    assertThat(manySessions().stream().filter(event -> event.options() != null))
        .anyMatch(event -> event.options().temperature() == 0)
        .anyMatch(event -> event.options().seed() != null)
        .anyMatch(event -> event.options().temperature() > 0 && event.options().seed() == null);
  }

  @Test
  void aSessionMayEndClosedOrErasedAndMayBelongToATenant() {
    for (List<ConversationEvent> session : sessions()) {
      assertThat(session.subList(0, session.size() - 1)).noneMatch(SessionScriptTest::ends);
    }
    List<ConversationEvent> last =
        sessions().stream().map(each -> each.get(each.size() - 1)).toList();
    assertThat(last).filteredOn(event -> event.kind() == EventKind.CLOSE).hasSize(25);
    assertThat(last).filteredOn(event -> event.kind() == EventKind.ERASE).hasSize(25);
    assertThat(last).filteredOn(SessionScriptTest::ends).allMatch(SessionScript::needsQuiet);
    assertThat(sessions())
        .allSatisfy(
            session ->
                assertThat(session)
                    .extracting(ConversationEvent::tenant)
                    .containsOnly(session.get(0).tenant()))
        .filteredOn(session -> !session.get(0).tenant().isEmpty())
        .hasSize(20);
  }

  private static boolean ends(ConversationEvent event) {
    return event.kind() == EventKind.CLOSE || event.kind() == EventKind.ERASE;
  }

  private static List<ConversationEvent> manySessions() {
    List<ConversationEvent> events = new ArrayList<>();
    sessions().forEach(events::addAll);
    return events;
  }

  private static List<List<ConversationEvent>> sessions() {
    return IntStream.range(0, 100).mapToObj(n -> SessionScript.of(1, n, 8, 50)).toList();
  }
}
