package io.radixflow.lab.bench.operation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheBenchCommandTest {
  @TempDir Path directory;

  @Test
  void everyOperationIsMeasuredAndAMatchAllocatesOnlyItsResult() throws IOException {
    Path figures = directory.resolve("figures.json");

    Cli.Result result =
        new Cli()
            .run(
                "cache",
                "bench",
                "--sessions=3",
                "--leaves=10,1000",
                "--rounds=1",
                "--time=20",
                "--json=" + figures);

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .contains("match of 4096 tokens", "miss", "turn with SHA-256", "evict a page of 1,000")
        .contains("a match allocates");
    JsonNode json = new ObjectMapper().readTree(figures.toFile());
    assertThat(json.path("seconds")).hasSize(11);
    assertThat(json.path("seconds"))
        .allSatisfy(
            operation -> {
              assertThat(operation.path("samples").asLong()).isPositive();
              assertThat(operation.path("p99").asDouble())
                  .isGreaterThanOrEqualTo(operation.path("median").asDouble());
            });
    // the counter also counts what other code allocates
    assertThat(json.path("match_allocated_bytes").asDouble())
        .isLessThan(json.path("handle_bytes").asDouble() + 0.1);
  }

  @Test
  void anUnknownPageSizeOrPolicyIsRefused() {
    Cli.Result page = new Cli().run("cache", "bench", "--page=24");
    assertThat(page.code()).isEqualTo(1);
    assertThat(page.err()).contains("--page is 24; it must be a power of two");

    Cli.Result policy = new Cli().run("cache", "bench", "--policy=best");
    assertThat(policy.code()).isEqualTo(1);
    assertThat(policy.err()).contains("--policy is best").contains("lru");
  }
}
