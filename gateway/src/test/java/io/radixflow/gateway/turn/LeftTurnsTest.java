package io.radixflow.gateway.turn;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.model.registry.PrometheusRegistry;
import io.radixflow.gateway.FakeTopics;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Usage;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Clients that come and go faster than the job ends their turns. */
class LeftTurnsTest {

  private final FakeTopics topics = new FakeTopics();
  private final Turns turns = new Turns(topics, new PrometheusRegistry());
  private final List<TurnFailure> failures = new ArrayList<>();
  private int count;

  private TurnStream start(String tenant) {
    String id = "t" + count++;
    ConversationEvent event =
        ConversationEvent.builder(EventKind.MESSAGE, "session " + id, id).tenant(tenant).build();
    return turns.start(
        event, new Following(Runnable::run, false, 1024, TurnObserver.NONE), listener());
  }

  private TurnListener listener() {
    return new TurnListener() {
      @Override
      public void piece(TurnPiece piece) {}

      @Override
      public void ended(TurnEnd end) {}

      @Override
      public void failed(TurnFailure failure) {
        failures.add(failure);
      }
    };
  }

  @Test
  void aTenantThatLeavesTurnsFasterThanTheyEndGetsNoMoreForAWhile() {
    ConversationEvent first = null;
    for (int i = 0; i < LeftTurns.MOST; i++) {
      TurnStream stream = start("flood");
      ConversationEvent event = topics.next();
      first = first == null ? event : first;
      stream.cancel();
      assertThat(topics.next().kind()).isEqualTo(EventKind.CANCEL);
    }
    assertThat(turns.followed()).isZero();

    start("flood");
    assertThat(failures).extracting(TurnFailure::reason).containsExactly(TurnFailure.Reason.BUSY);
    assertThat(topics.hasEvents()).isFalse();

    start("patient");
    assertThat(topics.next().tenant()).isEqualTo("patient");

    topics.end(first, 0, "cancelled", Usage.NONE);
    start("flood");
    assertThat(topics.next().tenant()).isEqualTo("flood");
    assertThat(failures).hasSize(1);
  }

  @Test
  void aTurnWhoseCancelCannotBeSentIsNotWaitedFor() {
    for (int i = 0; i < LeftTurns.MOST; i++) {
      topics.accept();
      TurnStream stream = start("flood");
      topics.refuse();
      stream.cancel();
    }
    topics.accept();
    start("flood");
    assertThat(failures).isEmpty();
  }
}
