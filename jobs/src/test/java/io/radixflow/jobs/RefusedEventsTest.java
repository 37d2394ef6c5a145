package io.radixflow.jobs;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.RejectedEvent;
import io.radixflow.protocol.topic.DeadLetter;
import org.junit.jupiter.api.Test;

class RefusedEventsTest {

  @Test
  void anEventOfUnknownOriginIsKept() {
    DeadLetter letter =
        new RefusedEvents("events", 1000).map(new RejectedEvent(fork("s", null), "no such turn"));
    assertThat(letter)
        .returns("events", DeadLetter::topic)
        .returns(-1, DeadLetter::partition)
        .returns(-1L, DeadLetter::offset)
        .returns(-1L, DeadLetter::timestamp)
        .returns("no such turn", DeadLetter::reason);
    assertThat(letter.key()).isEqualTo("s".getBytes(UTF_8));
    assertThat(letter.originalBytes()).isEqualTo(letter.value().length);
  }

  @Test
  void keyAndValueAreCutToTheLimitAndTheSizeIsKept() {
    Origin origin = new Origin(1, 2, 3);
    RejectedEvent rejected = new RejectedEvent(fork("s".repeat(100), origin), "no such turn");
    DeadLetter whole = new RefusedEvents("events", 1000).map(rejected);
    DeadLetter cut = new RefusedEvents("events", 60).map(rejected);
    assertThat(whole).returns(1, DeadLetter::partition).returns(2L, DeadLetter::offset);
    assertThat(cut.key()).isEqualTo("s".repeat(30).getBytes(UTF_8));
    assertThat(new String(whole.value(), UTF_8)).startsWith(new String(cut.value(), UTF_8));
    assertThat(cut.value()).hasSize(30);
    assertThat(cut.originalBytes()).isEqualTo(whole.value().length);
  }

  private static ConversationEvent fork(String session, Origin origin) {
    return ConversationEvent.builder(EventKind.FORK, session, null)
        .newBranch("b")
        .atTurn("nope")
        .origin(origin)
        .build();
  }
}
