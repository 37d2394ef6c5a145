package io.radixflow.jobs.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.jobs.event.EventParser;
import io.radixflow.jobs.event.EventWriter;
import io.radixflow.operators.session.ConversationEvent;
import io.radixflow.operators.session.EventKind;
import io.radixflow.operators.session.Origin;
import java.util.ArrayList;
import java.util.List;
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
    assertThat(events.stream().map(TurnKey::of)).doesNotHaveDuplicates();
  }

  @Test
  void someTurnsAreGreedySomeHaveASeedAndSomeNone() {
    assertThat(manySessions().stream().filter(event -> event.options() != null))
        .anyMatch(event -> event.options().temperature() == 0)
        .anyMatch(event -> event.options().seed() != null)
        .anyMatch(event -> event.options().temperature() > 0 && event.options().seed() == null);
  }

  private static List<ConversationEvent> manySessions() {
    List<ConversationEvent> events = new ArrayList<>();
    for (int number = 0; number < 100; number++) {
      events.addAll(SessionScript.of(1, number, 8, 50));
    }
    return events;
  }
}
