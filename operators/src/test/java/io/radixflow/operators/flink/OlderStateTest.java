package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.TierTokens;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.operators.session.SessionSlot;
import java.util.Map;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** State as builds wrote it whose slots had the system prompt, and whose pages were a state. */
class OlderStateTest {
  private static final String SYSTEM = "Answer in one word.";
  private static final SessionPages PAGES =
      new SessionPages("main", 16, new TierTokens(16, 0, 0, 0), 7, 7, "epoch", null, null);

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theSystemPromptOfAnOlderBuildIsPartOfTheConversation(boolean rocksDb) throws Exception {
    try (ServingHarness h = restored(rocksDb)) {
      assertThat(h.slotState("s").value().system()).isNull();
      h.send(Events.of(EventKind.QUERY, "s", "q")).settle();
      assertThat(h.reply("q").items())
          .extracting(Reply.Item::role, Reply.Item::content)
          .containsExactly(tuple("system", SYSTEM));
    }
  }

  @Test
  void whatWasMovedIsThereAfterTheNextRestore() throws Exception {
    try (ServingHarness h = restored(false)) {
      OperatorSubtaskState again = h.snapshot();
      try (ServingHarness next = harness(false)) {
        next.restore(again, 1);
        assertThat(next.pages("s")).isEqualTo(PAGES);
        next.send(Events.of(EventKind.QUERY, "s", "q")).settle();
        assertThat(next.reply("q").items()).extracting(Reply.Item::content).containsExactly(SYSTEM);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void pagesOfAnOlderBuildMoveIntoTheSlotAndLeaveNothing(boolean rocksDb) throws Exception {
    try (ServingHarness h = restored(rocksDb)) {
      assertThat(h.pages("s")).isEqualTo(PAGES);
      assertThat(olderPages(h, "s").value()).isNull();
      assertThat(h.pages("unknown")).isNull();
      assertThat(olderPages(h, "unknown").value()).isNull();
    }
  }

  private static ServingHarness restored(boolean rocksDb) throws Exception {
    try (ServingHarness older = harness(rocksDb)) {
      older.open();
      older
          .slotState("s")
          .update(
              new SessionSlot(
                  SessionSlot.Life.OPEN,
                  true,
                  "",
                  "",
                  SYSTEM,
                  null,
                  1,
                  Map.of(),
                  1_000,
                  null,
                  0,
                  null,
                  false,
                  false));
      olderPages(older, "s").update(PAGES);
      olderPages(older, "unknown").update(PAGES);
      ServingHarness next = harness(rocksDb);
      next.restore(older.snapshot(), 1);
      return next;
    }
  }

  private static ServingHarness harness(boolean rocksDb) throws Exception {
    return ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT)
        .setBackend(rocksDb);
  }

  private static ValueState<SessionPages> olderPages(ServingHarness h, String session)
      throws Exception {
    h.serving().setCurrentKey(session);
    return h.serving()
        .getPartitionedState(
            VoidNamespace.INSTANCE, VoidNamespaceSerializer.INSTANCE, SavedState.olderPages());
  }
}
