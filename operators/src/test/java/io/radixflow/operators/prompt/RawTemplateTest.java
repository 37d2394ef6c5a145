package io.radixflow.operators.prompt;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.SamplingDefaults;
import io.radixflow.text.TextModel;
import io.radixflow.text.prompt.RawTemplate;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.MissingChatTemplate;
import io.radixflow.text.template.TemplateOptions;
import java.util.List;
import org.junit.jupiter.api.Test;

class RawTemplateTest {

  /** A model without a chat template whose tokenizer adds BOS. */
  private record BaseModel(SimModel model) implements ServedModel {
    @Override
    public String name() {
      return "base";
    }

    @Override
    public String fingerprint() {
      return model.fingerprint();
    }

    @Override
    public ModelConfig config() {
      return model.config();
    }

    @Override
    public TextModel text() {
      return new TextModel(
          model.tokenizer(), new MissingChatTemplate(), new int[] {258}, SamplingDefaults.NONE);
    }

    @Override
    public Backend openBackend(DeviceOptions options) {
      return model.openBackend(options);
    }

    @Override
    public void close() {
      model.close();
    }
  }

  private static RawTemplate raw(ServedModel model) {
    return new RawTemplate(model.tokenizer(), model.text().promptStart());
  }

  @Test
  void bosComesFirstIfTheTokenizerAddsIt() {
    List<Message> hi = List.of(new Message("prompt", "hi"));
    try (SimModel model = SimModel.open(SimOptions.DEFAULT);
        BaseModel base = new BaseModel(model)) {
      assertThat(raw(base).encode(hi, true, TemplateOptions.NONE)).containsExactly(258, 'h', 'i');
      assertThat(raw(model).encode(hi, true, TemplateOptions.NONE)).containsExactly('h', 'i');
      assertThat(raw(base).encodeTurn(hi, hi, TemplateOptions.NONE)).isNull();
    }
  }

  @Test
  void aModelWithoutAChatTemplateCanBeServed() {
    try (SimModel model = SimModel.open(SimOptions.DEFAULT);
        BaseModel base = new BaseModel(model)) {
      assertThat(new NextPrompts(new ReplyReading(base)).dropsThinking()).isFalse();
      assertThat(new CanonicalReply(base).ids(new int[] {'a'}, "a")).startsWith('a');
    }
  }
}
