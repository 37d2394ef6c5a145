package io.radixflow.text.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Unigram with and without byte fallback against Hugging Face's tokenizer. */
class UnigramTokenizerProperties {

  private static final String PIECES =
      "▁the ▁t he ▁th ▁in ▁k et tle ▁kettle kettle ▁▁ ab aba aa aaa er ▁a an and ▁and 日本 本語 s <s";

  private static final Map<String, Subject> SUBJECTS = new ConcurrentHashMap<>();

  private record Subject(Tokenizer own, DjlOracle oracle) {

    static Subject of(String kind) {
      ObjectNode json = json(kind);
      return new Subject(TokenizerJson.read(json, Set.of("</s>"), new int[0]), new DjlOracle(json));
    }
  }

  @Provide
  Arbitrary<String> kinds() {
    return Arbitraries.of("bytes always", "bytes never", "unknown first", "unknown always");
  }

  @Provide
  Arbitrary<String> texts() {
    Arbitrary<String> words =
        Arbitraries.of((PIECES.replace('▁', ' ') + " <s> </s> <unk> ▁ x é").split(" ", -1))
            .list()
            .ofMaxSize(20)
            .map(list -> String.join(" ", list));
    return Arbitraries.oneOf(words, HostileText.wellFormed())
        .map(text -> text.replace("<0x", "<0 x"));
  }

  @Property(tries = 1000)
  void idsAreThoseOfHuggingFace(@ForAll("kinds") String kind, @ForAll("texts") String text) {
    Subject subject = SUBJECTS.computeIfAbsent(kind, Subject::of);
    assertThat(subject.own().encodeWithSpecial(text)).isEqualTo(subject.oracle().encode(text));
  }

  @Property(tries = 500)
  void whatAUserWritesNeverBecomesASpecialToken(
      @ForAll("kinds") String kind, @ForAll("texts") String text) {
    int[] ids = SUBJECTS.computeIfAbsent(kind, Subject::of).own().encode(text);
    assertThat(ids).doesNotContain(1, 2);
  }

  private static ObjectNode json(String kind) {
    boolean bytes = kind.startsWith("bytes");
    List<String> tokens = new ArrayList<>(List.of("<unk>", "<s>", "</s>"));
    for (int b = 0; bytes && b < 256; b++) {
      tokens.add("<0x%02X>".formatted(b));
    }
    tokens.addAll(List.of(PIECES.split(" ")));
    "▁abdehiklnrst<>/.日本語0".codePoints().forEach(c -> tokens.add(Character.toString(c)));
    ObjectNode root = DjlOracle.JSON.createObjectNode().put("version", "1.0");
    ArrayNode added = root.putArray("added_tokens");
    for (int id = 0; id < 3; id++) {
      DjlOracle.addToken(added, id, tokens.get(id), true);
    }
    root.putNull("normalizer");
    root.putObject("pre_tokenizer")
        .put("type", "Metaspace")
        .put("replacement", "▁")
        .put("prepend_scheme", kind.substring(kind.indexOf(' ') + 1))
        .put("split", !bytes);
    root.putNull("post_processor").putNull("decoder");
    ObjectNode model =
        root.putObject("model").put("type", "Unigram").put("unk_id", 0).put("byte_fallback", bytes);
    ArrayNode vocab = model.putArray("vocab");
    for (int id = 0; id < tokens.size(); id++) {
      vocab.addArray().add(tokens.get(id)).add(id < 3 ? 0.0 : -2 - id * 7 % 31 / 3.0);
    }
    return root;
  }
}
