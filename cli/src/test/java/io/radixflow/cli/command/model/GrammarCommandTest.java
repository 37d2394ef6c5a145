package io.radixflow.cli.command.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.Cli;
import org.junit.jupiter.api.Test;

/** Tests the commands about grammars. */
class GrammarCommandTest {
  @Test
  void textsAreJudgedByEachKindOfGrammar() {
    Cli.Result result =
        new Cli()
            .with(
                """
                {"schema":{"type":"array","items":{"type":"integer"}},"whitespace":"any","text":"[1, 2]"}
                {"schema":{"type":"array","items":{"type":"integer"}},"text":"[1, 2]"}
                {"regex":"a+","text":"a"}
                {"lark":"start: \\"a\\"","text":""}
                {"gbnf":"root ::= [é]","text":"éé"}
                """)
            .run("grammar", "check");

    assertThat(result.code()).isZero();
    assertThat(result.out().lines())
        .containsExactly(
            "{\"accepted\":true}",
            "{\"accepted\":false,\"at\":3}",
            "{\"accepted\":true}",
            "{\"accepted\":false,\"at\":0}",
            "{\"accepted\":false,\"at\":2}");
  }

  @Test
  void aGrammarThatIsRefusedIsAnErrorInItsLine() {
    Cli.Result result =
        new Cli()
            .with(
                "{\"schema\":{\"not\":{\"items\":{\"type\":\"null\"}}},\"text\":\"1\"}\n"
                    + "{\"text\":\"1\"}\n{\"regex\":\"(\",\"text\":\"\"}\n")
            .run("grammar", "check");

    assertThat(result.code()).isZero();
    assertThat(result.out().lines())
        .satisfiesExactly(
            line -> assertThat(line).contains("not is not supported"),
            line -> assertThat(line).contains("one of schema, regex, lark, gbnf"),
            line -> assertThat(line).contains("a group is not closed"));
  }

  @Test
  void masksAreCountedAndHashed() {
    Cli.Result result =
        new Cli()
            .with("{\"regex\":\"[ab]c\",\"prefix\":\"\"}\n{\"regex\":\"[ab]c\",\"prefix\":\"x\"}\n")
            .run("grammar", "mask", "--tokenizer", "sim");

    assertThat(result.out().lines())
        .satisfiesExactly(
            line -> assertThat(line).startsWith("{\"count\":2,\"sha256\":\""),
            line -> assertThat(line).contains("does not allow byte 0"));
  }
}
