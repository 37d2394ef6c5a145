package io.radixflow.text.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.models.file.format.GgufMetadata;
import io.radixflow.text.pretokenizer.NamedPreTokenizers;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Byte-level BPE against Hugging Face's tokenizer, on a small vocabulary that has every byte. */
class ByteLevelTokenizerProperties {

  private static final Map<String, Subject> SUBJECTS = new ConcurrentHashMap<>();

  /** A tokenizer read from GGUF metadata and from JSON, and the oracle without added tokens. */
  private record Subject(Tokenizer gguf, Tokenizer json, DjlOracle plain, DjlOracle special) {

    static Subject of(String pre) {
      GgufMetadata metadata = TinyVocabulary.get().metadata(pre);
      ObjectNode json = DjlOracle.byteLevelJson(metadata, true);
      return new Subject(
          GgufTokenizers.read(metadata),
          TokenizerJson.read(json, Set.of("<|end|>"), new int[0]),
          new DjlOracle(DjlOracle.byteLevelJson(metadata, false)),
          new DjlOracle(json));
    }
  }

  @Provide
  Arbitrary<String> preTokenizers() {
    return Arbitraries.of("gpt-2", "smollm", "refact", "starcoder", "llama-bpe", "qwen2");
  }

  @Provide
  Arbitrary<String> wellFormed() {
    return HostileText.wellFormed();
  }

  @Provide
  Arbitrary<String> any() {
    return HostileText.any();
  }

  @Property(tries = 4000)
  void idsAreThoseOfHuggingFace(
      @ForAll("preTokenizers") String pre, @ForAll("wellFormed") String text) {
    Subject subject = SUBJECTS.computeIfAbsent(pre, Subject::of);
    assertThat(subject.gguf().encode(text)).isEqualTo(subject.plain().encode(text));
    assertThat(subject.gguf().encodeWithSpecial(text)).isEqualTo(subject.special().encode(text));
    assertThat(subject.json().encode(text)).isEqualTo(subject.gguf().encode(text));
    assertThat(subject.json().encodeWithSpecial(text))
        .isEqualTo(subject.gguf().encodeWithSpecial(text));
  }

  @Property(tries = 2000)
  void textSurvivesEncodingAndDecoding(
      @ForAll("preTokenizers") String pre, @ForAll("any") String text) {
    Tokenizer tokenizer = SUBJECTS.computeIfAbsent(pre, Subject::of).gguf();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int id : tokenizer.encode(text)) {
      assertThat(tokenizer.byteCount(id)).isPositive();
      bytes.writeBytes(tokenizer.bytes(id));
    }
    String written = new String(VocabularyTokenizer.wellFormed(text));
    String expected =
        NamedPreTokenizers.composes(pre)
            ? Normalizer.normalize(written, Normalizer.Form.NFC)
            : written;
    assertThat(bytes.toString(StandardCharsets.UTF_8)).isEqualTo(expected);
  }
}
