package io.radixflow.cli.command.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.cli.Cli;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests commands that map JSON lines to JSON lines, by the example of {@code tokenize}. */
class JsonLinesTest {
  @TempDir Path directory;

  private static List<String> tokenize(String input) {
    Cli.Result result = new Cli().with(input).run("tokenize", "--model", "sim");
    assertThat(result.code()).isZero();
    return result.out().lines().toList();
  }

  @Test
  void textsBecomeIdsWithAndWithoutSpecialTokens() {
    assertThat(tokenize("{\"text\":\"a<|im_end|>\"}\n"))
        .containsExactly(
            "{\"ids\":[97,60,124,105,109,95,101,110,100,124,62],\"idsWithSpecial\":[97,257]}");
  }

  @Test
  void everyLineIsAnsweredInOrderAlsoWhenOneIsBad() {
    List<String> lines =
        tokenize(
            """
            {"text":"a"}
            not JSON

            ["text"]
            {"txt":"a"}
            {"text":7}
            {"text":"b"} {"text":"c"}
            {"text":"d"}""");

    assertThat(lines).hasSize(8);
    assertThat(lines.get(0)).isEqualTo("{\"ids\":[97],\"idsWithSpecial\":[97]}");
    assertThat(lines.get(1)).startsWith("{\"error\":\"not valid JSON: Unrecognized token 'not'");
    assertThat(lines.get(2)).startsWith("{\"error\":\"not valid JSON");
    assertThat(lines.get(3)).isEqualTo("{\"error\":\"the line is not a JSON object\"}");
    assertThat(lines.get(4)).isEqualTo("{\"error\":\"text is missing\"}");
    assertThat(lines.get(5)).isEqualTo("{\"error\":\"text is a number; it must be a string\"}");
    assertThat(lines.get(6)).startsWith("{\"error\":\"not valid JSON: Trailing token");
    assertThat(lines.get(7)).isEqualTo("{\"ids\":[100],\"idsWithSpecial\":[100]}");
  }

  @Test
  void badLinesAreCountedOnStderr() {
    Cli.Result result = new Cli().with("{}\n{}\n").run("tokenize", "--model", "sim");

    assertThat(result.err()).isEqualToIgnoringNewLines("2 of 2 lines could not be answered");
  }

  @Test
  void unknownFieldsAreIgnored() {
    assertThat(tokenize("{\"text\":\"a\",\"ids\":[9],\"margins\":null}"))
        .containsExactly("{\"ids\":[97],\"idsWithSpecial\":[97]}");
  }

  @Test
  void carriageReturnsBeforeTheLineEndAndAByteOrderMarkAreNoText() {
    assertThat(tokenize("\uFEFF{\"text\":\"a\"}\r\n{\"text\":\"b\"}\r\n")).hasSize(2);
  }

  @Test
  void otherThanAsciiIsEscaped() {
    Cli.Result result =
        new Cli()
            .with("{\"messages\":[{\"role\":\"user\",\"content\":\"\u00e9\\ud800\"}]}")
            .run("render", "--model", "sim");

    assertThat(result.out()).contains("user\\n\\u00E9\\uD800<|im_end|>");
  }

  @Test
  void filesTakeThePlaceOfStandardStreams() throws Exception {
    Path in = Files.writeString(directory.resolve("in.jsonl"), "{\"text\":\"a\"}\n");
    Path out = directory.resolve("out.jsonl");

    Cli.Result result =
        new Cli().run("tokenize", "--model", "sim", "--in", in.toString(), "--out", out.toString());

    assertThat(result.code()).isZero();
    assertThat(result.out()).isEmpty();
    assertThat(out).hasContent("{\"ids\":[97],\"idsWithSpecial\":[97]}");
  }

  @Test
  void theInputIsNotOverwritten() throws Exception {
    Path file = Files.writeString(directory.resolve("same.jsonl"), "{\"text\":\"a\"}\n");

    Cli.Result result =
        new Cli()
            .run("tokenize", "--model", "sim", "--in", file.toString(), "--out", file.toString());

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("are the same file");
    assertThat(file).hasContent("{\"text\":\"a\"}");
  }

  @Test
  void aPromptIsRenderedWithItsIds() {
    Cli.Result result =
        new Cli()
            .with(
                "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],"
                    + "\"addGenerationPrompt\":false}")
            .run("render", "--model", "sim");

    assertThat(result.out())
        .isEqualTo(
            "{\"text\":\"<|im_start|>user\\na<|im_end|>\\n\","
                + "\"ids\":[256,117,115,101,114,10,97,257,10]}\n");
  }

  @Test
  void messagesThatTheTemplateRefusesAreAnError() {
    Cli.Result result =
        new Cli()
            .with("{\"messages\":[{\"role\":\"pirate\",\"content\":\"a\"}]}\n{\"messages\":[]}\n")
            .run("render", "--model", "sim");

    assertThat(result.out().lines())
        .satisfiesExactly(
            line -> assertThat(line).contains("\"error\":\"role pirate is not"),
            line -> assertThat(line).isEqualTo("{\"error\":\"messages is empty\"}"));
  }
}
