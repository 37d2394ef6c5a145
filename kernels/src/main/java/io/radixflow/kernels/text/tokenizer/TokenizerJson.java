package io.radixflow.kernels.text.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.kernels.model.ModelFormatException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads a tokenizer from Hugging Face's {@code tokenizer.json}: model type BPE, byte-level or with
 * byte fallback. Anything else is refused by its name.
 *
 * <p>The post-processor is left out: it adds BOS and EOS, which chat templates write themselves.
 */
public final class TokenizerJson {

  private static final int MOST_TOKENS = 1 << 20;

  private final JsonNode root;
  private final JsonNode model;
  private final List<String> tokens;
  private final List<AddedToken> added;
  private final int[] endOfTurnIds;

  private TokenizerJson(JsonNode root, Set<String> endOfTurn, int[] endOfTurnIds) {
    this.root = root;
    model = root.path("model");
    String type = model.path("type").asText("BPE");
    if (!type.equals("BPE") || !model.path("vocab").isObject()) {
      throw new ModelFormatException(
          "tokenizer.json: model type '" + type + "' is not supported; supported: BPE");
    }
    for (String field : List.of("continuing_subword_prefix", "end_of_word_suffix")) {
      if (!model.path(field).asText("").isEmpty()) {
        throw new ModelFormatException("tokenizer.json: model." + field + " is not supported");
      }
    }
    added = readAdded(root.path("added_tokens"));
    tokens = readTokens(model.path("vocab"), added);
    this.endOfTurnIds = endOfTurnIds(endOfTurn, endOfTurnIds);
  }

  /**
   * @param endOfTurn texts of tokens that end a turn
   * @param endOfTurnIds ids that end a turn
   * @throws ModelFormatException if the file is incomplete, contradictory or not supported
   */
  public static VocabularyTokenizer read(JsonNode root, Set<String> endOfTurn, int[] endOfTurnIds) {
    TokenizerJson reader = new TokenizerJson(root, endOfTurn, endOfTurnIds);
    return PreTokenizerJson.isByteLevel(root.path("pre_tokenizer"))
        ? reader.byteLevel()
        : reader.sentencePiece();
  }

  private VocabularyTokenizer byteLevel() {
    boolean nfc = PreTokenizerJson.isNfc(root.path("normalizer"));
    return new ByteLevelBuilder(tokens, added)
        .build(
            PreTokenizerJson.byteLevel(root.path("pre_tokenizer")),
            nfc,
            mergePairs(),
            model.path("ignore_merges").asBoolean(false),
            endOfTurnIds,
            fingerprint());
  }

  private VocabularyTokenizer sentencePiece() {
    if (!model.path("byte_fallback").asBoolean(false)) {
      throw new ModelFormatException(
          "tokenizer.json: BPE needs a ByteLevel pre-tokenizer or byte_fallback");
    }
    BitSet plain = new BitSet();
    for (int id = 0; id < tokens.size(); id++) {
      plain.set(
          id, !tokens.get(id).isEmpty() && SentencePieceBuilder.byteValue(tokens.get(id)) < 0);
    }
    added.forEach(token -> plain.clear(token.id()));
    SentencePieceBuilder builder = new SentencePieceBuilder(tokens, added, plain);
    String unknown = model.path("unk_token").asText("");
    return builder.build(
        builder.mergesByList(mergePairs()),
        PreTokenizerJson.spaces(root.path("normalizer"), root.path("pre_tokenizer")),
        model.path("vocab").path(unknown).asInt(-1),
        endOfTurnIds,
        fingerprint());
  }

  private List<String[]> mergePairs() {
    List<String[]> pairs = new ArrayList<>();
    for (JsonNode merge : model.path("merges")) {
      String[] pair =
          merge.isArray()
              ? new String[] {merge.path(0).asText(), merge.path(1).asText()}
              : merge.asText().split(" ", 2);
      if (pair.length != 2 || pair[0].isEmpty() || pair[1].isEmpty()) {
        throw new ModelFormatException("tokenizer.json: merge '" + merge + "' is not a pair");
      }
      pairs.add(pair);
    }
    return pairs;
  }

  private static List<AddedToken> readAdded(JsonNode list) {
    List<AddedToken> added = new ArrayList<>();
    for (JsonNode token : list) {
      added.add(
          new AddedToken(
              token.path("content").asText(),
              checkedId(token.path("id"), token.path("content").asText()),
              token.path("special").asBoolean(false),
              token.path("lstrip").asBoolean(false),
              token.path("rstrip").asBoolean(false)));
    }
    return added;
  }

  private static List<String> readTokens(JsonNode vocab, List<AddedToken> added) {
    int size = 0;
    for (Map.Entry<String, JsonNode> entry : vocab.properties()) {
      size = Math.max(size, checkedId(entry.getValue(), entry.getKey()) + 1);
    }
    for (AddedToken token : added) {
      size = Math.max(size, token.id() + 1);
    }
    String[] tokens = new String[size];
    Arrays.fill(tokens, "");
    vocab.properties().forEach(entry -> tokens[entry.getValue().intValue()] = entry.getKey());
    added.forEach(token -> tokens[token.id()] = token.text());
    return Arrays.asList(tokens);
  }

  private static int checkedId(JsonNode id, String token) {
    if (!id.isInt() || id.intValue() < 0 || id.intValue() >= MOST_TOKENS) {
      throw new ModelFormatException(
          "tokenizer.json: token '" + token + "' has id " + id + "; 0 to " + (MOST_TOKENS - 1));
    }
    return id.intValue();
  }

  private int[] endOfTurnIds(Set<String> texts, int[] ids) {
    Set<Integer> all = new HashSet<>();
    for (int id : ids) {
      if (id < 0 || id >= tokens.size()) {
        throw new ModelFormatException(
            "eos_token_id is " + id + ", the vocabulary has ids 0 to " + (tokens.size() - 1));
      }
      all.add(id);
    }
    added.stream().filter(t -> texts.contains(t.text())).forEach(t -> all.add(t.id()));
    return all.stream().mapToInt(Integer::intValue).sorted().toArray();
  }

  private String fingerprint() {
    TokenizerFingerprint fingerprint = new TokenizerFingerprint().add("tokenizer.json").add(tokens);
    for (AddedToken token : added) {
      fingerprint.add(token.toString());
    }
    for (String[] pair : mergePairs()) {
      fingerprint.add(pair[0]).add(pair[1]);
    }
    return fingerprint
        .add(root.path("normalizer").toString())
        .add(root.path("pre_tokenizer").toString())
        .add(model.path("ignore_merges").toString())
        .add(endOfTurnIds)
        .digits();
  }
}
