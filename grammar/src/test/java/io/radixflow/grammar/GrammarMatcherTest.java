package io.radixflow.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.schema.Whitespace;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** A reply in tokens: what may come next, where it may end, and how it goes on elsewhere. */
class GrammarMatcherTest {
  private static final int END = 0;

  /** Id 0 ends a turn, 1 is special, 2 to 257 are the bytes, then come the given texts. */
  private static TokenTrie trie(String... texts) {
    List<byte[]> tokens = new ArrayList<>();
    tokens.add(new byte[0]);
    tokens.add(new byte[0]);
    for (int b = 0; b < 256; b++) {
      tokens.add(new byte[] {(byte) b});
    }
    for (String text : texts) {
      tokens.add(text.getBytes(StandardCharsets.UTF_8));
    }
    return TokenTrie.of(tokens, END);
  }

  private static List<Integer> allowed(GrammarMatcher matcher, TokenTrie trie) {
    long[] mask = new long[(trie.vocabSize() + 63) / 64];
    matcher.mask(mask);
    List<Integer> ids = new ArrayList<>();
    for (int id = 0; id < trie.vocabSize(); id++) {
      if (BitSet.valueOf(mask).get(id)) {
        ids.add(id);
      }
    }
    return ids;
  }

  private static int id(char c) {
    return c + 2;
  }

  @Test
  void tokensMayCrossPartsOfTheGrammar() {
    TokenTrie trie = trie("{\"a\":", "{\"a\":1", "{\"b", "1}", "}");
    Grammar grammar =
        Grammar.jsonSchema(
            "{\"type\":\"object\",\"properties\":{\"a\":{\"const\":1}},\"required\":[\"a\"],"
                + "\"additionalProperties\":false}",
            Whitespace.COMPACT);
    GrammarMatcher matcher = grammar.matcher(trie);

    assertThat(allowed(matcher, trie)).containsExactly(id('{'), 258, 259);
    assertThat(matcher.acceptToken(260)).isFalse();
    assertThat(matcher.acceptToken(258)).isTrue();
    assertThat(allowed(matcher, trie)).containsExactly(id('1'), 261);
    assertThat(matcher.acceptToken(261)).isTrue();
    assertThat(allowed(matcher, trie)).containsExactly(END);
  }

  @Test
  void endTokensAreAllowedOnlyWhereTheGrammarMayEndAndOtherSpecialTokensNever() {
    TokenTrie trie = trie();
    GrammarMatcher matcher = Grammar.regex("a+").matcher(trie);

    assertThat(allowed(matcher, trie)).containsExactly(id('a'));
    assertThat(matcher.acceptToken(END)).isFalse();
    assertThat(matcher.acceptToken(1)).isFalse();
    assertThat(matcher.acceptToken(id('a'))).isTrue();
    assertThat(allowed(matcher, trie)).containsExactly(END, id('a'));
    assertThat(matcher.acceptToken(END)).isTrue();
    assertThat(allowed(matcher, trie)).containsExactly(END);
    assertThat(matcher.acceptToken(id('a'))).isFalse();
  }

  @Test
  void tokensMayEndInsideACharacter() {
    TokenTrie trie = trie();
    GrammarMatcher matcher = Grammar.regex("(é|😀)x").matcher(trie);

    assertThat(allowed(matcher, trie)).containsExactly(0xC3 + 2, 0xF0 + 2);
    for (int b : new int[] {0xF0, 0x9F, 0x98, 0x80}) {
      assertThat(allowed(matcher, trie)).contains(b + 2);
      assertThat(matcher.acceptToken(b + 2)).isTrue();
    }
    assertThat(allowed(matcher, trie)).containsExactly(id('x'));
  }

  @Test
  void countsAreExactBeforeAndAfterTheyComeInReachOfATokensLength() {
    TokenTrie trie = trie("ab", "abcde", "a\"", "ab\\n", "\\nabcd", "éé", "é\"", "ababababab");
    String schema = "{\"type\":\"string\",\"minLength\":30,\"maxLength\":40}";
    Grammar grammar = Grammar.jsonSchema(schema, Whitespace.COMPACT);
    GrammarMatcher matcher = grammar.matcher(trie);
    matcher.acceptToken(id('"'));
    for (int length = 0; length <= 40; length++) {
      List<Integer> accepted = new ArrayList<>();
      for (int id = 0; id < trie.vocabSize(); id++) {
        GrammarMatcher each = grammar.matcher(trie);
        each.acceptBytes(('"' + "x".repeat(length)).getBytes(StandardCharsets.UTF_8));
        if (each.acceptToken(id)) {
          accepted.add(id);
        }
      }
      assertThat(allowed(matcher, trie)).as(length + " characters").isEqualTo(accepted);
      matcher.acceptToken(id('x'));
    }
  }

  private static String forced(GrammarMatcher matcher) {
    byte[] target = new byte[64];
    return new String(target, 0, matcher.forcedText(target), StandardCharsets.UTF_8);
  }

  private static void accept(GrammarMatcher matcher, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    assertThat(matcher.acceptBytes(bytes)).isEqualTo(bytes.length);
  }

  @Test
  void theTextThatAGrammarLeavesNoChoiceAboutIsKnownAhead() {
    GrammarMatcher matcher =
        Grammar.jsonSchema(
                "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"},"
                    + "\"days\":{\"type\":\"integer\"}},\"required\":[\"city\",\"days\"],"
                    + "\"additionalProperties\":false}",
                Whitespace.SHORT)
            .matcher(trie());

    assertThat(forced(matcher)).isEqualTo("{\"city\": \"");
    accept(matcher, "{\n  \"city\":\"Oslo");
    assertThat(forced(matcher)).isEmpty();
    accept(matcher, "\"");
    assertThat(forced(matcher)).isEqualTo(", \"days\":");
    accept(matcher, ",\n  \"days\":4");
    assertThat(forced(matcher)).isEmpty();
    accept(matcher, "}");
    assertThat(forced(matcher)).isEmpty();
  }

  @Test
  void textThatIsKnownAheadNeverEndsWithGuessedWhiteSpace() {
    GrammarMatcher matcher =
        Grammar.jsonSchema(
                "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},"
                    + "\"required\":[\"city\"],\"additionalProperties\":false}",
                Whitespace.SHORT)
            .matcher(trie());

    int length = matcher.forcedText(new byte["{\"city\": ".length()]);

    assertThat(length).isEqualTo("{\"city\":".length());
  }

  @Test
  void aTextGoesBackToItsMark() {
    TokenTrie trie = trie("abc");
    GrammarMatcher matcher = Grammar.regex("(abc)*x").matcher(trie);
    matcher.acceptToken(258);
    List<Integer> before = allowed(matcher, trie);
    matcher.mark();
    matcher.acceptToken(258);
    matcher.acceptToken(id('x'));
    matcher.acceptToken(END);
    assertThat(matcher.hasEnded()).isTrue();
    matcher.rewind();

    assertThat(matcher.hasEnded()).isFalse();
    assertThat(matcher.length()).isEqualTo(3);
    assertThat(allowed(matcher, trie)).isEqualTo(before);
    assertThat(matcher.acceptToken(id('a'))).isTrue();
  }

  @Test
  void aRejectedTokenChangesNothing() {
    TokenTrie trie = trie("abx", "abc");
    GrammarMatcher matcher = Grammar.regex("abcd").matcher(trie);

    assertThat(matcher.acceptToken(258)).isFalse();
    assertThat(matcher.length()).isZero();
    assertThat(matcher.acceptToken(259)).isTrue();
    assertThat(allowed(matcher, trie)).containsExactly(id('d'));
  }

  @Test
  void feedingTheIdsAgainRestoresTheState() {
    TokenTrie trie = trie("[[", "],", "1,", "[1");
    String schema =
        "{\"type\":\"array\",\"items\":{\"anyOf\":[{\"$ref\":\"#\"},{\"type\":\"integer\"}]}}";
    Grammar grammar = Grammar.jsonSchema(schema, Whitespace.ANY);
    GrammarMatcher first = grammar.matcher(trie);
    List<Integer> ids = List.of(258, 260, 261, id(']'), id(','));
    for (int fed = 0; fed < ids.size(); fed++) {
      assertThat(first.acceptToken(ids.get(fed))).isTrue();

      GrammarMatcher again = Grammar.jsonSchema(schema, Whitespace.ANY).matcher(trie);
      ids.subList(0, fed + 1).forEach(again::acceptToken);

      assertThat(allowed(again, trie)).isEqualTo(allowed(first, trie));
    }
    first.reset();
    assertThat(allowed(first, trie)).isEqualTo(allowed(grammar.matcher(trie), trie));
  }

  @Test
  void threadsShareAGrammar() throws Exception {
    TokenTrie trie = trie("\"a", "\":", "{\"");
    Grammar grammar = Grammar.jsonSchema("{}", Whitespace.ANY);
    List<Integer> ids = List.of(260, id('k'), 259, id('['), 258, id('"'), id(']'), id('}'));
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<List<List<Integer>>>> masks = new ArrayList<>();
      for (int thread = 0; thread < 8; thread++) {
        masks.add(
            threads.submit(
                () -> {
                  GrammarMatcher matcher = grammar.matcher(trie);
                  List<List<Integer>> seen = new ArrayList<>();
                  for (int id : ids) {
                    seen.add(allowed(matcher, trie));
                    assertThat(matcher.acceptToken(id)).isTrue();
                  }
                  return seen;
                }));
      }
      for (Future<List<List<Integer>>> mask : masks) {
        assertThat(mask.get()).isEqualTo(masks.get(0).get());
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private static boolean accepts(Grammar grammar, String text) {
    GrammarMatcher matcher = grammar.matcher();
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return matcher.acceptBytes(bytes) == bytes.length && matcher.canEnd();
  }

  @Test
  void schemasStandInALarkGrammar() {
    String either = "{\"oneOf\": [{\"const\": \"{\"}, {\"type\": \"integer\"}]}";
    String flag = "{\"type\": \"array\", \"items\": {\"type\": \"boolean\"}}";
    Grammar grammar =
        Grammar.lark("start: \"<\" %json " + either + " /[x-z]/? flag \">\"\nflag: %json " + flag);
    assertThat(accepts(grammar, "<\"{\"y[true, false]>")).isTrue();
    assertThat(accepts(grammar, "<7[]>")).isTrue();
    assertThat(accepts(grammar, "<7w[]>")).isFalse();
    assertThat(accepts(grammar, "<true[]>")).isFalse();
    assertThat(accepts(grammar, "<7[0]>")).isFalse();
  }

  @Test
  void schemasInALarkGrammarAreRefusedAsElsewhere() {
    for (String grammar :
        List.of(
            "start: %json {\"type\": \"object\"",
            "start: %json true", "start: A\nA: %json {}", "start: %json {\"uniqueItems\": true}")) {
      assertThatThrownBy(() -> Grammar.lark(grammar)).isInstanceOf(GrammarException.class);
    }
  }

  @Test
  void gapsOfALarkGrammarStandBetweenTerminalsOnly() {
    Grammar grammar = Grammar.lark("%ignore / +/\nstart: \"a\" B\nB: \"b\"");

    assertThat(grammar.matcher().acceptBytes(" a".getBytes(StandardCharsets.UTF_8))).isZero();
    assertThat(grammar.matcher().acceptBytes("a  b".getBytes(StandardCharsets.UTF_8))).isEqualTo(4);
    assertThat(grammar.matcher().acceptBytes("ab ".getBytes(StandardCharsets.UTF_8))).isEqualTo(2);
  }
}
