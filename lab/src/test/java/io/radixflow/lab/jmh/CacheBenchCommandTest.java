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

class CacheBenchCommandTest {
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
  void everyOperationIsMeasuredBesideItsGoal() throws IOException {
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
                "--forks=0",
                "--json=" + figures);

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .contains("match of 4096 tokens", "miss", "turn with SHA-256", "evict a page of 1,000")
        .contains("p50 5, p99 25")
        .contains("a match allocates");
    JsonNode json = new ObjectMapper().readTree(figures.toFile());
    assertThat(json.path("results")).hasSize(11);
    assertThat(json.path("results"))
        .allSatisfy(
            operation -> {
              assertThat(operation.path("samples").asLong()).isPositive();
              assertThat(operation.path("p99_us").asDouble())
                  .isGreaterThanOrEqualTo(operation.path("p50_us").asDouble());
            });
    assertThat(json.at("/results/3/goal_p50_us").asDouble()).isEqualTo(5);
    assertThat(json.at("/allocation_goal_met").asBoolean()).isTrue();
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
