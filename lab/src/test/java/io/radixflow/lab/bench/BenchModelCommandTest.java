package io.radixflow.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import io.radixflow.models.TinyChatModel;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchModelCommandTest {
  @TempDir Path directory;

  private JsonNode results(String... more) throws IOException {
    Path figures = directory.resolve("figures.json");
    String[] arguments = new String[6 + more.length];
    System.arraycopy(
        new String[] {"bench", "model", "--model=sim", "--rounds=2", "--json", figures.toString()},
        0,
        arguments,
        0,
        6);
    System.arraycopy(more, 0, arguments, 6, more.length);
    Cli.Result result = new Cli().run(arguments);
    assertThat(result.code()).as(result.err()).isZero();
    return new ObjectMapper().readTree(figures.toFile()).get("results");
  }

  @Test
  void eachCaseHasAFigureOfEachRound() throws IOException {
    JsonNode results = results();

    assertThat(results.findValuesAsText("name"))
        .containsExactly("prefill 512", "decode 64", "decode 64 x 8");
    assertThat(results).allSatisfy(one -> assertThat(one.get("median").asDouble()).isPositive());
  }

  @Test
  void decodingBehindALongPromptIsACaseOfItsOwn() throws IOException {
    JsonNode results = results("--context=1000", "--chunk=300");

    assertThat(results.findValuesAsText("name")).last().isEqualTo("decode 64 behind 1000");
    assertThat(results.get(3).get("median").asDouble()).isPositive();
  }

  @Test
  void aProfileSaysWhereTheTimeOfAStepGoes() throws IOException {
    Path figures = directory.resolve("figures.json");

    Cli.Result result =
        new Cli()
            .run(
                "bench",
                "model",
                "--model=" + TinyChatModel.write(directory.resolve("tiny")),
                "--device=cpu",
                "--rounds=1",
                "--profile",
                "--json=" + figures);

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("us/step", "gate_up, 208 x 72", "attention", "GMAC/s");
    JsonNode decode = new ObjectMapper().readTree(figures.toFile()).get("results").get(1);
    assertThat(decode.get("phases").findValuesAsText("name"))
        .contains("norms", "down, 72 x 104", "draws", "hand-over to the backend and back");
    assertThat(decode.get("phases"))
        .allSatisfy(phase -> assertThat(phase.get("seconds").asDouble()).isNotNegative());
  }

  @Test
  void openingIsMeasuredUntilTheFirstLogits() throws IOException {
    Path figures = directory.resolve("figures.json");

    Cli.Result result =
        new Cli()
            .run(
                "bench",
                "model",
                "--model=" + TinyChatModel.write(directory.resolve("tiny")),
                "--device=cpu",
                "--load",
                "--json=" + figures);

    assertThat(result.code()).as(result.err()).isZero();
    JsonNode json = new ObjectMapper().readTree(figures.toFile());
    double opened = json.get("first_logits_seconds").asDouble();
    assertThat(opened).isGreaterThan(json.get("load_seconds").asDouble());
    assertThat(json.has("results")).isFalse();
  }

  @Test
  void openingHasNoProfile() {
    Cli.Result result = new Cli().run("bench", "model", "--model=sim", "--load", "--profile");

    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains("--load measures no steps");
  }

  @Test
  void aProfileOfAnotherBackendIsRefused() {
    Cli.Result result = new Cli().run("bench", "model", "--model=sim", "--profile");

    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains("--profile is for the CPU backend, not for sim");
  }

  @Test
  void aNegativeContextIsRefused() {
    Cli.Result result = new Cli().run("bench", "model", "--model=sim", "--context=-1");

    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains("--context is -1; it must be at least 0");
  }
}
