package io.radixflow.grammar;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Where the words of Lark and GBNF end: a flag is part of its text, an operator is not. */
class EbnfTokensTest {
  private static boolean accepts(Grammar grammar, String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    GrammarMatcher matcher = grammar.matcher();
    return matcher.acceptBytes(bytes) == bytes.length && matcher.canEnd();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "start: \"(\" item \")\"|item: \"x\"; (x); (X)",
        "start: \"a\" i|i: \"b\"; ab; Ab",
        "start: \"a\"|     i|i: \"b\"; ab; a",
        "start: \"a\"i i|i: \"b\"; Ab; AB",
        "start: \"a\" // in words|  i|i: \"b\"; ab; Ab",
        "start: /a/ i|i: \"b\"; ab; Ab",
        "start: /a/i i|i: \"b\"; Ab; AB",
        "start: /a./ s x|s: \"s\"|x: \"x\"; absx; abx",
        "start: \"a\" .. \"c\" item|item: \"x\"; bx; x",
        "start: \"a\" ~ 2 .. 3 item|item: \"x\"; aax; ax",
        "start: \"a\" ? item *|item: \"x\"; xx; aa",
        "start: \"a\" \"b\" -> name|item: \"x\"; ab; a",
        "start: \"a\"|?item: \"x\"|i: \"y\"; a; ax",
        "start: (\"a\") item|item: \"x\"; ax; Ax",
        "start: item~2 \"i\" item|item: \"x\"; xxix; xxIx"
      })
  void wordsOfLarkEndWhereTheyShould(String grammar, String member, String other) {
    Grammar compiled = Grammar.lark(grammar.strip().replace("|", "\n"));

    assertThat(accepts(compiled, member)).isTrue();
    assertThat(accepts(compiled, other)).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "root ::= \"(\" item \")\"|item ::= \"x\"; (x); (X)",
        "root ::= \"a\" i|i ::= \"b\"; ab; Ab",
        "root ::= [a-c] item-a ?|item-a ::= \"x\"; bx; x",
        "root ::= \"a\" {2} i|i ::= \"b\"; aab; ab",
        "root ::= \"a\" { 1 , 2 } i +|i ::= \"b\"; aabb; aa",
        "root ::= \"a\" # in words|  i|i ::= \"b\"; ab; a",
        "root ::= ( \"a\" i ) *|i ::= \"b\"; abab; aba"
      })
  void wordsOfGbnfEndWhereTheyShould(String grammar, String member, String other) {
    Grammar compiled = Grammar.gbnf(grammar.strip().replace("|", "\n"));

    assertThat(accepts(compiled, member)).isTrue();
    assertThat(accepts(compiled, other)).isFalse();
  }
}
