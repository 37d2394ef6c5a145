package io.radixflow.engine.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SimOptionsTest {

  @Test
  void optionsStandBehindTheModelsName() {
    assertThat(SimOptions.parse("")).isEqualTo(SimOptions.DEFAULT);
    assertThat(SimOptions.parse(":step=20,reply=400,context=8192,window=64"))
        .isEqualTo(
            SimOptions.DEFAULT
                .withTime(20_000_000, 0)
                .withEndOfTurn(1.0 / 400)
                .withContextLength(8192)
                .withWindow(64));
  }

  @ParameterizedTest
  @ValueSource(strings = {":", ":step", ":step=", ":step=-1", ":step=0", ":reply=1e9", ":step=1,"})
  void aValueThatIsNoPositiveNumberIsRefused(String text) {
    assertThatThrownBy(() -> SimOptions.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("must be KEY=NUMBER");
  }

  @Test
  void anUnknownOptionIsRefusedByName() {
    assertThatThrownBy(() -> SimOptions.parse(":steps=3"))
        .hasMessageContaining("no option 'steps'")
        .hasMessageContaining("step (milliseconds)");
  }

  @Test
  void noTokenEndsTheProcessUnlessAnOptionNamesIt() {
    assertThat(SimOptions.DEFAULT.fault()).isSameAs(SimFault.NONE);
    assertThat(SimOptions.parse(":step=20,reply=400").fault()).isSameAs(SimFault.NONE);
    assertThat(SimOptions.parse(":deadly=1").fault()).isNotSameAs(SimFault.NONE);
  }

  @Test
  void theLoaderReadsOptionsBehindTheModelsName() throws IOException {
    ModelLoader.Locator nowhere = model -> Path.of("missing");
    try (ServedModel model = ModelLoader.open("sim:context=512", nowhere)) {
      assertThat(model.config().contextLength()).isEqualTo(512);
    }
    assertThat(ModelLoader.isSimulated("simulation")).isFalse();
  }
}
