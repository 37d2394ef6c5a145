package io.radixflow.text.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.models.ModelFormatException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Two Unigram models with a table of replacements, which SentencePiece trained on a text and rules
 * of ours. The ids that it gives hundreds of texts stand beside them; Hugging Face's library is the
 * oracle of tokenizer.json.
 */
class PrecompiledCharsmapTest {

  private static final List<JsonNode> LINES = JsonLines.read("own-unigram.jsonl");
  private static final int TEXTS = Integer.getInteger("tokenizer.texts", 2_000);

  @ParameterizedTest
  @ValueSource(strings = {"plain", "bytes"})
  void aGgufTokenizerGivesTheIdsOfSentencePiece(String name) {
    Tokenizer tokenizer = GgufTokenizers.read(header(name).metadata());
    for (JsonNode line : LINES) {
      if (line.has("text") && line.path("name").asText().equals(name)) {
        assertThat(tokenizer.encode(line.path("text").asText()))
            .as(line.toString())
            .isEqualTo(JsonLines.ints(line.path("ids")));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"plain", "bytes"})
  void aTokenizerJsonGivesTheIdsOfHuggingFace(String name) {
    ObjectNode json = json(name);
    Tokenizer own = TokenizerJson.read(json, Set.of("</s>"), new int[0]);
    DjlOracle oracle = new DjlOracle(json);
    for (String text : texts()) {
      assertThat(own.encode(text)).as(escaped(text)).isEqualTo(oracle.encode(text));
    }
  }

  @Test
  void aDamagedTableIsRefusedOrReplacesNothingOutsideOfIt() {
    byte[] good = Base64.getDecoder().decode(model("plain").path("charsmap").asText());
    assertThatThrownBy(() -> new PrecompiledCharsmap(new byte[3]))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining("trie does not fit");
    assertThatThrownBy(() -> new PrecompiledCharsmap(Arrays.copyOf(good, 100)))
        .isInstanceOf(ModelFormatException.class);
    Random random = new Random(3);
    List<String> texts = texts();
    for (int i = 0; i < 3_000; i++) {
      byte[] damaged = good.clone();
      for (int change = random.nextInt(40); change >= 0; change--) {
        damaged[4 + random.nextInt(damaged.length - 4)] = (byte) random.nextInt();
      }
      PrecompiledCharsmap map = new PrecompiledCharsmap(damaged);
      String text = texts.get(i % texts.size());
      assertThat(map.byLongest(text)).hasSizeLessThan(20_000);
      assertThat(map.byCluster(text)).hasSizeLessThan(20_000);
    }
  }

  @Test
  void scoresThatAreNoNumbersAreRefused() {
    List<Double> scores = new ArrayList<>();
    model("plain").path("vocab").forEach(token -> scores.add(token.path(1).asDouble()));
    scores.set(7, Double.NaN);
    assertThatThrownBy(
            () ->
                GgufTokenizers.read(
                    header("plain").with("tokenizer.ggml.scores", scores).metadata()))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContaining("NaN");
  }

  /** Texts of what the table replaces, of what lies beside it, and of odd characters. */
  private static List<String> texts() {
    Random random = new Random(Integer.getInteger("tokenizer.seed", 5));
    List<String> parts = new ArrayList<>();
    LINES.forEach(
        line ->
            line.path("text").asText().codePoints().forEach(c -> parts.add(Character.toString(c))));
    List<String> texts = new ArrayList<>();
    for (int i = 0; i < TEXTS; i++) {
      StringBuilder text = new StringBuilder();
      for (int n = random.nextInt(20); n > 0; n--) {
        text.append(random.nextInt(8) > 0 ? parts.get(random.nextInt(parts.size())) : odd(random));
      }
      texts.add(text.toString().replace("<", ""));
    }
    return texts;
  }

  private static String odd(Random random) {
    int[] ends = {0x80, 0x600, 0x1200, 0x3100, 0xFFFF, 0x1FFFF};
    int c = 1 + random.nextInt(ends[random.nextInt(ends.length)]);
    boolean excluded = c >= 0xD800 && c < 0xE000 || Character.getType(c) == Character.UNASSIGNED;
    return excluded ? "\u0301" : Character.toString(c);
  }

  private static String escaped(String text) {
    StringBuilder out = new StringBuilder();
    text.codePoints()
        .forEach(c -> out.append(c > 32 && c < 127 ? Character.toString(c) : "<%x>".formatted(c)));
    return out.toString();
  }

  private static JsonNode model(String name) {
    return LINES.stream()
        .filter(line -> line.has("vocab") && line.path("name").asText().equals(name))
        .findFirst()
        .orElseThrow();
  }

  private static GgufHeader header(String name) {
    JsonNode model = model(name);
    Map<Integer, List<Object>> columns = new LinkedHashMap<>();
    for (JsonNode token : model.path("vocab")) {
      columns.computeIfAbsent(0, k -> new ArrayList<>()).add(token.path(0).asText());
      columns.computeIfAbsent(1, k -> new ArrayList<>()).add(token.path(1).asDouble());
      columns.computeIfAbsent(2, k -> new ArrayList<>()).add(token.path(2).asLong());
    }
    byte[] map = Base64.getDecoder().decode(model.path("charsmap").asText());
    boolean plain = name.equals("plain");
    return new GgufHeader()
        .with("tokenizer.ggml.model", "t5")
        .with("tokenizer.ggml.tokens", columns.get(0))
        .with("tokenizer.ggml.scores", columns.get(1))
        .with("tokenizer.ggml.token_type", columns.get(2))
        .with("tokenizer.ggml.unknown_token_id", 0L)
        .with("tokenizer.ggml.eos_token_id", 2L)
        .with("tokenizer.ggml.add_space_prefix", plain)
        .with("tokenizer.ggml.remove_extra_whitespaces", plain)
        .with(
            "tokenizer.ggml.precompiled_charsmap",
            IntStream.range(0, map.length).mapToObj(i -> (long) map[i]).toList());
  }

  private static ObjectNode json(String name) {
    JsonNode model = model(name);
    ObjectNode root = DjlOracle.JSON.createObjectNode().put("version", "1.0");
    ArrayNode added = root.putArray("added_tokens");
    for (int id = 0; id < 3; id++) {
      DjlOracle.addToken(added, id, model.path("vocab").path(id).path(0).asText(), true);
    }
    ArrayNode normalizers =
        root.putObject("normalizer").put("type", "Sequence").putArray("normalizers");
    normalizers
        .addObject()
        .put("type", "Precompiled")
        .put("precompiled_charsmap", model.path("charsmap").asText());
    ObjectNode replace = normalizers.addObject().put("type", "Replace").put("content", " ");
    replace.putObject("pattern").put("Regex", " {2,}");
    root.putObject("pre_tokenizer")
        .put("type", "Metaspace")
        .put("replacement", "▁")
        .put("prepend_scheme", "always")
        .put("split", true);
    root.putNull("post_processor").putNull("decoder");
    ObjectNode unigram =
        root.putObject("model")
            .put("type", "Unigram")
            .put("unk_id", 0)
            .put("byte_fallback", name.equals("bytes"));
    ArrayNode vocab = unigram.putArray("vocab");
    model.path("vocab").forEach(t -> vocab.addArray().add(t.path(0)).add(t.path(1)));
    return root;
  }
}
