package io.radixflow.lab.drill;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.lab.traffic.Script.Step;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import java.util.List;
import org.junit.jupiter.api.Test;

class EventScriptTest {

  private static ConversationEvent event(EventKind kind, String turn) {
    return ConversationEvent.builder(kind, "s", turn).build();
  }

  private static EventScript script(ConversationEvent... events) {
    return new EventScript(List.of(events));
  }

  @Test
  void twoTurnsAreInFlightAtMostAndAForkWaitsForBoth() {
    EventScript script =
        script(
            event(EventKind.MESSAGE, "1"),
            event(EventKind.MESSAGE, "2"),
            event(EventKind.MESSAGE, "3"),
            event(EventKind.FORK, "4"),
            event(EventKind.MESSAGE, "5"));

    assertThat(script.next(0).turn().turn()).isEqualTo("1");
    assertThat(script.next(1).turn().turn()).isEqualTo("2");
    assertThat(script.next(2)).isNull();
    assertThat(script.next(1).turn().turn()).isEqualTo("3");
    assertThat(script.next(1)).as("a fork needs quiet").isNull();
    assertThat(script.next(0).turn().turn()).isEqualTo("4");
    assertThat(script.next(1)).as("nothing is sent next to a fork").isNull();
    assertThat(script.next(0).turn().turn()).isEqualTo("5");
    assertThat(script.ended()).isTrue();
  }

  @Test
  void aCancelFollowsItsTurnAfterAMomentAndIsNotWaitedFor() {
    ConversationEvent cancel = event(EventKind.CANCEL, "1");
    EventScript script = script(event(EventKind.MESSAGE, "1"), cancel);

    script.next(0);
    Step<ConversationEvent> step = script.next(1);
    assertThat(step.turn()).isEqualTo(cancel);
    assertThat(step.answered()).isFalse();
    assertThat(step.pauseMillis()).isEqualTo(SessionScript.pauseBefore(cancel));
  }

  @Test
  void aCancelThatComesBeforeItsTurnIsSentAtOnce() {
    EventScript script = script(event(EventKind.CANCEL, "1"), event(EventKind.MESSAGE, "1"));

    assertThat(script.next(0).pauseMillis()).isZero();
    assertThat(script.next(0).turn().kind()).isEqualTo(EventKind.MESSAGE);
  }
}
