package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.session.ServingOptions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An event and the end of a turn each read and write the state of their session once. */
class StateAccessTest {
  private ServingHarness h;

  @BeforeEach
  void open() throws Exception {
    h = ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT);
    h.setStateBackend(new CountingStateBackend());
    h.open();
    CountingStateBackend.reset();
  }

  @AfterEach
  void close() throws Exception {
    h.close();
  }

  private void assertSlot(int reads, int writes) {
    assertThat(CountingStateBackend.calls("slot", "value")).as("reads").isEqualTo(reads);
    assertThat(CountingStateBackend.calls("slot", "update")).as("writes").isEqualTo(writes);
    CountingStateBackend.reset();
  }

  @Test
  void anAcceptedMessageReadsAndWritesTheSlotOnce() throws Exception {
    h.send(Events.message("s", "t1"));
    assertThat(h.engine().running()).as("the turn has started, too").isEqualTo(1);
    assertThat(CountingStateBackend.calls("pending-turns", "get")).isZero();
    assertSlot(1, 1);
    h.settle();
    CountingStateBackend.reset();
    h.send(Events.message("s", "t2"));
    assertSlot(1, 1);
  }

  @Test
  void theEndOfATurnReadsAndWritesTheSlotOnce() throws Exception {
    h.send(Events.message("s", "t1"));
    CountingStateBackend.reset();
    h.settle();
    assertThat(h.endings()).containsExactly("t1:stop");
    assertSlot(1, 1);
  }

  @Test
  void theEndOfAWaitingTurnsPredecessorReadsTheSlotOnceMoreToStartIt() throws Exception {
    h.send(Events.message("s", "t1"), Events.message("s", "t2"));
    h.generate(6);
    CountingStateBackend.reset();
    h.generate(1);
    assertThat(h.endings()).containsExactly("t1:stop");
    assertThat(h.engine().running()).isEqualTo(1);
    assertSlot(2, 1);
  }

  @Test
  void eventsWithoutATurnReadAndWriteTheSlotOnce() throws Exception {
    h.send(Events.of(EventKind.OPEN, "s", "o"));
    assertSlot(1, 1);
    h.send(Events.fork("s", "f", "b", null));
    assertSlot(1, 1);
    h.send(Events.of(EventKind.QUERY, "s", "q"));
    assertSlot(1, 1);
    h.send(Events.of(EventKind.CLOSE, "s", "c"));
    assertSlot(1, 1);
    h.send(Events.message("s", "t"));
    assertThat(h.reply("t").finishReason()).isEqualTo("rejected");
    CountingStateBackend.reset();
    h.send(Events.of(EventKind.ERASE, "s", "e"));
    assertSlot(1, 1);
  }

  @Test
  void aMessageOfAnActiveSessionReadsNoTurnOfItsHistory() throws Exception {
    h.send(Events.message("s", "t1")).settle();
    h.send(Events.message("s", "t2")).settle();
    CountingStateBackend.reset();
    h.send(Events.message("s", "t3")).settle();
    assertThat(CountingStateBackend.calls("turns", "get")).isZero();
  }

  @Test
  void aTurnThatFollowsAnotherReadsAndWritesTheSlotOnceAndNoTurn() throws Exception {
    h.send(Events.message("s", "t1")).settle();
    for (String turn : List.of("t2", "t3")) {
      CountingStateBackend.reset();
      h.send(
          ConversationEvent.builder(EventKind.MESSAGE, "s", turn)
              .messages(List.of(new Message("user", "text")))
              .previousTurn("t1")
              .build());
      assertThat(CountingStateBackend.calls("turns", "get")).isZero();
      assertSlot(1, 1);
    }
  }

  @Test
  void aConversationThatGrewIsFoundInOneLookUpWithoutReadingATurn() throws Exception {
    List<Message> conversation = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      conversation.add(new Message("user", "text " + i));
      CountingStateBackend.reset();
      h.send(HistoryMatchTest.whole("t" + i, conversation));
      assertThat(CountingStateBackend.calls("turn-numbers", "get")).isEqualTo(i == 0 ? 0 : 1);
      assertThat(CountingStateBackend.calls("turns", "get")).isZero();
      assertSlot(1, 1);
      h.settle();
      conversation.add(new Message("assistant", h.reply("t" + i).text()));
    }
  }

  @Test
  void aResendReadsTheSlotAndWritesNothing() throws Exception {
    h.send(Events.message("s", "t").from(0, 1)).settle();
    CountingStateBackend.reset();
    h.send(Events.message("s", "t").from(0, 1));
    assertSlot(1, 0);
  }
}
