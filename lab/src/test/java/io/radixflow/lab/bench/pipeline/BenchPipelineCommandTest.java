package io.radixflow.lab.bench.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class BenchPipelineCommandTest {
  @TempDir Path directory;

  @Test
  void theTimeToTheFirstTextIsReportedFromHopToHop() throws IOException {
    Path figures = directory.resolve("figures.json");

    Cli.Result result =
        new Cli()
            .run(
                "bench",
                "pipeline",
                "--model",
                "sim:reply=9",
                "--requests",
                "5",
                "--warm-up",
                "1",
                "--json",
                figures.toString());

    assertThat(result.code()).as(result.err()).isZero();
    JsonNode json = new ObjectMapper().readTree(figures.toFile());
    JsonNode piped = json.at("/pipeline_seconds");
    assertThat(piped.at("/first_text/samples").asInt()).isEqualTo(5);
    for (Hop hop : Hop.values()) {
      if (hop != Hop.ASKED) {
        assertThat(piped.at("/" + hop.name().toLowerCase(Locale.ROOT) + "/samples").asInt())
            .as(hop.title())
            .isEqualTo(5);
      }
    }
    assertThat(json.at("/engine_seconds/drained/samples").asInt()).isEqualTo(5);
    assertThat(json.at("/engine_seconds/read").isMissingNode()).isTrue();
  }
}
