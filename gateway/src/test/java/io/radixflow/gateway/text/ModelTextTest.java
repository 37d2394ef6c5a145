package io.radixflow.gateway.text;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.client.config.SettingsLoader;
import io.radixflow.gateway.http.ApiException;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.template.Message;
import java.util.List;
import org.junit.jupiter.api.Test;

class ModelTextTest {
  private static final List<Message> HI = List.of(new Message("user", "Hi"));

  private static ModelText of(String model) {
    return new ModelText(new SettingsLoader().set(List.of("model=" + model)).load());
  }

  @Test
  void theWindowIsThatOfTheModelsName() {
    assertThat(of("sim:context=64").window()).isEqualTo(new ModelText.Window(64, 64, 260));
    assertThat(of("no-such-model").window()).isNull();
  }

  @Test
  void toolsAndAContinuedReplyCount() {
    ModelText text = of("sim");
    int plain = text.count(HI, null, "messages");
    GenerationOptions.Builder options = GenerationOptions.builder();
    String tools = "[{\"type\":\"function\",\"function\":{\"name\":\"f\"}}]";
    assertThat(text.count(HI, options.tools(tools).build(), "messages")).isGreaterThan(plain);
    GenerationOptions continued = GenerationOptions.builder().continueFinalMessage(true).build();
    List<Message> begun = List.of(HI.get(0), new Message("assistant", "Well"));
    assertThat(text.count(begun, continued, "messages")).isEqualTo(plain + "Well".length());
  }

  @Test
  void optionsThatTheJobWouldRefuseAreRefused() {
    ModelText text = of("sim");
    for (GenerationOptions options :
        List.of(
            GenerationOptions.builder().toolChoice("required").build(),
            GenerationOptions.builder().toolParser("none-such").build())) {
      assertThatThrownBy(() -> text.count(HI, options, "messages"))
          .isInstanceOf(ApiException.class);
    }
  }
}
