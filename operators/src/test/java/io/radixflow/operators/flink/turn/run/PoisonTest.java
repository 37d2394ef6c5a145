package io.radixflow.operators.flink.turn.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimFault;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.session.ServingOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A turn that the model fails on. */
@Timeout(180)
class PoisonTest {
  private static final String MARK = "\u0001";

  private ServingEngine engine;

  private ServingEngine open() {
    SimModel model = SimModel.open(SimOptions.DEFAULT.withFault(SimFault.onToken(MARK.charAt(0))));
    engine =
        new ServingEngine(
            ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, EngineOptions.DEFAULT),
            model);
    return engine;
  }

  /** No job ends here that would release it. */
  @AfterEach
  void close() {
    engine.close();
  }

  @Test
  void aPoisonousTurnEndsAsErrorWithADeadLetterWhileOthersContinue() throws Exception {
    try (ServingHarness h =
        new ServingHarness(
            TestEngineFactory.of("poison", this::open), ServingOptions.DEFAULT, 1, 0)) {
      h.open();
      for (int i = 0; i < 4; i++) {
        h.send(Events.message("s" + i, "t" + i));
      }
      Events deadly = Events.message("bad", "t", "kill " + MARK);
      h.send(deadly);
      h.send(Events.message("bad", "next"));
      h.endInput(1);
      assertThat(h.endings())
          .containsExactlyInAnyOrder(
              "t0:stop", "t1:stop", "t2:stop", "t3:stop", "t:error", "next:stop");
      assertThat(h.reply("t").error().message()).contains("injected fault");
      assertThat(h.rejectedEvents()).hasSize(1);
      assertThat(h.rejectedEvents().get(0).event()).isEqualTo(deadly.event());
      assertThat(h.rejectedEvents().get(0).reason()).contains("injected fault");
    }
  }
}
