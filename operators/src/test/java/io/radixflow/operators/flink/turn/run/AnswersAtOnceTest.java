package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.Overflow;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.TraceContext;
import java.util.List;
import java.util.Objects;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Replies that are not generated are seen in a delta, before the checkpoint that commits them. */
@Timeout(180)
class AnswersAtOnceTest {

  /** Returns the only delta of a turn. */
  private static ReplyDelta delta(ServingHarness h, String turn) {
    List<ReplyDelta> found =
        h.deltas().stream().filter(delta -> delta.turn().equals(turn)).toList();
    assertThat(found).as(turn).hasSize(1);
    return found.get(0);
  }

  @Test
  void everyEventWithATurnIdHasALastDelta() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(
          Events.of(EventKind.OPEN, "s", "open"),
          Events.of(EventKind.PREFETCH, "s", "prefetch"),
          Events.fork("s", "fork", "b", null),
          Events.of(EventKind.CANCEL, "s", "later"),
          Events.message("s", "later"),
          Events.of(EventKind.CLOSE, "s", "close"),
          Events.of(EventKind.ERASE, "s", "erase"));
      for (String turn : List.of("open", "prefetch", "fork", "close", "erase")) {
        assertThat(delta(h, turn).finishReason()).as(turn).isEqualTo("stop");
        assertThat(delta(h, turn).attempt()).isEqualTo(h.reply(turn).attempt());
      }
      assertThat(delta(h, "later").finishReason()).isEqualTo("cancelled");
    }
  }

  @Test
  void theDeltaOfAQueryHasItsAnswer() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t")).settle();
      h.send(Events.of(EventKind.QUERY, "s", "q"));
      assertThat(delta(h, "q").answer()).isEqualTo(h.reply("q"));
      assertThat(delta(h, "q").answer().items()).hasSize(2);
    }
  }

  @Test
  void theDeltaOfARejectedTurnSaysWhy() throws Exception {
    try (ServingHarness h =
        ServingHarness.of(
            new ScriptedEngine(64, 6), Options.with(o -> o.overflow = Overflow.REJECT))) {
      h.open();
      h.send(Events.of(EventKind.REGENERATE, "s", "early"));
      h.send(Events.message("s", "long", "x".repeat(100))).settle();
      for (String turn : List.of("early", "long")) {
        assertThat(delta(h, turn).finishReason()).isEqualTo("rejected");
        assertThat(delta(h, turn).error()).isNotNull().isEqualTo(h.reply(turn).error());
      }
    }
  }

  @Test
  void deltasAndReplyHaveTheTraceOfTheirEventAlsoAfterARestore() throws Exception {
    TraceContext trace = new TraceContext("00-1-2-01", "a=b");
    Origin traced = new Origin(0, 5, 0, trace);
    OperatorSubtaskState state;
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").with(e -> e.origin(traced)));
      h.send(Events.message("s", "t2")).generate(3);
      h.send(Events.of(EventKind.QUERY, "s", "q").with(e -> e.origin(new Origin(0, 6, 0, trace))));
      assertThat(delta(h, "q").trace()).isEqualTo(h.reply("q").trace()).isEqualTo(trace);
      assertThat(h.deltas()).isNotEmpty().allMatch(delta -> trace.equals(delta.trace()));
      state = h.snapshot();
    }
    try (ServingHarness h =
        ServingHarness.of(new ScriptedEngine(4096, 6), ServingOptions.DEFAULT)) {
      h.restore(state, 1).settle();
      assertThat(h.reply("t1").trace()).isEqualTo(trace);
      assertThat(h.reply("t2").trace()).isNull();
      assertThat(h.deltas())
          .allMatch(delta -> Objects.equals(delta.trace(), h.reply(delta.turn()).trace()));
    }
  }

  @Test
  void aReplyGoesOnPastTheEndOfItsTurnIfAsked() throws Exception {
    GenerationOptions ten = GenerationOptions.builder().maxTokens(10).build();
    GenerationOptions past = GenerationOptions.builder().maxTokens(10).ignoreEos(true).build();
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1").with(ten), Events.message("s", "t2").with(past)).settle();
      h.send(Events.of(EventKind.OPEN, "d", "o").with(past), Events.message("d", "t3")).settle();
      assertThat(h.endings()).containsExactly("t1:stop", "t2:length", "o:stop", "t3:length");
      assertThat(h.reply("t2").usage().completionTokens()).isEqualTo(10);
    }
  }
}
