package io.radixflow.text.reply;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.grammar.Grammar;
import io.radixflow.grammar.GrammarMatcher;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.grammar.GrammarSpec.Kind;
import io.radixflow.grammar.TokenTrie;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
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
  void theFinalChannelOfHarmonyIsHeld() {
    ReplyFormat format = ReplyFormat.of("<|channel|><|message|>");
    Grammar grammar = Grammar.of(NUMBER.after(format.reasoningBefore("<|start|>assistant")));
    String thought = "<|channel|>analysis<|message|>hm<|end|><|start|>assistant";
    assertThat(matches(grammar, "<|channel|>final<|message|>17")).isTrue();
    assertThat(matches(grammar, thought + thought + "<|channel|>final<|message|>17")).isTrue();
    assertThat(matches(grammar, "<|channel|>final <|constrain|>json<|message|>17")).isTrue();
    assertThat(matches(grammar, thought + "<|channel|>final<|message|>x")).isFalse();
    assertThat(matches(grammar, thought + "17")).isFalse();
    assertThat(matches(grammar, "17")).isFalse();
  }

  /** Draws a token that a mask allows, a letter or a word if it can. */
  private static int draw(Random random, long[] mask, int vocabSize) {
    int[] all = IntStream.range(0, vocabSize).filter(id -> BitSet.valueOf(mask).get(id)).toArray();
    int[] words = IntStream.of(all).filter(id -> id >= 'A').toArray();
    return words.length > 0 ? words[random.nextInt(words.length)] : all[random.nextInt(all.length)];
  }

  @Test
  void aBudgetOfReasoningGoesTogetherWithAGrammar() {
    WordTokens tokens =
        new WordTokens(
            "<|channel|>",
            "<|message|>",
            "<|start|>",
            "<|end|>",
            "assistant",
            "analysis",
            "final",
            "commentary",
            "Hm");
    ReplyFormat format = ReplyFormat.of("<|channel|><|message|>");
    Grammar grammar = Grammar.of(NUMBER.after(format.reasoningBefore("")));
    for (int seed = 0; seed < 20; seed++) {
      Random random = new Random(seed);
      GrammarMatcher matcher = grammar.matcher(TokenTrie.of(tokens, tokens.markup()));
      ReasoningTracker tracker = ReasoningTokens.of(tokens, format).tracker("", 3);
      StringBuilder reply = new StringBuilder();
      for (int id = -1; id != 0 && reply.length() < 500; ) {
        long[] mask = new long[(tokens.vocabSize() + 63) / 64];
        matcher.mask(mask);
        tracker.restrict(mask);
        id = draw(random, mask, tokens.vocabSize());
        assertThat(matcher.acceptToken(id)).isTrue();
        tracker.accept(id);
        String mark = tokens.markup().get(id);
        reply.append(mark != null ? mark : new String(tokens.bytes(id), StandardCharsets.UTF_8));
      }
      assertThat(tracker.count()).isLessThanOrEqualTo(6);
      assertThat(reply.toString()).matches("(?s).*<\\|channel\\|>final.*<\\|message\\|>\\d+\\x00");
    }
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
