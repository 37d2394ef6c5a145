package io.radixflow.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.grammar.schema.Whitespace;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Schemas as generators of schemas write them, and what is left out where one is loose. */
class SchemaFormsTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  private static boolean accepts(Grammar grammar, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    GrammarMatcher matcher = grammar.matcher();
    return matcher.acceptBytes(bytes) == bytes.length && matcher.canEnd();
  }

  private static Grammar loose(String schema) {
    return Grammar.lark("start: %json? \"the function f\" " + schema.replace('\'', '"'));
  }

  @Test
  void schemasOfGeneratorsAreServedAsTheirValidatorsJudge() throws IOException {
    List<String> wrong = new ArrayList<>();
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(
                SchemaFormsTest.class.getResourceAsStream("/grammar/forms.jsonl"),
                StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        JsonNode form = JSON.readTree(line);
        judge(form, wrong);
      }
    }
    assertThat(wrong).isEmpty();
  }

  private static void judge(JsonNode form, List<String> wrong) {
    Grammar grammar;
    try {
      grammar = Grammar.jsonSchema(form.get("schema").toString(), Whitespace.COMPACT);
    } catch (RuntimeException e) {
      wrong.add(form.get("name") + " is refused: " + e);
      return;
    }
    for (boolean valid : new boolean[] {true, false}) {
      for (JsonNode value : form.get(valid ? "yes" : "no")) {
        if (accepts(grammar, value.toString()) != valid) {
          wrong.add(form.get("name") + (valid ? " refuses " : " accepts ") + value);
        }
      }
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{'properties':{'a':{'pattern':'(a)\\\\1','format':'date'}}}; pattern;"
            + " {\"a\":\"2024-01-02\"}; {\"a\":\"x\"}",
        "{'properties':{'a':{'type':'string','pattern':'(?<=ab)c'}}}; pattern; {\"a\":\"x\"};"
            + " {\"a\":1}",
        "{'properties':{'a':{'type':'float'},'b':{'type':'integer'}}}; type; {\"a\":\"x\",\"b\":1};"
            + " {\"b\":1.5}",
        "{'properties':{'a':{'type':'array','items':{'type':'string'},'uniqueItems':true}}};"
            + " uniqueItems; {\"a\":[\"x\",\"x\"]}; {\"a\":[1]}",
        "{'properties':{'a':{'$ref':'other.json'},'b':{'$ref':'#/$defs/x'}}}; $ref;"
            + " {\"a\":1,\"b\":2}; 1",
        "{'properties':{'a':{'type':'integer','required':true}}}; required; {\"a\":1};"
            + " {\"a\":\"x\"}",
        "{'properties':{'a':{'type':'array','contains':{},'maxContains':2}}}; maxContains;"
            + " {\"a\":[1]}; {\"a\":[]}",
        "{'properties':{'a':{'type':'object','not':{'patternProperties':{'x':{'type':'null'}}}}}};"
            + " not; {\"a\":{}}; {\"a\":1}",
        "{'oneOf':[{'properties':{'a':{'multipleOf':3}}},{'properties':{'a':{'multipleOf':2}}}]};"
            + " oneOf; {\"a\":3}; {\"a\":5}",
        "{'allOf':[{'$ref':'#'}]}; schema is not enforced; {\"a\":5}; 5",
        "{'required':['a'],'properties':{'a':false}}; schema is not enforced; {\"a\":5}; 5",
        "{'patternProperties':{'(a)\\\\1':{'type':'null'}},'properties':{'b':{'type':'null'}}};"
            + " patternProperties; {\"aa\":1}; {\"b\":1}"
      })
  void aLooseSchemaLeavesOutWhatCannotBeEnforcedAndSaysSo(
      String schema, String keyword, String member, String other) {
    Grammar grammar = loose(schema.replaceFirst("\\{", "{'type':'object',"));

    assertThat(grammar.notices())
        .isNotEmpty()
        .allSatisfy(notice -> assertThat(notice).startsWith("the function f: "))
        .anySatisfy(notice -> assertThat(notice).contains(keyword));
    assertThat(accepts(grammar, member)).isTrue();
    assertThat(accepts(grammar, other)).isFalse();
    assertThatThrownBy(
            () ->
                Grammar.lark(
                    "start: %json \"the function f\" "
                        + schema.replaceFirst("\\{", "{'type':'object',").replace('\'', '"')))
        .hasMessageContaining(keyword.startsWith("schema") ? "" : keyword);
  }

  @Test
  void oneLooseSchemaThatCannotBeCompiledLeavesTheOthersEnforced() {
    Grammar grammar =
        Grammar.lark(
            "start: a | b\n"
                + "a: \"1\" %json? \"f\" {\"type\":\"object\",\"allOf\":[{\"$ref\":\"#\"}]}\n"
                + "b: \"2\" %json? \"g\" {\"type\":\"object\",\"properties\":"
                + "{\"x\":{\"type\":\"integer\"}}}");

    assertThat(grammar.notices()).singleElement().asString().startsWith("f: ");
    assertThat(accepts(grammar, "1{\"y\":2}")).isTrue();
    assertThat(accepts(grammar, "2{\"x\":2}")).isTrue();
    assertThat(accepts(grammar, "2{\"x\":\"2\"}")).isFalse();
  }

  @Test
  void anErrorSaysWhichSchemaAndWhereInIt() {
    assertThatThrownBy(
            () ->
                Grammar.lark(
                    "start: %json \"the function f#/properties/to\" {\"pattern\":\"(a)\\\\1\"}"))
        .hasMessageStartingWith("the function f: pattern is refused")
        .hasMessageContaining("#/properties/to");
  }
}
