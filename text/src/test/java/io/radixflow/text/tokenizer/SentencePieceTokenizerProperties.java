package io.radixflow.text.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.text.ReplyText;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** SentencePiece BPE with byte fallback against Hugging Face's tokenizer. */
class SentencePieceTokenizerProperties {

  private static final String WORDS =
      "▁the ▁t he th ▁th in ▁in ing ▁k et tle ▁kettle kettle ▁▁ ▁▁▁▁ ▁▁▁▁▁▁▁▁ ▁▁▁ ab aba aa aaaa aaaaaaaa "
          + "er ▁a ▁an an and ▁and 日本 本語 日本語 é▁";

  private static final Map<String, Subject> SUBJECTS = new ConcurrentHashMap<>();

  private record Subject(Tokenizer own, DjlOracle plain, DjlOracle special) {

    static Subject of(String kind) {
      ObjectNode json = json(kind, true);
      Tokenizer own =
          kind.equals("gguf")
              ? GgufTokenizers.read(header().metadata())
              : TokenizerJson.read(json, Set.of("</s>"), new int[0]);
      return new Subject(own, new DjlOracle(json(kind, false)), new DjlOracle(json));
    }
  }

  @Provide
  Arbitrary<String> kinds() {
    return Arbitraries.of("gguf", "prepend", "always", "first", "never", "split");
  }

  @Provide
  Arbitrary<String> texts() {
    Arbitrary<String> words =
        Arbitraries.of((WORDS.replace('▁', ' ') + " <s> </s> <0x0A> <unk> ▁ x").split(" ", -1))
            .list()
            .ofMaxSize(20)
            .map(list -> String.join(" ", list));
    return Arbitraries.oneOf(words, HostileText.wellFormed());
  }

  @Property(tries = 4000)
  void idsAreThoseOfHuggingFace(@ForAll("kinds") String kind, @ForAll("texts") String text) {
    Subject subject = SUBJECTS.computeIfAbsent(kind, Subject::of);
    assertThat(subject.own().encode(text)).isEqualTo(subject.plain().encode(text));
    assertThat(subject.own().encodeWithSpecial(text)).isEqualTo(subject.special().encode(text));
  }

  @Property(tries = 1000)
  void textSurvivesEncodingAndDecoding(@ForAll("texts") String text) {
    Tokenizer tokenizer = SUBJECTS.computeIfAbsent("gguf", Subject::of).own();
    ReplyText reply = new ReplyText(tokenizer, List.of());
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int id : tokenizer.encode(text)) {
      assertThat(tokenizer.byteCount(id)).isPositive();
      bytes.writeBytes(tokenizer.bytes(id));
      reply.accept(id);
    }
    reply.finish();
    String expected = text.replace('▁', ' ');
    assertThat(reply.text()).isEqualTo(expected);
    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .isEqualTo(text.isEmpty() ? "" : " " + expected);
  }

  /** Tokens in the order of a Llama vocabulary: specials, bytes, then pieces by falling score. */
  private static List<String> tokens() {
    List<String> tokens = new ArrayList<>(List.of("<unk>", "<s>", "</s>"));
    for (int b = 0; b < 256; b++) {
      tokens.add("<0x%02X>".formatted(b));
    }
    tokens.addAll(List.of(WORDS.split(" ")));
    tokens.add("<s");
    "▁abcdefghijklmnopqrstuvwxyzABC.,!?'<>/é日本語7"
        .codePoints()
        .forEach(c -> tokens.add(Character.toString(c)));
    return tokens;
  }

  private static GgufHeader header() {
    List<String> tokens = tokens();
    List<Double> scores = new ArrayList<>();
    List<Long> types = new ArrayList<>();
    for (int id = 0; id < tokens.size(); id++) {
      scores.add(id < 259 ? 0.0 : 258.0 - id);
      types.add(id == 0 ? 2L : id < 3 ? 3L : id < 259 ? 6L : 1L);
    }
    return new GgufHeader()
        .with("tokenizer.ggml.model", "llama")
        .with("tokenizer.ggml.tokens", tokens)
        .with("tokenizer.ggml.scores", scores)
        .with("tokenizer.ggml.token_type", types)
        .with("tokenizer.ggml.unknown_token_id", 0L)
        .with("tokenizer.ggml.eos_token_id", 2L);
  }

  private static ObjectNode json(String kind, boolean addedTokens) {
    List<String> tokens = tokens();
    ObjectNode root = DjlOracle.JSON.createObjectNode().put("version", "1.0");
    ArrayNode added = root.putArray("added_tokens");
    for (int id = 0; addedTokens && id < 3; id++) {
      DjlOracle.addToken(added, id, tokens.get(id), true);
    }
    if (kind.equals("gguf") || kind.equals("prepend")) {
      ArrayNode steps =
          root.putObject("normalizer").put("type", "Sequence").putArray("normalizers");
      steps.addObject().put("type", "Prepend").put("prepend", "▁");
      ObjectNode replace = steps.addObject().put("type", "Replace").put("content", "▁");
      replace.putObject("pattern").put("String", " ");
      root.putNull("pre_tokenizer");
    } else {
      root.putNull("normalizer");
      root.putObject("pre_tokenizer")
          .put("type", "Metaspace")
          .put("replacement", "▁")
          .put("prepend_scheme", kind.equals("split") ? "always" : kind)
          .put("split", kind.equals("split"));
    }
    root.putNull("post_processor").putNull("decoder");
    ObjectNode model =
        DjlOracle.model(root, false, true).put("unk_token", "<unk>").put("fuse_unk", true);
    ObjectNode vocab = model.putObject("vocab");
    for (int id = 0; id < tokens.size(); id++) {
      vocab.put(tokens.get(id), id);
    }
    ArrayNode merges = model.putArray("merges");
    mergePairs(tokens).forEach(pair -> merges.addArray().add(pair[0]).add(pair[1]));
    return root;
  }

  /** All ways to cut a piece in two pieces, by falling score of the whole. */
  private static List<String[]> mergePairs(List<String> tokens) {
    List<String> pieces = tokens.subList(259, tokens.size());
    List<String[]> pairs = new ArrayList<>();
    for (String piece : pieces) {
      for (int cut = 1; cut < piece.length(); cut++) {
        String[] pair = {piece.substring(0, cut), piece.substring(cut)};
        if (pieces.contains(pair[0]) && pieces.contains(pair[1])) {
          pairs.add(pair);
        }
      }
    }
    pairs.sort(Comparator.comparingInt(pair -> tokens.indexOf(pair[0] + pair[1])));
    return pairs;
  }
}
