package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.EventKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class ControlTest {

  @Test
  void drainRefusesNewTurnsAndFinishesWhatRuns() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("s", "t1"), Events.message("s", "t2"));
      h.control("drain", null, null).send(Events.message("s", "t3")).settle();
      assertThat(h.endings()).containsExactly("t3:rejected", "t1:stop", "t2:stop");
      h.control("drain", null, "off").send(Events.message("s", "t4")).settle();
      assertThat(h.reply("t4").finishReason()).isEqualTo("stop");
    }
  }

  @Test
  void limitsChangeAtOnceAndSurviveARestore() throws Exception {
    ScriptedEngine engine = new ScriptedEngine(4096, 6);
    try (ServingHarness h = ServingHarness.opened()) {
      h.control("limits", "acme", "max_queued_per_tenant=0");
      h.control("limits", null, "max_queued_per_session=1, max_queued_per_taskmanager = 9");
      var state = h.snapshot();
      try (ServingHarness next = ServingHarness.of(engine, ServingOptions.DEFAULT)) {
        next.restore(state, 1);
        next.send(Events.message("a", "t1").of("acme"));
        next.send(Events.message("b", "t2"), Events.message("b", "t3"));
        assertThat(next.endings()).containsExactly("t1:rejected", "t3:rejected");
        next.control("limits", "acme", "max_queued_per_tenant=");
        next.send(Events.message("c", "t4").of("acme")).settle();
        assertThat(next.reply("t4").finishReason()).isEqualTo("stop");
      }
    }
  }

  @Test
  void aControlEventThatCannotBeServedIsIgnored() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.control("limits", null, "speed=9")
          .control("limits", null, "max_queued_per_session=-1")
          .control("limits", "acme", "max_queued_per_session=1")
          .control("limits", null, null)
          .control("erase_tenant", null, null)
          .send(Events.message("s", "t1"))
          .settle();
      assertThat(h.endings()).containsExactly("t1:stop");
    }
  }

  @Test
  void eraseTenantErasesItsSessionsAndNoOthers() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(Events.message("a", "t1").of("acme"), Events.message("b", "t2").of("beta")).settle();
      h.send(Events.message("a", "t3").of("acme"))
          .generate(2)
          .control("erase_tenant", "acme", null);
      h.send(Events.of(EventKind.QUERY, "a", "qa").of("acme"));
      h.send(Events.of(EventKind.QUERY, "b", "qb").of("beta"));
      assertThat(h.reply("t3").finishReason()).isEqualTo("cancelled");
      assertThat(h.reply("qa").status()).isEqualTo("erased");
      assertThat(h.reply("qb").status()).isEqualTo("warm");
    }
  }
}
