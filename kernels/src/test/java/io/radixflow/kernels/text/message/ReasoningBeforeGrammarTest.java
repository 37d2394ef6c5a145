package io.radixflow.kernels.text.message;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.grammar.Grammar;
import io.radixflow.kernels.grammar.GrammarMatcher;
import io.radixflow.kernels.grammar.GrammarSpec;
import io.radixflow.kernels.grammar.GrammarSpec.Kind;
import io.radixflow.kernels.grammar.TokenTrie;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Content that is held to a grammar, after reasoning that is free. */
class ReasoningBeforeGrammarTest {
  private static final GrammarSpec NUMBER =
      new GrammarSpec(Kind.JSON_SCHEMA, "{\"type\":\"integer\",\"minimum\":0}");

  private static boolean matches(Grammar grammar, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    GrammarMatcher matcher = grammar.matcher();
    return matcher.acceptBytes(bytes) == bytes.length && matcher.canEnd();
  }

  @ParameterizedTest
  @CsvSource({
    "<think>,</think>",
    "[THINK],[/THINK]",
    "<seed:think>,</seed:think>",
    "<|START_THINKING|>,<|END_THINKING|>",
    "<|inner_prefix|>,<|inner_suffix|>",
    "<|channel>thought,<channel|>",
    "◁think▷,◁/think▷"
  })
  void reasoningIsFreeAndWhatFollowsIsHeld(String open, String close) {
    ReplyFormat format = ReplyFormat.of("a template with " + open + " and " + close);
    Grammar fresh = Grammar.of(NUMBER.after(format.reasoningBefore("assistant\n")));
    assertThat(matches(fresh, "17")).isTrue();
    assertThat(matches(fresh, open + "\nhm, <b> [c] 5 < 7\n" + close + "\n\n17")).isTrue();
    assertThat(matches(fresh, open + "hm" + close + "x")).isFalse();
    assertThat(matches(fresh, "hm" + close + "17")).isFalse();
    Grammar within = Grammar.of(NUMBER.after(format.reasoningBefore("assistant\n" + open + "\n")));
    assertThat(matches(within, "hm" + close + "17")).isTrue();
    assertThat(matches(within, "17")).isFalse();
  }

  @Test
  void eachLanguageCanHaveReasoningBefore() {
    String before = ReplyFormat.of("<think></think>").reasoningBefore("");
    for (GrammarSpec spec :
        List.of(
            new GrammarSpec(Kind.REGEX, "ab+"),
            new GrammarSpec(Kind.LARK, "start: \"a\" B\nB: \"b\"+"),
            new GrammarSpec(Kind.GBNF, "root ::= \"ab\" | root \"b\""))) {
      Grammar grammar = Grammar.of(spec.after(before));
      assertThat(matches(grammar, "abb")).isTrue();
      assertThat(matches(grammar, "<think>x</think>\nabb")).isTrue();
      assertThat(matches(grammar, "<think>x</think><think>x</think>ab")).isFalse();
      assertThat(matches(grammar, "ba")).isFalse();
    }
  }

  @Test
  void aMarkMayBeATokenOrItsCharacters() {
    List<byte[]> bytes = new ArrayList<>();
    for (int value = 0; value < 256; value++) {
      bytes.add(new byte[] {(byte) value});
    }
    bytes.add("<think>".getBytes(StandardCharsets.UTF_8));
    bytes.add(new byte[0]);
    TokenTrie trie = TokenTrie.of(bytes, 257);
    String before = ReplyFormat.of("<think></think>").reasoningBefore("");
    GrammarMatcher matcher = Grammar.of(NUMBER.after(before)).matcher(trie);
    long[] mask = new long[5];
    matcher.mask(mask);
    assertThat(mask[4] & 1).isOne();
    assertThat(mask['<' >> 6] >>> '<' & 1).isOne();
    assertThat(matcher.acceptToken(256)).isTrue();
    matcher.mask(mask);
    assertThat(mask['h' >> 6] >>> 'h' & 1).isOne();
  }
}
