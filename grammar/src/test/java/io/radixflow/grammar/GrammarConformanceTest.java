package io.radixflow.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.radixflow.grammar.regex.GrammarException;
import io.radixflow.grammar.schema.Whitespace;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Judges the texts of the golden data: accepted, or the first byte that cannot be. */
class GrammarConformanceTest {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();

  private static List<JsonNode> lines(String name) throws IOException {
    List<JsonNode> lines = new ArrayList<>();
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                GrammarConformanceTest.class.getResourceAsStream("/grammar/" + name + ".jsonl"),
                StandardCharsets.UTF_8))) {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        lines.add(JSON.readTree(line));
      }
    }
    return lines;
  }

  private static Grammar compile(JsonNode line, String key, String whitespace) {
    return switch (key) {
      case "schema" ->
          Grammar.jsonSchema(
              line.get(key).toString(),
              whitespace.equals("any") ? Whitespace.ANY : Whitespace.COMPACT);
      case "regex" -> Grammar.regex(line.get(key).textValue());
      case "lark" -> Grammar.lark(line.get(key).textValue());
      default -> Grammar.gbnf(line.get(key).textValue());
    };
  }

  private static String verdict(Grammar grammar, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    GrammarMatcher matcher = grammar.matcher();
    int at = matcher.acceptBytes(bytes);
    return at == bytes.length && matcher.canEnd() ? "accepted" : "not at " + at;
  }

  private static void check(String file, String key) throws IOException {
    List<String> wrong = new ArrayList<>();
    for (JsonNode line : lines(file)) {
      if (!line.has(key)) {
        continue;
      }
      for (JsonNode text : line.get("texts")) {
        Grammar grammar = compile(line, key, text.path("whitespace").asText());
        String expected =
            text.get("accepted").booleanValue() ? "accepted" : "not at " + text.get("at").asInt();
        String given = verdict(grammar, text.get("text").textValue());
        if (!given.equals(expected)) {
          wrong.add(line.get("name") + " " + text.get("text") + ": " + given + ", not " + expected);
        }
      }
    }
    assertThat(wrong).isEmpty();
  }

  @Test
  void schemasAcceptTheTextsThatTheyShould() throws IOException {
    check("schemas", "schema");
  }

  @Test
  void regularExpressionsAcceptTheTextsThatTheyShould() throws IOException {
    check("regexes", "regex");
  }

  @Test
  void larkGrammarsAcceptTheTextsThatTheyShould() throws IOException {
    check("larks", "lark");
  }

  @Test
  void gbnfGrammarsAcceptTheTextsThatTheyShould() throws IOException {
    check("larks", "gbnf");
  }

  @Test
  void whatIsNotServedIsRefusedOrJudgedAsJsonSchemaDoes() throws IOException {
    for (JsonNode line : lines("refused")) {
      String key = line.has("schema") ? "schema" : line.has("regex") ? "regex" : "lark";
      if (line.path("mustFail").booleanValue()) {
        assertThatThrownBy(() -> compile(line, key, "compact"))
            .isInstanceOf(GrammarException.class);
        continue;
      }
      Grammar grammar;
      try {
        grammar = compile(line, key, "compact");
      } catch (GrammarException e) {
        continue;
      }
      for (JsonNode text : line.get("texts")) {
        assertThat(verdict(grammar, text.get("text").textValue()).equals("accepted"))
            .as(line + " " + text)
            .isEqualTo(text.get("accepted").booleanValue());
      }
    }
  }
}
