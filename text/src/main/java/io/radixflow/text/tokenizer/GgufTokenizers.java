package io.radixflow.text.tokenizer;

import io.radixflow.models.ModelFormatException;
import io.radixflow.models.file.format.GgufMetadata;
import io.radixflow.text.pretokenizer.Metaspace;
import io.radixflow.text.pretokenizer.NamedPreTokenizers;
import io.radixflow.text.pretokenizer.PreTokenizer;
import java.text.Normalizer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

/** Reads the tokenizer of a GGUF file from its {@code tokenizer.ggml.*} metadata. */
public final class GgufTokenizers {

  private static final String PREFIX = "tokenizer.ggml.";

  /** Token types of the format. */
  private static final int UNKNOWN = 2;

  private static final int CONTROL = 3;
  private static final int USER_DEFINED = 4;
  private static final int UNUSED = 5;
  private static final int BYTE = 6;

  private static final Set<String> LLAMA_3 = Set.of("llama-bpe", "llama3", "llama-v3");

  private static final int MOST_TOKENS = 1 << 20;

  private final GgufMetadata metadata;
  private final List<String> tokens;
  private final int[] types;

  private GgufTokenizers(GgufMetadata metadata) {
    this.metadata = metadata;
    tokens = metadata.strings(PREFIX + "tokens");
    if (tokens.isEmpty() || tokens.size() > MOST_TOKENS) {
      throw new ModelFormatException(
          String.format(
              "%stokens has %s tokens; 1 to %s are possible", PREFIX, tokens.size(), MOST_TOKENS));
    }
    types =
        metadata.has(PREFIX + "token_type")
            ? metadata.integers(PREFIX + "token_type")
            : new int[tokens.size()];
    if (types.length != tokens.size()) {
      throw new ModelFormatException(
          PREFIX + "token_type has " + types.length + " entries for " + tokens.size() + " tokens");
    }
  }

  /**
   * @throws ModelFormatException if the metadata is incomplete, contradictory or not supported
   */
  public static VocabularyTokenizer read(GgufMetadata metadata) {
    String model = metadata.string(PREFIX + "model");
    GgufTokenizers reader = new GgufTokenizers(metadata);
    return switch (model) {
      case "gpt2" -> reader.byteLevel();
      case "llama" -> reader.sentencePiece();
      case "t5" -> reader.unigram();
      default ->
          throw new ModelFormatException(
              "tokenizer model '" + model + "' is not supported; supported: gpt2, llama, t5");
    };
  }

  /**
   * Returns the ids to put before a text that no chat template made: BOS, if the file says so. If
   * it does not say, tokenizers of SentencePiece and of Llama 3 add BOS.
   */
  public static int[] promptStart(GgufMetadata metadata) {
    String bos = PREFIX + "bos_token_id";
    String adds = PREFIX + "add_bos_token";
    boolean added = metadata.has(adds) ? metadata.bool(adds) : addsBos(metadata);
    return added && metadata.has(bos)
        ? new int[] {idIn(metadata, bos, metadata.strings(PREFIX + "tokens").size())}
        : new int[0];
  }

  private static boolean addsBos(GgufMetadata metadata) {
    String pre = PREFIX + "pre";
    return metadata.string(PREFIX + "model").equals("llama")
        || metadata.has(pre) && LLAMA_3.contains(metadata.string(pre));
  }

  /** Returns the text of the token whose id is the value of a key. */
  public static String token(GgufMetadata metadata, String key) {
    List<String> tokens = metadata.strings(PREFIX + "tokens");
    return tokens.get(idIn(metadata, key, tokens.size()));
  }

  private static int idIn(GgufMetadata metadata, String key, int tokens) {
    long id = metadata.integer(key);
    if (id < 0 || id >= tokens) {
      throw new ModelFormatException(
          key + " is " + id + "; the vocabulary has ids 0 to " + (tokens - 1));
    }
    return (int) id;
  }

  private VocabularyTokenizer byteLevel() {
    String pre = metadata.has(PREFIX + "pre") ? metadata.string(PREFIX + "pre") : "gpt-2";
    PreTokenizer preTokenizer = NamedPreTokenizers.of(pre);
    List<String> merges = metadata.strings(PREFIX + "merges");
    CompletableFuture<String> fingerprint =
        CompletableFuture.supplyAsync(() -> fingerprint("byte-level " + pre).add(merges).digits());
    ByteLevelVocabulary vocabulary = new ByteLevelVocabulary(tokens, added());
    return new VocabularyTokenizer(
        vocabulary.vocabulary(endOfTurnIds()),
        new VocabularyTokenizer.Pipeline(
            NamedPreTokenizers.composes(pre)
                ? TextNormalizer.form(Normalizer.Form.NFC)
                : TextNormalizer.NONE,
            preTokenizer,
            preTokenizer,
            vocabulary.encoder(pairs(merges), NamedPreTokenizers.takesWholeWords(pre)),
            false),
        fingerprint.join());
  }

  /**
   * Returns the two tokens of each merge, which are separated by a space. A space as the first
   * character belongs to the token.
   */
  private static List<String[]> pairs(List<String> merges) {
    return merges.parallelStream()
        .filter(merge -> merge.indexOf(' ', 1) > 0)
        .map(
            merge -> {
              int space = merge.indexOf(' ', 1);
              return new String[] {merge.substring(0, space), merge.substring(space + 1)};
            })
        .toList();
  }

  private VocabularyTokenizer sentencePiece() {
    float[] scores = scores();
    boolean prefix = flag("add_space_prefix", true);
    CharacterVocabulary vocabulary = new CharacterVocabulary(tokens, added(), plain());
    TextNormalizer spaces = TextNormalizer.replace(" ", String.valueOf(Metaspace.SPACE));
    return characters(
        vocabulary,
        prefix ? TextNormalizer.prepend(" ").then(spaces) : spaces,
        vocabulary.bpe(vocabulary.mergesByScore(scores), true, unknownId(), true, false),
        fingerprint("sentencepiece " + prefix));
  }

  private VocabularyTokenizer unigram() {
    float[] scores = scores();
    double[] wide = new double[scores.length];
    for (int id = 0; id < wide.length; id++) {
      wide[id] = scores[id];
    }
    boolean removesExtra = flag("remove_extra_whitespaces", false);
    boolean prefix = flag("add_space_prefix", true);
    TokenizerFingerprint fingerprint = fingerprint("unigram " + removesExtra + prefix);
    TextNormalizer normalizer = TextNormalizer.NONE;
    String key = PREFIX + "precompiled_charsmap";
    int[] listed = metadata.has(key) ? metadata.integers(key) : new int[0];
    if (listed.length > 0) {
      byte[] map = new byte[listed.length];
      for (int i = 0; i < map.length; i++) {
        map[i] = (byte) listed[i];
      }
      normalizer = new PrecompiledCharsmap(map)::byLongest;
      fingerprint.add(listed);
    }
    boolean bytes = Arrays.stream(types).anyMatch(type -> type == BYTE);
    CharacterVocabulary vocabulary = new CharacterVocabulary(tokens, added(), plain());
    return characters(
        vocabulary,
        normalizer.then(PrecompiledCharsmap.spaces(removesExtra, prefix)),
        vocabulary.unigram(wide, bytes, unknownId()),
        fingerprint);
  }

  /**
   * Creates a tokenizer whose tokens are written in characters. The text is not split before it is
   * encoded.
   */
  private VocabularyTokenizer characters(
      CharacterVocabulary vocabulary,
      TextNormalizer normalizer,
      PieceEncoder encoder,
      TokenizerFingerprint fingerprint) {
    PreTokenizer whole = (text, from, to, sink) -> sink.piece(text, from, to);
    for (float score : scores()) {
      fingerprint.add(Float.floatToIntBits(score));
    }
    return new VocabularyTokenizer(
        vocabulary.vocabulary(endOfTurnIds()),
        new VocabularyTokenizer.Pipeline(
            normalizer, whole, whole, encoder, flag("add_space_prefix", true)),
        fingerprint.digits());
  }

  private float[] scores() {
    float[] scores = metadata.reals(PREFIX + "scores");
    if (scores.length != tokens.size()) {
      throw new ModelFormatException(
          PREFIX + "scores has " + scores.length + " entries for " + tokens.size() + " tokens");
    }
    for (float score : scores) {
      if (!Float.isFinite(score)) {
        throw new ModelFormatException(PREFIX + "scores has the value " + score);
      }
    }
    return scores;
  }

  private boolean flag(String key, boolean absent) {
    return metadata.has(PREFIX + key) ? metadata.bool(PREFIX + key) : absent;
  }

  /**
   * Returns the ids that plain text may be encoded to: all except added, byte and unused tokens.
   */
  private BitSet plain() {
    BitSet plain = new BitSet();
    for (int id = 0; id < types.length; id++) {
      plain.set(id, !isAdded(types[id]) && types[id] != UNUSED && types[id] != BYTE);
    }
    return plain;
  }

  private static boolean isAdded(int type) {
    return type == CONTROL || type == UNKNOWN || type == USER_DEFINED;
  }

  private int unknownId() {
    String key = PREFIX + "unknown_token_id";
    return metadata.has(key) ? idIn(metadata, key, tokens.size()) : -1;
  }

  private List<AddedToken> added() {
    List<AddedToken> added = new ArrayList<>();
    for (int id = 0; id < types.length; id++) {
      int type = types[id];
      if (isAdded(type)) {
        added.add(new AddedToken(tokens.get(id), id, type != USER_DEFINED, AddedToken.Match.PLAIN));
      }
    }
    return added;
  }

  private int[] endOfTurnIds() {
    return IntStream.concat(
            IntStream.concat(declared("eos_token_id"), declared("eot_token_id")),
            declared("eom_token_id"))
        .distinct()
        .sorted()
        .toArray();
  }

  private IntStream declared(String key) {
    if (!metadata.has(PREFIX + key)) {
      return IntStream.empty();
    }
    return IntStream.of(idIn(metadata, PREFIX + key, tokens.size()));
  }

  private TokenizerFingerprint fingerprint(String kind) {
    return new TokenizerFingerprint().add(kind).add(tokens).add(types).add(endOfTurnIds());
  }
}
