package io.radixflow.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchCacheCommandTest {
  @TempDir Path directory;

  @Test
  void theCpuTimeOfTheEngineThreadIsReportedBesideTheTimeOfAStep() throws IOException {
    Path figures = directory.resolve("figures.json");

    Cli.Result result =
        new Cli()
            .run(
                "bench",
                "cache",
                "--model",
                "sim",
                "--requests",
                "2",
                "--batch",
                "2",
                "--rounds",
                "2",
                "--json",
                figures.toString());

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("step with cache, us").contains("difference, % of a step");
    JsonNode json = new ObjectMapper().readTree(figures.toFile());
    for (String name : new String[] {"with", "without"}) {
      assertThat(json.at("/engine_thread_cpu_seconds_" + name + "_cache/min").asDouble())
          .isPositive();
    }
    assertThat(json.at("/engine_thread_share_of_step/samples").asInt()).isEqualTo(2);
  }

  @Test
  void withHostMemoryTheTiersAreMeasured() {
    Cli.Result result =
        new Cli()
            .run(
                "bench",
                "cache",
                "--model",
                "sim",
                "--requests",
                "2",
                "--batch",
                "2",
                "--rounds",
                "1",
                "--host-memory",
                "1mb");

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("step with tiers, us").doesNotContain("cache");
  }
}
