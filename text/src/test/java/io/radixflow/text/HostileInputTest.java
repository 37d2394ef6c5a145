package io.radixflow.text;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.text.tokenizer.GgufTokenizers;
import io.radixflow.text.tokenizer.TinyVocabulary;
import io.radixflow.text.tokenizer.Tokenizer;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Assertions;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Megabytes that make a quadratic tokenizer hang; the limit is far above what linear work needs.
 */
class HostileInputTest {

  private static final int LENGTH = 1 << 20;
  private static final Duration HANGS = Duration.ofMinutes(2);

  @ParameterizedTest
  @ValueSource(strings = {"a", " ", "ab", "é", "🙂", "1", "\n ", "!", "<|", "<|end|>", "'s", "\0"})
  void aMegabyteOfOneThingIsEncodedAndSurvives(String unit) {
    String text = unit.repeat(LENGTH / unit.length());
    for (String pre : new String[] {"smollm", "llama-bpe"}) {
      Tokenizer tokenizer = GgufTokenizers.read(TinyVocabulary.get().metadata(pre));
      int[] ids = Assertions.assertTimeoutPreemptively(HANGS, () -> tokenizer.encode(text));
      ByteArrayOutputStream bytes = new ByteArrayOutputStream();
      for (int id : ids) {
        bytes.writeBytes(tokenizer.bytes(id));
      }
      assertThat(bytes.toString(StandardCharsets.UTF_8).equals(text)).isTrue();
    }
  }
}
