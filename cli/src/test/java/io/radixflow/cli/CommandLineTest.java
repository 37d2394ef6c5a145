package io.radixflow.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine;

class CommandLineTest {
  private final Cli cli = new Cli();

  static Stream<List<String>> commands() {
    List<List<String>> names = new ArrayList<>();
    collect(List.of(), new Cli().commandLine(), names);
    return names.stream();
  }

  private static void collect(List<String> path, CommandLine command, List<List<String>> names) {
    names.add(path);
    command
        .getSubcommands()
        .forEach(
            (name, subcommand) -> {
              List<String> longer = new ArrayList<>(path);
              longer.add(name);
              collect(longer, subcommand, names);
            });
  }

  @ParameterizedTest
  @MethodSource("commands")
  void everyCommandExplainsItselfAndItsOptions(List<String> command) {
    List<String> arguments = new ArrayList<>(command);
    arguments.add("--help");

    Cli.Result result = cli.run(arguments.toArray(String[]::new));

    assertThat(result.code()).isZero();
    assertThat(result.err()).isEmpty();
    assertThat(result.out()).startsWith("Usage: radixflow").contains("--verbose");
    CommandLine line = cli.commandLine();
    for (String name : command) {
      line = line.getSubcommands().get(name);
    }
    assertThat(line.getCommandSpec().usageMessage().description()).isNotEmpty();
    assertThat(line.getCommandSpec().options())
        .allSatisfy(
            option -> assertThat(option.description()).as(option.longestName()).isNotEmpty());
  }

  @ParameterizedTest
  @MethodSource("commands")
  void everyCommandRefusesAnUnknownOptionInTwoLines(List<String> command) {
    List<String> arguments = new ArrayList<>(command);
    arguments.add("--no-such-option");

    Cli.Result result = cli.run(arguments.toArray(String[]::new));

    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("--no-such-option").contains("--help'");
    assertThat(result.err().lines()).hasSize(2);
  }

  @Test
  void noCommandIsWrongUsage() {
    Cli.Result result = cli.run();

    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).startsWith("radixflow: Missing required subcommand");
  }

  @Test
  void anUnknownCommandIsNamed() {
    for (String[] words : new String[][] {{"chatt"}, {"cache", "chatt"}}) {
      Cli.Result result = cli.run(words);

      assertThat(result.code()).isEqualTo(2);
      assertThat(result.err()).startsWith("radixflow: unknown command 'chatt'");
      assertThat(result.err().lines()).hasSize(2);
    }
  }

  @Test
  void theVersionNamesRadixflowAndJava() {
    assertThat(cli.run("--version").out()).contains("radixflow ").contains("Java ");
  }

  @Test
  void aMissingModelIsReportedInOneLine() {
    Cli.Result result = cli.run("tokenize", "--model", "/no/such/model.gguf");

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).startsWith("radixflow: ").contains("/no/such/model.gguf");
    assertThat(result.err().lines()).hasSize(1);
  }

  @Test
  void verboseShowsWhereAnErrorComesFrom() {
    Cli.Result result = cli.run("--verbose", "tokenize", "--model", "/no/such/model.gguf");

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("\tat io.radixflow");
  }

  @Test
  void aMissingInputFileIsReportedInOneLine() {
    Cli.Result result = cli.run("render", "--in", "/no/such/file.jsonl");

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err())
        .isEqualToIgnoringNewLines("radixflow: /no/such/file.jsonl: no such file");
  }

  @Test
  void anErrorAboutAnOptionNamesTheAllowedValues() {
    Cli.Result result = cli.run("tokenize", "--kv-type", "f64");

    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err())
        .contains("--kv-type")
        .contains("expected one of [AUTO, F32, F16, BF16, FP8] (case-insensitive) but was 'f64'");
  }
}
