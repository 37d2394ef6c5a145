package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.TokenOptions;
import io.radixflow.protocol.record.Usage;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How long turns took, and how much of their prompts is done, in deltas. */
@Timeout(120)
class TurnTimingTest {
  private static final TokenOptions PROGRESS =
      new TokenOptions(null, null, null, null, null, null, null, null, null, null, null, true);

  private static Events prompt(GenerationOptions options) {
    return new Events(ConversationEvent.prompt("s", "t", "Once upon a time").build()).with(options);
  }

  private static GenerationOptions.Builder options() {
    return GenerationOptions.builder();
  }

  @Test
  void theFirstPieceAndTheLastHaveTheTimesOfTheTurn() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(prompt(options().build())).settle();
      List<ReplyDelta> deltas = h.deltas();
      assertThat(deltas.get(0).text()).isNotEmpty();
      assertThat(deltas).hasSizeGreaterThan(2);
      for (ReplyDelta delta : deltas) {
        boolean counted = delta == deltas.get(0) || delta.finishReason() != null;
        assertThat(delta.usage().equals(Usage.NONE)).isEqualTo(!counted);
        assertThat(delta.timing() != null).isEqualTo(counted);
      }
      assertThat(deltas.get(0).timing().promptDone()).isEqualTo(16);
      assertThat(deltas.get(0).timing().reply()).isZero();
    }
  }

  @Test
  void aTurnThatAsksHasAPieceForEachStepOfItsPrompt() throws Exception {
    try (ServingHarness h = ServingHarness.opened()) {
      h.send(prompt(options().tokens(PROGRESS).build())).settle();
      ReplyDelta half = h.deltas().get(0);
      assertThat(half.text()).isEmpty();
      assertThat(half.tokens()).isZero();
      assertThat(half.usage().promptTokens()).isEqualTo(16);
      assertThat(half.timing().promptDone()).isEqualTo(8);
      ReplyDelta first = h.deltas().get(1);
      assertThat(first.text()).isNotEmpty();
      assertThat(first.usage().promptTokens()).isEqualTo(16);
      assertThat(first.timing().promptDone()).isEqualTo(16);
    }
  }

  @Test
  void thePromptOfATurnWithoutTokensIsDone() throws Exception {
    TestEngineFactory factory =
        TestEngineFactory.of(
            "timing",
            () -> {
              SimModel model = SimModel.open(SimOptions.DEFAULT);
              return new ServingEngine(
                  ContinuousBatchingEngine.open(
                      model, DeviceOptions.DEFAULT, EngineOptions.builder().build()),
                  model);
            });
    try (ServingHarness h = new ServingHarness(factory, ServingOptions.DEFAULT, 1, 0)) {
      h.open();
      Reply reply = h.ask(prompt(options().maxTokens(0).build()));
      assertThat(reply.finishReason()).isEqualTo("length");
      assertThat(reply.usage().completionTokens()).isZero();
      ReplyDelta last = h.deltas().get(h.deltas().size() - 1);
      assertThat(last.timing().promptDone()).isEqualTo(reply.usage().promptTokens()).isPositive();
      assertThat(last.timing().reply()).isZero();
    }
  }
}
