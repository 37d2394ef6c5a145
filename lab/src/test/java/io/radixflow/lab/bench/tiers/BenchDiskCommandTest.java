package io.radixflow.lab.bench.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchDiskCommandTest {
  @TempDir Path directory;

  @Test
  void timesOfWritingReadingAndOpeningAreReportedAndNoFileIsLeft() throws IOException {
    Path disk = directory.resolve("disk");
    Path figures = directory.resolve("figures.json");

    Cli.Result result =
        new Cli()
            .run(
                "bench",
                "disk",
                "--pages",
                "2000",
                "--rounds",
                "2",
                "--directory",
                disk.toString(),
                "--json",
                figures.toString());

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .containsSubsequence(
            "2,000 pages of 64 bytes",
            "writing 100 pages",
            "reading 100 pages",
            "opening",
            "opening after a crash");
    JsonNode json = new ObjectMapper().readTree(figures.toFile());
    assertThat(json.at("/write_seconds/samples").asInt()).isEqualTo(20);
    assertThat(json.at("/open_after_crash_seconds/samples").asInt()).isEqualTo(2);
    assertThat(disk).isEmptyDirectory();
  }

  @Test
  void sizesThatMakeNoSenseAreRefused() {
    Cli.Result result = new Cli().run("bench", "disk", "--pages", "1");

    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains("--pages must be at least 100");
  }
}
