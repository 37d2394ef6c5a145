package io.radixflow.text.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The real vocabulary, which lacks tokens for some bytes, against Hugging Face's tokenizer. */
@Tag("model")
class SmolLm2OracleTest {

  @Test
  void idsAreThoseOfHuggingFace() {
    DjlOracle oracle = new DjlOracle(DjlOracle.byteLevelJson(SmolLm2.metadata(), false));
    Random random = new Random(20_31);
    for (int i = 0; i < 3000; i++) {
      String text = HostileText.random(random);
      assertThat(SmolLm2.tokenizer().encode(text)).as(text).isEqualTo(oracle.encode(text));
    }
  }
}
