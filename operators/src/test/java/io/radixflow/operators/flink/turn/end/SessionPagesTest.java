package io.radixflow.operators.flink.turn.end;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.kv.SlotState;
import io.radixflow.protocol.record.kv.TierTokens;
import io.radixflow.text.template.Message;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The state keeps where sessions' pages are, and queries report it. */
@Timeout(180)
class SessionPagesTest {
  private static final String LONG = "a question of a few pages ".repeat(4);

  private static Events message(String session, String turn) {
    return Events.message(session, turn).with(new Message("user", LONG));
  }

  private static Events query(String session, String turn) {
    return Events.of(EventKind.QUERY, session, turn);
  }

  /** Tokens of whole pages that are computed once the n-th prompt has its reply of 7 tokens. */
  private static int committed(ServingHarness h, int turn) {
    return (h.engine().submitted().get(turn).prompt().length + 7 - 1) / 16 * 16;
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aTurnLeavesItsCommittedLengthAndWhenItEnded(boolean rocksDb) throws Exception {
    try (ServingHarness h =
        ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT)
            .setBackend(rocksDb)) {
      h.open();
      assertThat(h.pages("s")).isNull();
      h.setProcessingTime(5_000);
      h.send(message("s", "t1")).settle();
      int committed = committed(h, 0);
      assertThat(committed).isGreaterThan(100);
      assertThat(h.pages("s"))
          .isEqualTo(
              new SessionPages(
                  "main",
                  committed,
                  new TierTokens(committed, 0, 0, 0),
                  5_000,
                  5_000,
                  "scripted",
                  null,
                  null));
      h.setProcessingTime(6_000);
      h.send(message("s", "t2")).settle();
      assertThat(h.pages("s").committedTokens())
          .isEqualTo(committed(h, 1))
          .isGreaterThan(committed);
      assertThat(h.pages("s").lastUsed()).isEqualTo(6_000);
      assertThat(h.pages("s").asOf()).isEqualTo(6_000);
    }
  }

  @Test
  void nothingIsWrittenWhileATurnRunsOrForOneThatStoresNothing() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("s", "t1")).generate(3);
      assertThat(h.pages("s")).isNull();
      h.settle();
      SessionPages first = h.pages("s");
      CacheHints noStore = new CacheHints(true, 0, List.of(), null);
      h.send(message("s", "t2").with(e -> e.cache(noStore))).settle();
      assertThat(h.pages("s")).isEqualTo(first);
      h.send(query("s", "q1"), query("s", "q2"));
      assertThat(h.pages("s")).isEqualTo(first);
    }
  }

  @Test
  void aQueryReportsTheTokensOfEachTier() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.setProcessingTime(7_000);
      h.send(message("s", "t1")).settle();
      h.setProcessingTime(8_000);
      h.send(query("s", "q"));
      int committed = committed(h, 0);
      assertThat(h.reply("q").status()).isEqualTo("warm");
      assertThat(h.reply("q").pages())
          .isEqualTo(new Reply.Pages(committed, new TierTokens(committed, 0, 0, 0), 7_000, 8_000));
      assertThat(h.pages("s").asOf()).isEqualTo(8_000);
    }
  }

  @Test
  void aForkIsFoundWhereItsParentIs() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("s", "t1"), Events.fork("s", "f", "other", null)).settle();
      h.send(query("s", "q").on("other"));
      assertThat(h.reply("q").status()).isEqualTo("warm");
      assertThat(h.reply("q").pages().tokens().device()).isEqualTo(committed(h, 0));
      assertThat(h.reply("q").pages().lastUsed()).as("of a branch without turns").isZero();
    }
  }

  @Test
  void aQueryThatIsNotAnsweredAfterARestartKeepsWhatWasKnown() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("s", "t1")).settle();
      OperatorSubtaskState state = h.snapshot();
      ScriptedEngine silent = new ScriptedEngine(4096, 6);
      silent.holdPlaces();
      try (ServingHarness next = ServingHarness.of(silent, ServingOptions.DEFAULT)) {
        next.setProcessingTime(9_000);
        next.restore(state, 1);
        assertThat(next.pages("s")).isEqualTo(h.pages("s"));
        next.send(query("s", "q"));
        next.prepareSnapshot(2);
        assertThat(next.reply("q").status()).isEqualTo("gone");
        assertThat(next.reply("q").pages())
            .isEqualTo(new Reply.Pages(committed(h, 0), TierTokens.NONE, 1_000, 1_000));
      }
    }
  }

  @Test
  void noQueryWaitsBehindABarrierOrBehindTheEndOfItsSession() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("a", "t1"), message("b", "t1"), message("c", "t1")).settle();
      h.engine().holdPlaces();
      h.send(query("a", "qa"), query("b", "qb"), query("c", "qc"));
      h.runMails();
      assertThat(h.endings()).containsExactly("t1:stop", "t1:stop", "t1:stop");
      h.send(Events.of(EventKind.ERASE, "a", "e"));
      assertThat(h.reply("qa").status()).isEqualTo("warm");
      assertThat(h.reply("qa").items()).hasSize(2);
      assertThat(h.endings()).endsWith("qa:stop", "e:stop");
      assertThat(h.pages("a")).isNull();
      h.send(Events.of(EventKind.CLOSE, "b", "c"));
      assertThat(h.endings()).endsWith("qb:stop", "c:stop");
      h.prepareSnapshot(1);
      assertThat(h.endings()).endsWith("qc:stop");
      assertThat(h.reply("qc").status()).isEqualTo("warm");
      h.prepareSnapshot(2);
      h.endInput(1);
      assertThat(h.endings()).as("each once").hasSize(3 + 3 + 2);
    }
  }

  @Test
  void theEndOfTheInputAnswersOpenQueries() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("s", "t1")).settle();
      h.engine().holdPlaces();
      h.send(query("s", "q")).endInput(1);
      assertThat(h.reply("q").status()).isEqualTo("warm");
    }
  }

  private static void assertCounted(ServingHarness h, int warm, int cold) {
    assertThat(h.sessions(SlotState.WARM)).as("warm").isEqualTo(warm);
    assertThat(h.sessions(SlotState.COLD)).as("cold").isEqualTo(cold);
  }

  @Test
  void aSessionCountsAsWarmBetweenItsTurnsUntilItEnds() throws Exception {
    ServingOptions options = Options.with(o -> o.retention = Duration.ofSeconds(10));
    try (ServingHarness h = ServingHarness.opened(options)) {
      h.send(
          Events.of(EventKind.OPEN, "a", "o"),
          message("b", "t1"),
          message("c", "t1"),
          message("d", "t1"));
      assertCounted(h, 0, 0);
      h.settle();
      assertCounted(h, 3, 0);
      h.send(message("b", "t2"));
      assertCounted(h, 2, 0);
      h.send(query("b", "q"));
      assertCounted(h, 2, 0);
      h.send(Events.of(EventKind.CANCEL, "b", "t2")).settle();
      assertCounted(h, 3, 0);
      h.send(Events.of(EventKind.CLOSE, "b", "c"), Events.of(EventKind.ERASE, "c", "e"));
      assertCounted(h, 1, 0);
      h.setProcessingTime(25_000);
      assertCounted(h, 0, 0);
    }
  }

  @Test
  void everyOpenSessionIsCountedInOneStateBeforeAndAfterARestore() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.of(EventKind.OPEN, "fresh", "o"), message("idle", "t1")).settle();
      h.send(message("hot", "t1"));
      assertThat(states(h)).containsExactly(1, 1, 0, 1);
      OperatorSubtaskState state = h.snapshot();
      try (ServingHarness next =
          ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT)
              .restore(state, 1)) {
        assertThat(states(next))
            .as("its pages were in another process")
            .containsExactly(1, 0, 0, 2);
        next.settle();
        assertThat(states(next)).containsExactly(0, 1, 0, 2);
      }
    }
  }

  private static List<Integer> states(ServingHarness h) {
    return Stream.of(SlotState.values()).map(h::sessions).toList();
  }

  @Test
  void aFailedLookupKeepsWhatWasKnown() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("s", "t1")).settle();
      SessionPages before = h.pages("s");
      h.engine().holdPlaces();
      h.setProcessingTime(2_000);
      h.send(query("s", "q"));
      h.engine().failPlaces();
      h.runMails();
      assertThat(h.reply("q").status()).isEqualTo("warm");
      assertThat(h.pages("s")).isEqualTo(before);
    }
  }

  @Test
  void theResultOfALookupIsIgnoredIfATurnHasEndedSince() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("s", "t1")).settle();
      h.engine().holdPlaces();
      h.send(query("s", "q"), message("s", "t2")).settle();
      SessionPages newer = h.pages("s");
      h.engine().releasePlaces(new TierTokens(0, 16, 0, 0));
      h.runMails();
      assertThat(h.reply("q").status()).isEqualTo("cold");
      assertThat(h.pages("s")).isEqualTo(newer);
    }
  }

  @Test
  void theStateIsEmptyAfterAnEraseACloseAndTheRetention() throws Exception {
    ServingOptions options = Options.with(o -> o.retention = Duration.ofSeconds(10));
    try (ServingHarness h = ServingHarness.opened(options)) {
      for (String session : List.of("a", "b", "c", "d")) {
        h.send(message(session, "t1").of("d".equals(session) ? "acme" : "")).settle();
        assertThat(h.pages(session)).isNotNull();
      }
      h.send(Events.of(EventKind.CLOSE, "a", "c"), Events.of(EventKind.ERASE, "b", "e"));
      h.control("erase_tenant", "acme", null).runMails();
      assertThat(h.pages("a")).isNull();
      assertThat(h.pages("b")).isNull();
      assertThat(h.pages("d")).isNull();
      h.setProcessingTime(25_000);
      assertThat(h.pages("c")).isNull();
      assertThat(h.numKeyedStateEntries()).isZero();
    }
  }

  @Test
  void aTurnCutByTheEndOfItsSessionLeavesNoState() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(message("s", "t1")).settle().send(message("s", "t2")).generate(3);
      h.send(Events.of(EventKind.ERASE, "s", "e")).settle();
      assertThat(h.pages("s")).isNull();
    }
  }

  @ParameterizedTest
  @CsvSource({"1,2,false", "1,2,true", "2,1,false", "2,1,true"})
  void itMovesWithItsKeyGroup(int before, int after, boolean rocksDb) throws Exception {
    OperatorSubtaskState[] states = new OperatorSubtaskState[before];
    SessionPages[] known = new SessionPages[8];
    for (int i = 0; i < before; i++) {
      try (ServingHarness h =
          ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT, before, i)
              .setBackend(rocksDb)) {
        h.open();
        for (int s = 0; s < known.length; s++) {
          if (ServingHarness.ownerOf("s" + s, before) == i) {
            h.send(message("s" + s, "t1")).settle();
            known[s] = h.pages("s" + s);
          }
        }
        states[i] = h.snapshot();
      }
    }
    OperatorSubtaskState state = AbstractStreamOperatorTestHarness.repackageState(states);
    for (int i = 0; i < after; i++) {
      try (ServingHarness h =
          ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT, after, i)
              .setBackend(rocksDb)) {
        h.restore(state, before);
        for (int s = 0; s < known.length; s++) {
          if (ServingHarness.ownerOf("s" + s, after) == i) {
            assertThat(known[s]).isNotNull();
            assertThat(h.pages("s" + s)).isEqualTo(known[s]);
          }
        }
      }
    }
  }

  @Test
  void theExpectedTiersDependOnEngineDiskAndFolder() {
    TierTokens tokens = new TierTokens(64, 32, 16, 8);
    SessionPages pages = new SessionPages("main", 128, tokens, 1, 1, "epoch", "home", "far");
    assertThat(pages.expected(true, "epoch", "home", "far")).isEqualTo(tokens);
    assertThat(pages.expected(false, "epoch", "home", "far"))
        .isEqualTo(new TierTokens(0, 0, 16, 8));
    assertThat(pages.expected(false, "epoch", "other", "far"))
        .isEqualTo(new TierTokens(0, 0, 0, 8));
    assertThat(pages.expected(false, "epoch", "home", null)).isEqualTo(new TierTokens(0, 0, 16, 0));
    assertThat(pages.expected(false, "other", "home", "far")).isEqualTo(TierTokens.NONE);
  }
}
