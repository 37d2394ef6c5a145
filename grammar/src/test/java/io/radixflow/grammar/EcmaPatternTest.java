package io.radixflow.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.schema.Whitespace;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Patterns of schemas are those of ECMA-262; the expected values are those of a JavaScript engine.
 */
class EcmaPatternTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static Grammar compile(String pattern) {
    ObjectNode schema = JSON.createObjectNode().put("type", "string").put("pattern", pattern);
    return Grammar.jsonSchema(schema.toString(), Whitespace.COMPACT);
  }

  private static boolean accepts(Grammar grammar, String value) throws IOException {
    byte[] bytes = JSON.writeValueAsString(value).getBytes(StandardCharsets.UTF_8);
    GrammarMatcher matcher = grammar.matcher();
    return matcher.acceptBytes(bytes) == bytes.length && matcher.canEnd();
  }

  @Test
  void patternsMatchWhatJavaScriptMatches() throws IOException {
    List<String> wrong = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                EcmaPatternTest.class.getResourceAsStream("/grammar/ecma.jsonl"),
                StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        JsonNode expected = JSON.readTree(line);
        String pattern = expected.get("pattern").textValue();
        Grammar grammar = compile(pattern);
        for (JsonNode text : expected.get("yes")) {
          if (!accepts(grammar, text.textValue())) {
            wrong.add(pattern + " refuses " + text);
          }
        }
        for (JsonNode text : expected.get("no")) {
          if (accepts(grammar, text.textValue())) {
            wrong.add(pattern + " accepts " + text);
          }
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"^[]$", "x^y", "x$y", "^a^b", "^\\Bb", "(?!)", "^(?=a)b"})
  void patternsThatNothingMatchesAreRefused(String pattern) {
    assertThatThrownBy(() -> compile(pattern)).isInstanceOf(GrammarException.class);
  }

  @ParameterizedTest
  @CsvSource({
    "(a)\\1,backreference",
    "(?<n>a)\\k<n>,backreference",
    "(?<=ab)c,look-behind at more than one character",
    "(,not closed",
    "[b-a],ends before it begins",
    "\\p{Nonsense},no class Nonsense"
  })
  void patternsThatAreNotServedSayWhy(String pattern, String reason) {
    assertThatThrownBy(() -> compile(pattern)).hasMessageContaining(reason);
  }

  @Test
  void anOperatorOfOtherDialectsIsARangeInASet() throws IOException {
    Grammar grammar = compile("^[a--c]$");

    assertThat(accepts(grammar, "b")).isTrue();
    assertThat(accepts(grammar, "-")).isTrue();
    assertThat(accepts(grammar, "x")).isFalse();
  }

  @Test
  void lettersOfUnicode16AreLettersOnEveryJdk() throws IOException {
    String olOnal = Character.toString(0x1E5D0);

    assertThat(accepts(compile("^\\p{L}$"), olOnal)).isTrue();
    assertThat(accepts(compile("^\\p{Script=Ol_Onal}$"), olOnal)).isTrue();
    assertThat(accepts(compile("^\\p{Cn}$"), olOnal)).isFalse();
  }

  @Test
  void lookAroundIsServedInExpressionsOfTheirOwn() {
    Grammar grammar = Grammar.regex("(?!.*\\.\\.)(?:\\b[a-z]+\\b\\.?)+(?<!\\.)");

    for (String text : List.of("a", "a.bc", "a..b", "ab.", "", ".a")) {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      GrammarMatcher matcher = grammar.matcher();
      boolean accepted = matcher.acceptBytes(bytes) == bytes.length && matcher.canEnd();
      assertThat(accepted).as(text).isEqualTo(Pattern.matches("[a-z]+(\\.[a-z]+)*", text));
    }
  }

  @Test
  void textThatALookAheadWouldEndIsNotBegun() {
    GrammarMatcher matcher = compile("^(?!admin$)(?!root)[a-z]{1,6}$").matcher();

    assertThat(matcher.acceptBytes("\"roo".getBytes(StandardCharsets.UTF_8))).isEqualTo(4);
    assertThat(matcher.acceptBytes("t".getBytes(StandardCharsets.UTF_8))).isZero();
    assertThat(matcher.acceptBytes("m\"".getBytes(StandardCharsets.UTF_8))).isEqualTo(2);
  }
}
