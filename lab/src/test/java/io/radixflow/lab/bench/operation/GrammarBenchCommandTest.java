package io.radixflow.lab.bench.operation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GrammarBenchCommandTest {
  @TempDir Path directory;

  @Test
  void masksAndCompilingAreMeasuredAndTheWorkloadIsWritten() throws IOException {
    Path figures = directory.resolve("figures.json");
    Path workload = directory.resolve("workload.json");

    Cli.Result result =
        new Cli()
            .run(
                "grammar",
                "bench",
                "--rounds=1",
                "--time=20",
                "--json=" + figures,
                "--write=" + workload);

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("mask, all documents", "compile 100 properties");
    JsonNode results = new ObjectMapper().readTree(figures.toFile()).path("seconds");
    JsonNode written = new ObjectMapper().readTree(workload.toFile());
    assertThat(results).hasSize(3 + written.path("cases").size());
    assertThat(results).allSatisfy(row -> assertThat(row.path("samples").asLong()).isPositive());
    assertThat(written.path("tokens")).hasSize(128_000);
    assertThat(written.path("cases"))
        .allSatisfy(each -> assertThat(each.path("ids").size()).isGreaterThan(20));
  }
}
