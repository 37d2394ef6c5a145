package io.radixflow.operators.flink.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.turn.run.HistoryMatchTest;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.text.template.Message;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The first event of a session reads its slot; later ones, and the ends of its turns, have it in
 * memory. Each writes it once.
 */
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
  void onlyTheFirstMessageOfASessionReadsTheSlotAndEachWritesItOnce() throws Exception {
    h.send(Events.message("s", "t1"));
    assertThat(h.engine().running()).as("the turn has started, too").isEqualTo(1);
    assertThat(CountingStateBackend.calls("pending-turns", "get")).isZero();
    assertSlot(1, 1);
    h.settle();
    CountingStateBackend.reset();
    h.send(Events.message("s", "t2"));
    assertSlot(0, 1);
  }

  @Test
  void theSlotOfASessionWithOptionsOfItsOwnIsReadForEachEvent() throws Exception {
    h.send(Events.of(EventKind.OPEN, "s", "o").with(Events.maxTokens(3)));
    CountingStateBackend.reset();
    h.send(Events.message("s", "t1"));
    assertSlot(1, 1);
    h.settle();
    assertThat(h.reply("t1").finishReason()).isEqualTo("length");
  }

  @Test
  void theEndOfATurnWritesTheSlotOnce() throws Exception {
    h.send(Events.message("s", "t1"));
    CountingStateBackend.reset();
    h.settle();
    assertThat(h.endings()).containsExactly("t1:stop");
    assertSlot(0, 1);
  }

  @Test
  void theEndOfAWaitingTurnsPredecessorStartsItAndWritesTheSlotOnce() throws Exception {
    h.send(Events.message("s", "t1"), Events.message("s", "t2"));
    h.generate(6);
    CountingStateBackend.reset();
    h.generate(1);
    assertThat(h.endings()).containsExactly("t1:stop");
    assertThat(h.engine().running()).isEqualTo(1);
    assertSlot(0, 1);
  }

  @Test
  void eventsWithoutATurnWriteTheSlotOnce() throws Exception {
    h.send(Events.of(EventKind.OPEN, "s", "o"));
    assertSlot(1, 1);
    h.send(Events.fork("s", "f", "b", null));
    assertSlot(0, 1);
    h.send(Events.of(EventKind.QUERY, "s", "q"));
    assertSlot(0, 1);
    h.send(Events.of(EventKind.CLOSE, "s", "c"));
    assertSlot(0, 1);
    h.send(Events.message("s", "t"));
    assertThat(h.reply("t").finishReason()).isEqualTo("rejected");
    CountingStateBackend.reset();
    h.send(Events.of(EventKind.ERASE, "s", "e"));
    assertSlot(0, 1);
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
  void aTurnThatFollowsAnotherWritesTheSlotOnceAndReadsNoTurn() throws Exception {
    h.send(Events.message("s", "t1")).settle();
    for (String turn : List.of("t2", "t3")) {
      CountingStateBackend.reset();
      h.send(
          ConversationEvent.builder(EventKind.MESSAGE, "s", turn)
              .messages(List.of(new Message("user", "text")))
              .previousTurn("t1")
              .build());
      assertThat(CountingStateBackend.calls("turns", "get")).isZero();
      assertSlot(0, 1);
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
      assertSlot(i == 0 ? 1 : 0, 1);
      h.settle();
      conversation.add(new Message("assistant", h.reply("t" + i).text()));
    }
  }

  @Test
  void aResendReadsAndWritesNothing() throws Exception {
    h.send(Events.message("s", "t").from(0, 1)).settle();
    CountingStateBackend.reset();
    h.send(Events.message("s", "t").from(0, 1));
    assertSlot(0, 0);
  }
}
