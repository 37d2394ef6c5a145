package io.radixflow.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.schema.Whitespace;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Grammars that want more time, memory or stack than they may have are refused, or are harmless.
 */
class HostileGrammarTest {
  private static void refusesSchema(String schema) {
    assertThatThrownBy(() -> Grammar.jsonSchema(schema, Whitespace.ANY))
        .isInstanceOf(GrammarException.class);
  }

  private static int accepted(Grammar grammar, String text) {
    return grammar.matcher().acceptBytes(text.getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void sourcesOfAMegabyteAreRefused() {
    String large = "a".repeat(1 << 20);

    assertThatThrownBy(() -> Grammar.regex(large)).hasMessageContaining("too large");
    assertThatThrownBy(() -> Grammar.lark("start: \"" + large + "\""))
        .hasMessageContaining("too large");
    assertThatThrownBy(() -> Grammar.gbnf("root ::= \"" + large + "\""))
        .hasMessageContaining("too large");
    refusesSchema("{\"const\":\"" + large + "\"}");
  }

  @Test
  void deepGrammarsAreRefused() {
    int deep = 20_000;
    refusesSchema("{\"items\":".repeat(deep) + "true" + "}".repeat(deep));
    refusesSchema("[".repeat(deep));
    assertThatThrownBy(() -> Grammar.regex("(".repeat(deep) + ")".repeat(deep)))
        .isInstanceOf(GrammarException.class);
    assertThatThrownBy(() -> Grammar.regex("a" + "*".repeat(deep)))
        .isInstanceOf(GrammarException.class);
    assertThatThrownBy(() -> Grammar.regex("[".repeat(deep))).isInstanceOf(GrammarException.class);
    assertThatThrownBy(
            () -> Grammar.lark("start: " + "(".repeat(deep) + "\"a\"" + ")".repeat(deep)))
        .isInstanceOf(GrammarException.class);
    assertThatThrownBy(() -> Grammar.gbnf("root ::= " + "(".repeat(deep)))
        .isInstanceOf(GrammarException.class);
  }

  @Test
  void longChainsOfRulesNeedNoStackOfTheirLength() {
    String chain =
        IntStream.range(0, 800)
            .mapToObj(i -> "r" + i + ": r" + (i + 1) + " \"a\" | \"b\"\n")
            .collect(Collectors.joining());
    Grammar grammar = Grammar.lark("start: r0\n" + chain + "r800: \"c\"");

    assertThat(accepted(grammar, "baa")).isPositive();
    assertThatThrownBy(() -> Grammar.lark("start: r0\n" + chain + "r800: r0 \"c\""))
        .isInstanceOf(GrammarException.class);
  }

  @Test
  void choicesThatMultiplyAreRefused() {
    String choice = "{\"anyOf\":[{\"minLength\":1},{\"maxLength\":9}]}";
    String all = IntStream.range(0, 40).mapToObj(i -> choice).collect(Collectors.joining(","));

    refusesSchema("{\"allOf\":[" + all + "]}");
  }

  @Test
  void manyIntersectionsShareOneBoundOfWork() {
    String impossible =
        IntStream.range(8, 20)
            .mapToObj(
                i ->
                    String.format(
                        "{\"type\":\"string\",\"allOf\":[{\"pattern\":\"^[ab]*a[ab]{%d}$\"},"
                            + "{\"pattern\":\"^[ab]*b[ab]{%d}$\"}]}",
                        i, i))
            .collect(Collectors.joining(","));

    assertThatThrownBy(
            () -> Grammar.jsonSchema("{\"anyOf\":[" + impossible + "]}", Whitespace.COMPACT))
        .hasMessageContaining("intersections take too long");
  }

  @Test
  void branchesThatOverlapAreRefusedWithoutALongSearch() {
    String branches =
        IntStream.range(5, 35)
            .mapToObj(i -> "{\"type\":\"string\",\"pattern\":\"^.*a.{" + i + "}$\"}")
            .collect(Collectors.joining(","));

    assertThatThrownBy(
            () -> Grammar.jsonSchema("{\"oneOf\":[" + branches + "]}", Whitespace.COMPACT))
        .hasMessageContaining("too large");
  }

  @Test
  void manyBranchesThatAPropertyTellsApartAreCompiled() {
    String branches =
        IntStream.range(0, 190)
            .mapToObj(
                i ->
                    "{\"type\":\"object\",\"properties\":{\"kind\":{\"const\":\"k"
                        + i
                        + "\"},\"n\":{\"type\":\"integer\"}},\"required\":[\"kind\"],"
                        + "\"additionalProperties\":false}")
            .collect(Collectors.joining(","));
    Grammar grammar = Grammar.jsonSchema("{\"oneOf\":[" + branches + "]}", Whitespace.COMPACT);

    assertThat(accepted(grammar, "{\"kind\":\"k77\",\"n\":1}")).isEqualTo(20);
    assertThat(accepted(grammar, "{\"kind\":\"k190\"}")).isEqualTo(12);
  }

  @Test
  void manyStringsOfAFormatAndALengthAreCompiled() {
    List<String> formats =
        List.of("uri", "ipv6", "email", "date-time", "uuid", "hostname", "duration", "ipv4");
    String properties =
        IntStream.range(0, 300)
            .mapToObj(
                i ->
                    String.format(
                        "\"p%d\":{\"type\":\"string\",\"format\":\"%s\",\"minLength\":%d,"
                            + "\"maxLength\":%d}",
                        i, formats.get(i % 8), i % 3, 50 + i))
            .collect(Collectors.joining(","));
    Grammar grammar =
        Grammar.jsonSchema("{\"properties\":{" + properties + "}}", Whitespace.COMPACT);

    assertThat(accepted(grammar, "{\"p2\":\"ada@example.org\",\"p3\":\"2026-11-23T1"))
        .isEqualTo(42);
    assertThat(accepted(grammar, "{\"p7\":\"1.2.3.456\"}")).isEqualTo(15);
  }

  @Test
  void theMaskOfABoundedStringNearItsEndNeedsNoLookAtEachWord() {
    TokenTrie trie = words();
    Grammar grammar =
        Grammar.jsonSchema("{\"type\":\"string\",\"maxLength\":20}", Whitespace.COMPACT);
    GrammarMatcher matcher = grammar.matcher(trie);
    matcher.acceptBytes("\"0123456789".getBytes(StandardCharsets.UTF_8));
    long before = grammar.automaton.work();
    long[] mask = new long[(trie.vocabSize() + 63) / 64];
    matcher.mask(mask);

    assertThat(Arrays.stream(mask).map(Long::bitCount).sum()).isZero();
    assertThat(grammar.automaton.work() - before).isLessThan(100);
  }

  private static TokenTrie words() {
    List<byte[]> words = new ArrayList<>();
    for (int word = 0; word < 1 << 14; word++) {
      String letters = Integer.toBinaryString(word | 1 << 14).replace('0', 'a').replace('1', 'b');
      words.add(letters.getBytes(StandardCharsets.UTF_8));
    }
    return TokenTrie.of(words);
  }

  @Test
  void aMaskThatTakesTooLongIsGivenUpAtTheSameTokenInAnyHistory() {
    TokenTrie trie = words();
    Grammar warm = Grammar.regex("(a|b)*a(a|b){300}c");
    long[] mask = new long[(trie.vocabSize() + 63) / 64];
    List<Integer> failed = new ArrayList<>();
    for (Grammar grammar : List.of(warm, warm, Grammar.regex("(a|b)*a(a|b){300}c"))) {
      GrammarMatcher matcher = grammar.matcher(trie);
      int taken = 0;
      try {
        while (taken < 1_000) {
          matcher.mask(mask);
          matcher.acceptToken(taken * 31 % trie.vocabSize());
          taken++;
        }
      } catch (GrammarException e) {
        assertThat(e).hasMessageContaining("take too long to find");
      }
      failed.add(taken);
    }

    assertThat(failed.get(0)).isBetween(1, 999);
    assertThat(failed).containsOnly(failed.get(0));
  }

  @Test
  void theMemoryOfAGrammarIsEstimatedAndBounded() {
    TokenTrie trie = words();
    Grammar grammar = Grammar.regex("(a|b)*a(a|b){8}c");
    long compiled = grammar.bytes();
    GrammarMatcher matcher = grammar.matcher(trie);
    long[] mask = new long[(trie.vocabSize() + 63) / 64];
    for (int taken = 0; taken < 100; taken++) {
      matcher.mask(mask);
      matcher.acceptToken(taken * 31 % trie.vocabSize());
    }

    assertThat(compiled).isPositive();
    assertThat(grammar.bytes()).isBetween(compiled + 1, 100L << 20);
  }

  @Test
  void manySetsOfCharactersAreRefused() {
    String sets =
        IntStream.range(0x4E00, 0x4E00 + 3_000)
            .mapToObj(c -> "[^" + (char) c + "]")
            .collect(Collectors.joining("|"));

    assertThatThrownBy(() -> Grammar.regex(sets)).hasMessageContaining("sets of characters");
  }

  @Test
  void manyPropertiesAndLongChainsOfRulesAreCompiled() {
    String properties =
        IntStream.range(0, 3_000)
            .mapToObj(i -> "\"p" + i + "\":true")
            .collect(Collectors.joining(","));
    String chain =
        IntStream.range(0, 9_000)
            .mapToObj(i -> "r" + i + ": r" + (i + 1) + "\n")
            .collect(Collectors.joining());

    assertThat(
            accepted(
                Grammar.jsonSchema("{\"properties\":{" + properties + "}}", Whitespace.COMPACT),
                "{\"p2999\":1}"))
        .isEqualTo(11);
    assertThat(accepted(Grammar.lark("start: r0\n" + chain + "r9000: \"c\""), "c")).isOne();
  }

  @Test
  void definitionsThatDoubleAtEachLevelAreRefusedOrShared() {
    String definitions =
        IntStream.range(0, 40)
            .mapToObj(
                i ->
                    String.format(
                        "\"d%d\":{\"allOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]}",
                        i, i + 1, i + 1))
            .collect(Collectors.joining(","));
    String schema =
        "{\"$defs\":{" + definitions + ",\"d40\":{\"type\":\"null\"}},\"$ref\":\"#/$defs/d0\"}";

    assertThat(accepted(Grammar.jsonSchema(schema, Whitespace.COMPACT), "null")).isEqualTo(4);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"$ref\":\"#\"}",
        "{\"anyOf\":[{\"$ref\":\"#\"},{\"type\":\"null\"}]}",
        "{\"allOf\":[{\"$ref\":\"#\"}]}",
        "{\"$ref\":\"http://example.org/schema\"}",
        "{\"$ref\":\"#/$defs/missing\"}",
        "{\"minimum\":1e999999999}",
        "{\"multipleOf\":1e-999999999}",
        "{\"const\":1e999999999}",
        "{\"multipleOf\":1234567891}",
        "{\"type\":\"object\",\"minProperties\":1000000000}",
        "{\"type\":\"string\",\"minLength\":1000000000}",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":\"#\"}},\"required\":[\"a\"]}"
      })
  void schemasThatLoopOrAskForTheImpossibleAreRefused(String schema) {
    refusesSchema(schema);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "(a*)*",
        "((a|a)*)*",
        "(a|aa)*",
        "(a*)*b",
        "(a?){1000}",
        "(a|b)*a(a|b){500}",
        ".*.*.*.*.*x",
        "a{1,1000000}",
        "(a{1000}){1000}",
        "(.*a){20}",
        "\\w{1000}",
        "(\\p{L}|\\p{N}){1,500}"
      })
  void expressionsThatTakeOthersExponentialTimeAreHarmless(String regex) {
    Grammar grammar = Grammar.regex(regex);

    assertThat(accepted(grammar, "a".repeat(200))).isEqualTo(200);
  }

  @ParameterizedTest
  @ValueSource(strings = {"a{1000001}", "((a{1,99}){1,99}){1,99}", "((a{0,60}b?){0,60}c?){0,60}"})
  void countsBeyondTheLimitsAreRefusedAtOnceOrWhenTheyGrow(String regex) {
    assertThatThrownBy(
            () -> {
              GrammarMatcher matcher = Grammar.regex(regex).matcher();
              matcher.acceptBytes("a".repeat(5_000).getBytes(StandardCharsets.UTF_8));
              throw GrammarException.tooLarge("the text is what was bounded");
            })
        .isInstanceOf(GrammarException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "start: start start | \"a\"",
        "start: a\na: b \"a\" | \"a\"\nb: a | b a | ",
        "start: start? \"a\"",
        "start: (\"a\"*)*",
        "start: x*\nx: x x | \"a\" |",
        "start: \"a\" start? \"a\"? "
      })
  void ambiguousGrammarsStayBounded(String grammar) {
    assertThat(accepted(Grammar.lark(grammar), "a".repeat(100))).isEqualTo(100);
  }

  @Test
  void rulesThatMultiplyTheirReadingsAreRefusedBeforeTheyTakeLong() {
    String a = "a ".repeat(16);
    String bomb =
        "root ::= "
            + a
            + "\na ::= "
            + "b ".repeat(13)
            + "\nb ::= "
            + "c ".repeat(11)
            + "\nc ::= \"\" | \"x\" | c c";

    assertThatThrownBy(() -> accepted(Grammar.gbnf(bomb), "xx"))
        .hasMessageContaining("one byte can be read in too many ways");
    assertThatThrownBy(() -> Grammar.lark("start: " + "a? ".repeat(5_000) + "\na: \"x\" b\nb: a |"))
        .hasMessageContaining("one byte can be read in too many ways");
  }

  @Test
  void aCompilationEndsAfterTheSameWorkEachTime() {
    String values =
        IntStream.range(0, 9_000)
            .mapToObj(i -> "\"" + "v".repeat(i % 5) + i + "\"")
            .collect(Collectors.joining(","));
    String many =
        IntStream.range(0, 40)
            .mapToObj(i -> "\"p" + i + "\":{\"$ref\":\"#/$defs/v\",\"maxLength\":" + i + "}")
            .collect(Collectors.joining(","));
    String schema = "{\"$defs\":{\"v\":{\"enum\":[" + values + "]}},\"properties\":{" + many + "}}";

    for (int i = 0; i < 2; i++) {
      assertThatThrownBy(() -> Grammar.jsonSchema(schema, Whitespace.COMPACT))
          .isInstanceOf(GrammarException.class)
          .hasMessageContaining("too large");
    }
  }

  @Test
  void deepTextsEndAtTheLimitOfOpenRules() {
    Grammar grammar = Grammar.jsonSchema("{}", Whitespace.COMPACT);
    int accepted = accepted(grammar, "[".repeat(100_000));

    assertThat(accepted).isBetween(100, 1_000);
    assertThat(accepted(grammar, "[".repeat(accepted) + "]".repeat(accepted)))
        .isEqualTo(2 * accepted);
  }

  @Test
  void statesAreDroppedWhenThereAreTooManyAndMatchersGoOn() {
    Grammar grammar = Grammar.regex("[a-z]{0,60000}!");
    GrammarMatcher early = grammar.matcher();
    early.acceptBytes("abc".getBytes(StandardCharsets.UTF_8));

    GrammarMatcher matcher = grammar.matcher();
    byte[] some = "abcdefghij".repeat(100).getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < 59; i++) {
      assertThat(matcher.acceptBytes(some)).isEqualTo(some.length);
    }

    assertThat(early.acceptBytes("d!".getBytes(StandardCharsets.UTF_8))).isEqualTo(2);
    assertThat(early.canEnd()).isTrue();
    assertThat(matcher.acceptBytes("!".getBytes(StandardCharsets.UTF_8))).isOne();
  }
}
