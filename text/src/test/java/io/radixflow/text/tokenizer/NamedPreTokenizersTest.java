package io.radixflow.text.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.text.pretokenizer.NamedPreTokenizers;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares the pre-tokenizers that GGUF files name, and patterns of tokenizer.json, with Hugging
 * Face's library.
 */
class NamedPreTokenizersTest {

  private static final int TEXTS = Integer.getInteger("tokenizer.texts", 300);
  private static final String ALPHABET =
      "aAbzZ'’sStTreVeLLdmM019²½¼³٣١ \t\n\r  .,!?;:-_/(){}<>@#$^~|`…。，漢字日本語かなカナ한국ㄱㄏ々〆éÉe\u0301Ǆǅ"
          + "ßſ\u094dहिกำक\u200d👍🏽\u3000\u00a0«»‘’“”—、〿ÅК\u0440";

  static Stream<String> names() {
    return NamedPreTokenizers.names().stream();
  }

  @ParameterizedTest
  @MethodSource("names")
  void aNamedPreTokenizerCutsAsItsPatternsDoInTokenizerJson(String name) {
    Tokenizer named = GgufTokenizers.read(TinyVocabulary.get().header(name).metadata());
    ObjectNode json = json(NamedPreTokenizers.patterns(name));
    if (NamedPreTokenizers.composes(name)) {
      json.putObject("normalizer").put("type", "NFC");
    }
    compare(json, NamedPreTokenizers.takesWholeWords(name), named);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "\\p{Han}+|\\p{Hiragana}+|\\p{^Katakana}",
        "[\\p{Latin}&&[^\\p{Lu}]]+|\\P{Cyrillic}",
        "(?<=[0-9])(?=(?:[0-9]{3})+(?![0-9]))",
        "(?<![a-z])[A-Z]+(?=s)|(?<=ab|A|\\s)\\S",
        "(?<!\\p{L})'|(?<= )[^ ]+",
        "(?=A)|b+",
        "\\w+|[^\\w\\s]\\b"
      })
  void aPatternOfATokenizerJsonCutsAsInHuggingFace(String pattern) {
    ObjectNode json = json(List.of(pattern));
    compare(json, false, TokenizerJson.read(json, Set.of("<|end|>"), new int[0]));
  }

  @Test
  void wordsOfWhitespaceAreThoseOfHuggingFace() {
    ObjectNode json = json(List.of());
    ((ArrayNode) json.path("pre_tokenizer").path("pretokenizers"))
        .insertObject(0)
        .put("type", "Whitespace");
    compare(json, false, TokenizerJson.read(json, Set.of("<|end|>"), new int[0]));
  }

  private static void compare(ObjectNode json, boolean wholeWords, Tokenizer tokenizer) {
    ((ObjectNode) json.path("model")).put("ignore_merges", wholeWords);
    DjlOracle oracle = new DjlOracle(json);
    for (String text : texts()) {
      assertThat(tokenizer.encode(text)).as(text).isEqualTo(oracle.encode(text));
    }
  }

  private static ObjectNode json(List<String> patterns) {
    ObjectNode json = DjlOracle.byteLevelJson(TinyVocabulary.get().metadata("gpt-2"), false);
    ArrayNode steps = (ArrayNode) json.path("pre_tokenizer").path("pretokenizers");
    ObjectNode bytes = (ObjectNode) steps.remove(steps.size() - 1);
    steps.removeAll();
    for (String pattern : patterns) {
      ObjectNode split = steps.addObject().put("type", "Split");
      split.putObject("pattern").put("Regex", pattern);
      split.put("behavior", "Isolated").put("invert", false);
    }
    steps.add(bytes);
    return json;
  }

  private static List<String> texts() {
    Random random = new Random(Integer.getInteger("tokenizer.seed", 9));
    int[] alphabet = ALPHABET.codePoints().toArray();
    String[] words = {
      "the", " kettle", " Tea", "'ll", "1234567", "THE", "\n\n", "   ", "don't", "été"
    };
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < TEXTS; i++) {
      StringBuilder text = new StringBuilder();
      for (int n = random.nextInt(25); n > 0; n--) {
        if (random.nextInt(3) == 0) {
          text.append(words[random.nextInt(words.length)]);
        } else {
          text.appendCodePoint(alphabet[random.nextInt(alphabet.length)]);
        }
      }
      texts.add(text.toString());
    }
    return texts;
  }
}
