package io.radixflow.text.tokenizer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.models.ModelFormatException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GgufTokenizersTest {

  private static final GgufHeader GOOD = TinyVocabulary.get().header("smollm");

  @Test
  void kindsThatAreNotSupportedAreNamedWithThoseThatAre() {
    assertRefused(GOOD.with("tokenizer.ggml.model", "bert"), "'bert' is not supported");
    assertRefused(GOOD.with("tokenizer.ggml.pre", "wpm"), "'wpm' is not supported", "qwen2");
  }

  @Test
  void contradictoryMetadataIsRefused() {
    assertRefused(GOOD.with("tokenizer.ggml.tokens", List.of()), "0 tokens");
    assertRefused(GOOD.with("tokenizer.ggml.token_type", List.of(1L)), "1 entries for");
    assertRefused(GOOD.with("tokenizer.ggml.eos_token_id", 99_999L), "is 99999");
    assertRefused(GOOD.with("tokenizer.ggml.eos_token_id", -1L), "is -1");
    assertRefused(GOOD.without("tokenizer.ggml.merges"), "merges");
    assertRefused(
        GOOD.with("tokenizer.ggml.model", "llama").with("tokenizer.ggml.scores", List.of(0.0)),
        "1 entries for");
  }

  @Test
  void mergesOfUnknownTokensAreLeftOut() {
    List<String> merges = new ArrayList<>(TinyVocabulary.get().merges);
    merges.add("nowhere toBeFound");
    merges.add("nospace");
    assertThat(read(GOOD.with("tokenizer.ggml.merges", merges)).encode("the tea"))
        .isEqualTo(read(GOOD).encode("the tea"));
  }

  @Test
  void specialTokensAreFoundByTextAndHaveNoBytes() {
    Tokenizer tokenizer = read(GOOD);
    assertThat(tokenizer.encodeWithSpecial("<|end|>")).containsExactly(0);
    assertThat(tokenizer.bytes(0)).isEmpty();
    assertThat(tokenizer.endOfTurnIds()).containsExactly(0);
    assertThat(tokenizer.vocabSize()).isEqualTo(TinyVocabulary.get().tokens.size());
  }

  @Test
  void markupTokensAreTextButNotMadeFromUsersText() {
    Tokenizer tokenizer = read(GOOD);
    int id = tokenizer.encodeWithSpecial("<think>")[0];
    assertThat(new String(tokenizer.bytes(id))).isEqualTo("<think>");
    assertThat(tokenizer.encode("<think>")).doesNotContain(id);
    assertThat(tokenizer.encodeWithSpecial("a<think>")).endsWith(id);
  }

  @Test
  void turnsEndWithAnyOfTheDeclaredTokens() {
    GgufHeader several = GOOD.with("tokenizer.ggml.eot_token_id", 1L);
    assertThat(read(several).endOfTurnIds()).containsExactly(0, 1);
  }

  @Test
  void aByteWithoutATokenYieldsNone() {
    List<String> tokens = new ArrayList<>(TinyVocabulary.get().tokens);
    tokens.set(3 + 4, "gone");
    Tokenizer tokenizer = read(GOOD.with("tokenizer.ggml.tokens", tokens));
    assertThat(tokenizer.encode("\4")).isEmpty();
    assertThat(tokenizer.encode("a\4")).isEqualTo(tokenizer.encode("a"));
  }

  @Test
  void loneSurrogatesAreReplacementCharacters() {
    Tokenizer tokenizer = read(GOOD);
    assertThat(tokenizer.encode("a\uD83Db\uDE00")).isEqualTo(tokenizer.encode("a\uFFFDb\uFFFD"));
  }

  @Test
  void theFingerprintCoversWhatDecidesIds() {
    String fingerprint = read(GOOD).fingerprint();
    assertThat(fingerprint).matches("[0-9a-f]{16}");
    assertThat(read(GOOD.with("other", 1L)).fingerprint()).isEqualTo(fingerprint);
    List<String> merges = TinyVocabulary.get().merges;
    assertThat(
            List.of(
                GOOD.with("tokenizer.ggml.pre", "gpt-2"),
                GOOD.with("tokenizer.ggml.merges", merges.subList(1, merges.size())),
                GOOD.with("tokenizer.ggml.eos_token_id", 1L)))
        .extracting(header -> read(header).fingerprint())
        .doesNotContain(fingerprint)
        .doesNotHaveDuplicates();
  }

  @Test
  void bosComesBeforeAPlainPromptIfTheFileOrTheKindOfTokenizerSaysSo() {
    GgufHeader bos = GOOD.with("tokenizer.ggml.bos_token_id", 1L);
    assertThat(promptStart(bos)).isEmpty();
    assertThat(promptStart(bos.with("tokenizer.ggml.add_bos_token", true))).containsExactly(1);
    assertThat(promptStart(bos.with("tokenizer.ggml.pre", "llama-bpe"))).containsExactly(1);
    GgufHeader sentencePiece = bos.with("tokenizer.ggml.model", "llama");
    assertThat(promptStart(sentencePiece)).containsExactly(1);
    assertThat(promptStart(sentencePiece.with("tokenizer.ggml.add_bos_token", false))).isEmpty();
    assertThat(promptStart(GOOD.with("tokenizer.ggml.add_bos_token", true))).isEmpty();
    GgufHeader wrong = sentencePiece.with("tokenizer.ggml.bos_token_id", 99_999L);
    assertThatThrownBy(() -> promptStart(wrong)).isInstanceOf(ModelFormatException.class);
  }

  private static int[] promptStart(GgufHeader header) {
    return GgufTokenizers.promptStart(header.metadata());
  }

  private static Tokenizer read(GgufHeader header) {
    return GgufTokenizers.read(header.metadata());
  }

  private static void assertRefused(GgufHeader header, String... messages) {
    assertThatThrownBy(() -> read(header))
        .isInstanceOf(ModelFormatException.class)
        .hasMessageContainingAll(messages);
  }
}
