package io.radixflow.lab.bench.job;

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
class BenchJobCommandTest {
  @TempDir Path directory;

  @Test
  void theCpuTimeOfATurnAndOfADeltaIsReportedByWhatThreadsWorkFor() throws IOException {
    Path figures = directory.resolve("figures.json");

    Cli.Result result =
        new Cli()
            .run(
                "bench",
                "job",
                "--seconds",
                "1",
                "--tokens",
                "8",
                "--step",
                "2",
                "--json",
                figures.toString());

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("operator, mailbox", "all of the job", "client", "broker");
    JsonNode json = new ObjectMapper().readTree(figures.toFile());
    assertThat(json.at("/turns").asInt()).isEqualTo(50);
    assertThat(json.at("/cpu_seconds/operator/turn").isNumber()).isTrue();
    assertThat(json.at("/cpu_seconds/broker/idle").isNumber()).isTrue();
  }
}
