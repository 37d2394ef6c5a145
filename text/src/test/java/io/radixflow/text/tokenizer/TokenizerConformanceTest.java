package io.radixflow.text.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Ids of tokenizer.jsonl, made with llama.cpp and an independent program. */
@Tag("model")
class TokenizerConformanceTest {

  @Test
  void everyTextHasTheReferencesIds() {
    List<JsonNode> lines = JsonLines.read("tokenizer.jsonl");
    assertThat(lines).hasSize(170);
    Tokenizer tokenizer = SmolLm2.tokenizer();
    for (JsonNode line : lines) {
      String text = line.get("text").textValue();
      assertThat(tokenizer.encode(text)).as(text).isEqualTo(JsonLines.ints(line.get("ids")));
      assertThat(tokenizer.encodeWithSpecial(text))
          .as(text)
          .isEqualTo(JsonLines.ints(line.get("idsWithSpecial")));
    }
  }
}
