package io.radixflow.grammar;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.grammar.schema.Whitespace;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which branches of a {@code oneOf} are found to exclude one another. */
class OneOfTest {
  private static Grammar compile(String schema) {
    return Grammar.jsonSchema(schema.replace('\'', '"'), Whitespace.COMPACT);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'oneOf':[{'const':'a'},{'const':'b'},{'enum':[1,null,true]}]}",
        "{'oneOf':[{'type':'string'},{'type':['integer','null']},{'type':'object'}]}",
        "{'oneOf':[{'type':'integer','maximum':4},{'type':'number','minimum':5}]}",
        "{'oneOf':[{'type':'object','properties':{'k':{'const':'a'}},'required':['k']},"
            + "{'type':'object','properties':{'k':{'enum':['b','c']}}}]}",
        "{'$defs':{'a':{'type':'object','properties':{'k':{'const':1}},'required':['k']},"
            + "'b':{'type':'object','properties':{'k':{'const':2}},'required':['k']}},"
            + "'oneOf':[{'$ref':'#/$defs/a'},{'$ref':'#/$defs/b'}]}"
      })
  void branchesThatExcludeOneAnotherAreCompiled(String schema) {
    assertThat(compile(schema).matcher().canEnd()).isFalse();
  }

  private static boolean accepts(Grammar grammar, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    GrammarMatcher matcher = grammar.matcher();
    return matcher.acceptBytes(bytes) == bytes.length && matcher.canEnd();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{'oneOf':[{'enum':['a',200]},{'enum':[2e2]}]}; \"a\"; 200",
        "{'oneOf':[{'type':'integer'},{'type':'number'}]}; 1.5; 1",
        "{'oneOf':[{'type':'object','properties':{'k':{'const':'a'}}},"
            + "{'type':'object','properties':{'k':{'const':'b'}}}]}; {\"k\":\"b\"}; {}",
        "{'oneOf':[{'properties':{'k':{'const':'a'}},'required':['k']},"
            + "{'properties':{'k':{'const':'b'}},'required':['k']}]}; {\"k\":\"a\"}; 1",
        "{'oneOf':[{'type':'object','properties':{'k':{'enum':['a','b']}},'required':['k']},"
            + "{'type':'object','properties':{'k':{'enum':['b','c']}},'required':['k']}]};"
            + " {\"k\":\"c\"}; {\"k\":\"b\"}",
        "{'properties':{'x':{'oneOf':[{'type':'string'},{'minLength':2}]}}};"
            + " {\"x\":\"a\"}; {\"x\":\"ab\"}"
      })
  void whatBranchesShareIsLeftOut(String schema, String one, String both) {
    Grammar grammar = compile(schema);

    assertThat(accepts(grammar, one)).isTrue();
    assertThat(accepts(grammar, both)).isFalse();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'oneOf':[{'multipleOf':2},{'multipleOf':3}]}",
        "{'oneOf':[{'type':'array','items':{'type':'string'}},{'type':'array'}]}"
      })
  void branchesWhoseRestHasNoGrammarAreRefused(String schema) {
    assertThatThrownBy(() -> compile(schema)).hasMessageContaining("exclude one another");
  }

  @Test
  void malformedBranchesAreRefusedByTheirKeyword() {
    assertThatThrownBy(() -> compile("{'oneOf':[{'type':5},{'const':1}]}"))
        .hasMessageContaining("type is malformed");
    assertThatThrownBy(() -> compile("{'oneOf':[{'$ref':'#/oneOf/0'},{'const':1}]}"))
        .hasMessageContaining("$ref");
  }

  @Test
  void eachBranchIsFollowed() {
    Grammar grammar = compile("{'oneOf':[{'const':'a'},{'const':'b'},{'type':'null'}]}");
    for (String text : new String[] {"\"a\"", "\"b\"", "null"}) {
      GrammarMatcher matcher = grammar.matcher();
      assertThat(matcher.acceptBytes(text.getBytes(StandardCharsets.UTF_8)))
          .isEqualTo(text.length());
      assertThat(matcher.canEnd()).isTrue();
    }
  }
}
