package io.radixflow.lab.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.tools.cli.Cli;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchDiskCommandTest {
  @TempDir Path directory;

  @Test
  void checkpointsAndWaysOfOpeningAreToldAndNoFileIsLeft() throws IOException {
    Path disk = directory.resolve("disk");
    Path figures = directory.resolve("figures.json");

    Cli.Result result =
        new Cli()
            .run(
                "bench",
                "disk",
                "--pages",
                "2000",
                "--changed",
                "100",
                "--checkpoints",
                "3",
                "--rounds",
                "2",
                "--directory",
                disk.toString(),
                "--json",
                figures.toString());

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .containsSubsequence(
            "2,300 pages of 64 bytes",
            "checkpoint, of the mailbox's thread",
            "checkpoint, of its own thread",
            "opening",
            "opening without a directory");
    JsonNode json = new ObjectMapper().readTree(figures.toFile());
    assertThat(json.at("/mailbox_seconds/samples").asInt()).isEqualTo(3);
    assertThat(json.at("/open_without_directory_seconds/samples").asInt()).isEqualTo(2);
    assertThat(disk).isEmptyDirectory();
  }

  @Test
  void sizesThatMakeNoSenseAreRefused() {
    Cli.Result result = new Cli().run("bench", "disk", "--checkpoints", "1");

    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains("--checkpoints at least 2");
  }
}
