package io.radixflow.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class BenchEvenCommandTest {
  @TempDir Path directory;

  @Test
  void tokensOfRunningRepliesAndTheFirstTokenOfThePromptAreTimed() throws IOException {
    Path figures = directory.resolve("figures.json");

    Cli.Result result =
        new Cli()
            .run(
                "bench",
                "even",
                "--model",
                "sim:step=2",
                "--sessions",
                "2",
                "--prompt",
                "600",
                "--rounds",
                "1",
                "--json",
                figures.toString());

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("p99 over the median without the prompt");
    JsonNode json = new ObjectMapper().readTree(figures.toFile());
    assertThat(json.at("/first_token_seconds/median").asDouble()).isPositive();
    assertThat(json.at("/token_seconds/samples").asInt()).isPositive();
  }
}
