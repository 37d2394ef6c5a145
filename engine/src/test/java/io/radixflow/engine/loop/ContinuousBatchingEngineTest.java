package io.radixflow.engine.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(180)
class ContinuousBatchingEngineTest {

  @Test
  void aReplyIsReadableAndEnds() {
    SimModel model = SimModel.open(SimOptions.DEFAULT);
    try (Engine engine =
            ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      int[] prompt =
          model
              .chatTemplate()
              .encode(List.of(new Message("user", "hello")), true, TemplateOptions.NONE);
      EngineClient.Seen seen = client.run(EngineClient.request(prompt, SamplingParams.GREEDY, 400));
      assertThat(seen.finish).isEqualTo(FinishReason.STOP);
      assertThat(seen.text.toString()).matches("[a-z .]+");
      assertThat(seen.tokens).hasSize(seen.text.length() + 1);
      assertThat(seen.promptReady).isTrue();
    }
  }
}
