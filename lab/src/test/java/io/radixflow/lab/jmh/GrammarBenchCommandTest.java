package io.radixflow.lab.jmh;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GrammarBenchCommandTest {
  /** Benchmarks that run at the same time disturb each other; this test checks no times. */
  private static final String IGNORE_LOCK = "jmh.ignoreLock";

  @TempDir Path directory;

  @BeforeAll
  static void allowSeveralAtOnce() {
    System.setProperty(IGNORE_LOCK, "true");
  }

  @AfterAll
  static void allowOne() {
    System.clearProperty(IGNORE_LOCK);
  }

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
                "--forks=0",
                "--json=" + figures,
                "--write=" + workload);

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("mask, all documents", "goal p50 50, p99 1000");
    JsonNode results = new ObjectMapper().readTree(figures.toFile()).path("results");
    JsonNode written = new ObjectMapper().readTree(workload.toFile());
    assertThat(results).hasSize(4 + written.path("cases").size());
    assertThat(results).allSatisfy(row -> assertThat(row.path("samples").asLong()).isPositive());
    assertThat(written.path("tokens")).hasSize(128_000);
    assertThat(written.path("cases"))
        .allSatisfy(each -> assertThat(each.path("ids").size()).isGreaterThan(20));
  }
}
