package io.radixflow.text.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.models.ModelFormatException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;

/** Whatever a tokenizer.json says, it opens or is refused. */
class CorruptTokenizerProperties {

  private static final String[] VALUES = {
    "null",
    "true",
    "-1",
    "0",
    "3",
    "1e308",
    "4294967296",
    "\"\"",
    "\"a\"",
    "\"(?:a*)*\"",
    "\"[\"",
    "\"▁\"",
    "[]",
    "{}",
    "[[\"a\", 1]]",
    "[\"a b\"]",
    "{\"type\": \"Sequence\"}",
    "{\"type\": \"Metaspace\", \"replacement\": \"▁\"}",
    "{\"Regex\": \"(a|b\"}",
    "\"Unigram\"",
    "\"BPE\"",
    "{\"type\": \"Split\"}",
    "{\"a\": 1}"
  };

  @Property(tries = 300)
  void aChangedTokenizerOpensOrIsRefused(@ForAll long seed) throws JsonProcessingException {
    Random random = new Random(seed);
    ObjectNode root = DjlOracle.byteLevelJson(TinyVocabulary.get().metadata("qwen2"), true);
    for (int i = random.nextInt(3); i >= 0; i--) {
      change(root, random);
    }
    try {
      Tokenizer tokenizer = TokenizerJson.read(root, Set.of("<|end|>"), new int[0]);
      for (int id : tokenizer.encodeWithSpecial("The kettle <|end|> ▁ 12345 é\n")) {
        assertThat(id).isBetween(0, tokenizer.vocabSize() - 1);
      }
    } catch (ModelFormatException refused) {
      assertThat(refused.getMessage()).isNotBlank();
    }
  }

  /** Puts another value at a random place, of which those near the root are likelier. */
  private static void change(ObjectNode root, Random random) throws JsonProcessingException {
    JsonNode node = root;
    while (true) {
      List<JsonNode> inner = new ArrayList<>();
      node.forEach(child -> inner.add(child));
      inner.removeIf(child -> child.isEmpty());
      if (inner.isEmpty() || random.nextInt(3) == 0) {
        break;
      }
      node = inner.get(random.nextInt(inner.size()));
    }
    JsonNode value = DjlOracle.JSON.readTree(VALUES[random.nextInt(VALUES.length)]);
    if (node instanceof ObjectNode object) {
      List<String> names = new ArrayList<>();
      object.fieldNames().forEachRemaining(names::add);
      object.set(names.get(random.nextInt(names.size())), value);
    } else {
      ((ArrayNode) node).set(random.nextInt(node.size()), value);
    }
  }
}
