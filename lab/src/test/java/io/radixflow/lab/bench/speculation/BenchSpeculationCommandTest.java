package io.radixflow.lab.bench.speculation;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

@Timeout(180)
class BenchSpeculationCommandTest {
  @TempDir Path directory;

  @ParameterizedTest
  @EnumSource(Before.class)
  void eachPromptIsTimedWithSpeculationAndWithout(Before before) throws IOException {
    Path figures = directory.resolve("figures.json");

    Cli.Result result =
        new Cli()
            .run(
                "bench",
                "speculation",
                "--model",
                "sim",
                "--tokens",
                "8",
                "--rounds",
                "1",
                "--before",
                before.name(),
                "--json",
                figures.toString());

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out()).contains("edit", "code", "summary", "tool", "schema", "agent", "chat");
    JsonNode replies = new ObjectMapper().readTree(figures.toFile()).get("replies");
    assertThat(replies).hasSizeBetween(30, 35).allMatch(each -> each.get("tokens").asInt() > 0);
    assertThat(replies).allMatch(each -> each.get("on_seconds").asDouble() > 0);
  }
}
