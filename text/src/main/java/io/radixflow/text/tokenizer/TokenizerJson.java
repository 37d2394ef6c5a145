package io.radixflow.text.tokenizer;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.models.ModelFormatException;
import io.radixflow.text.pretokenizer.Metaspace;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads a tokenizer from Hugging Face's {@code tokenizer.json}: model type Unigram, or BPE that is
 * byte-level or has byte fallback. Errors name anything else.
 *
 * <p>The post-processor is ignored: it adds BOS and EOS, which chat templates write themselves.
 */
public final class TokenizerJson {

  private static final int MOST_TOKENS = 1 << 20;
  private static final int MOST_MERGES = 1 << 21;

  private final JsonNode root;
  private final JsonNode model;
  private final boolean unigram;
  private final List<String> tokens;
  private final List<AddedToken> added;
  private final int[] endOfTurnIds;

  private TokenizerJson(JsonNode root, Set<String> endOfTurn, int[] endOfTurnIds) {
    this.root = root;
    model = root.path("model");
    String type = model.path("type").asText("BPE");
    unigram = type.equals("Unigram");
    if (!unigram && !type.equals("BPE")
        || !(unigram ? model.path("vocab").isArray() : model.path("vocab").isObject())) {
      throw new ModelFormatException(
          "tokenizer.json: model type '" + type + "' is not supported; supported: BPE, Unigram");
    }
    for (String field : List.of("continuing_subword_prefix", "end_of_word_suffix")) {
      if (!model.path(field).asText("").isEmpty()) {
        throw new ModelFormatException("tokenizer.json: model." + field + " is not supported");
      }
    }
    added = readAdded(root.path("added_tokens"));
    tokens = readTokens(added);
    this.endOfTurnIds = endOfTurnIds(endOfTurn, endOfTurnIds);
  }

  /**
   * @param endOfTurn texts of tokens that end a turn
   * @param endOfTurnIds ids that end a turn
   * @throws ModelFormatException if the file is incomplete, contradictory or not supported
   */
  public static VocabularyTokenizer read(JsonNode root, Set<String> endOfTurn, int[] endOfTurnIds) {
    TokenizerJson reader = new TokenizerJson(root, endOfTurn, endOfTurnIds);
    boolean bytes = PreTokenizerJson.isByteLevel(root.path("pre_tokenizer"));
    return bytes && !reader.unigram ? reader.byteLevel() : reader.characters();
  }

  private VocabularyTokenizer byteLevel() {
    ByteLevelVocabulary vocabulary = new ByteLevelVocabulary(tokens, added);
    boolean wholePieces = model.path("ignore_merges").asBoolean(false);
    return tokenizer(
        vocabulary.vocabulary(endOfTurnIds), vocabulary.encoder(mergePairs(), wholePieces));
  }

  private VocabularyTokenizer characters() {
    boolean bytes = model.path("byte_fallback").asBoolean(false);
    if (!unigram && !bytes) {
      throw new ModelFormatException(
          "tokenizer.json: BPE needs a ByteLevel pre-tokenizer or byte_fallback");
    }
    CharacterVocabulary vocabulary = new CharacterVocabulary(tokens, added, plain());
    PieceEncoder encoder =
        unigram
            ? vocabulary.unigram(scores(), bytes, checkedUnknown(model.path("unk_id")))
            : vocabulary.bpe(
                vocabulary.mergesByList(mergePairs()),
                bytes,
                model.path("vocab").path(model.path("unk_token").asText("")).asInt(-1),
                model.path("fuse_unk").asBoolean(false),
                model.path("ignore_merges").asBoolean(false));
    return tokenizer(vocabulary.vocabulary(endOfTurnIds), encoder);
  }

  private VocabularyTokenizer tokenizer(Vocabulary vocabulary, PieceEncoder encoder) {
    JsonNode normalizer = root.path("normalizer");
    JsonNode preTokenizer = root.path("pre_tokenizer");
    boolean prefixed =
        PreTokenizerJson.prefixes(preTokenizer)
            || steps(normalizer, "normalizers").stream().anyMatch(TokenizerJson::prependsSpace);
    return new VocabularyTokenizer(
        vocabulary,
        new VocabularyTokenizer.Pipeline(
            NormalizerJson.read(normalizer),
            PreTokenizerJson.read(preTokenizer, true),
            PreTokenizerJson.read(preTokenizer, false),
            encoder,
            prefixed),
        fingerprint());
  }

  private static boolean prependsSpace(JsonNode step) {
    return type(step).equals("Prepend")
        && step.path("prepend").asText().equals(String.valueOf(Metaspace.SPACE));
  }

  /**
   * Returns the ids that plain text may be encoded to: all except byte tokens and special tokens.
   */
  private BitSet plain() {
    BitSet plain = new BitSet();
    for (int id = 0; id < tokens.size(); id++) {
      plain.set(id, !tokens.get(id).isEmpty() && CharacterVocabulary.byteValue(tokens.get(id)) < 0);
    }
    boolean wholePieces = unigram || model.path("ignore_merges").asBoolean(false);
    for (AddedToken token : added) {
      if (token.special() || wholePieces && !token.isBlank()) {
        plain.clear(token.id());
      }
    }
    return plain;
  }

  private double[] scores() {
    double[] scores = new double[tokens.size()];
    int id = 0;
    for (JsonNode entry : model.path("vocab")) {
      double score = entry.path(1).asDouble(Double.NaN);
      if (!Double.isFinite(score)) {
        throw new ModelFormatException("tokenizer.json: token " + id + " has no finite score");
      }
      scores[id++] = score;
    }
    return scores;
  }

  private int checkedUnknown(JsonNode id) {
    if (id.isMissingNode() || id.isNull()) {
      return -1;
    }
    if (!id.isInt() || id.intValue() < 0 || id.intValue() >= tokens.size()) {
      throw new ModelFormatException("tokenizer.json: unk_id " + id + " is outside the vocabulary");
    }
    return id.intValue();
  }

  private List<String[]> mergePairs() {
    JsonNode merges = model.path("merges");
    if (!unigram && !merges.isArray()) {
      throw new ModelFormatException("tokenizer.json: model.merges is missing or not a list");
    }
    if (merges.size() > MOST_MERGES) {
      throw new ModelFormatException(
          "tokenizer.json: " + merges.size() + " merges; at most " + MOST_MERGES);
    }
    List<String[]> pairs = new ArrayList<>();
    for (JsonNode merge : merges) {
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
              new AddedToken.Match(
                  token.path("lstrip").asBoolean(false),
                  token.path("rstrip").asBoolean(false),
                  token.path("single_word").asBoolean(false),
                  token.path("normalized").asBoolean(false))));
    }
    return added;
  }

  private List<String> readTokens(List<AddedToken> added) {
    JsonNode vocab = model.path("vocab");
    int size = unigram ? vocab.size() : 0;
    for (Map.Entry<String, JsonNode> entry : vocab.properties()) {
      size = Math.max(size, checkedId(entry.getValue(), entry.getKey()) + 1);
    }
    for (AddedToken token : added) {
      size = Math.max(size, token.id() + 1);
    }
    if (size > MOST_TOKENS) {
      throw new ModelFormatException("tokenizer.json: " + size + " tokens; at most " + MOST_TOKENS);
    }
    String[] tokens = new String[size];
    Arrays.fill(tokens, "");
    vocab.properties().forEach(entry -> tokens[entry.getValue().intValue()] = entry.getKey());
    for (int id = 0; unigram && id < vocab.size(); id++) {
      tokens[id] = vocab.path(id).path(0).asText();
    }
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
            "eos_token_id is " + id + "; the vocabulary has ids 0 to " + (tokens.size() - 1));
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
        .add(unigram ? model.path("vocab").toString() : "")
        .add(endOfTurnIds)
        .digits();
  }

  /**
   * Returns the steps of a part that is one step or a sequence of steps; empty if the part is null.
   */
  static List<JsonNode> steps(JsonNode node, String listField) {
    List<JsonNode> steps = new ArrayList<>();
    if (type(node).equals("Sequence")) {
      node.path(listField).forEach(steps::add);
    } else if (node.isObject()) {
      steps.add(node);
    }
    return steps;
  }

  static String type(JsonNode node) {
    return node.path("type").asText();
  }

  static ModelFormatException unsupported(String part, JsonNode step) {
    String shown = step.toString();
    return new ModelFormatException(
        String.format(
            "tokenizer.json: %s %s is not supported",
            part, shown.length() > 200 ? shown.substring(0, 200) + "…" : shown));
  }
}
