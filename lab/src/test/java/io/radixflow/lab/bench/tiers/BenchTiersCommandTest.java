package io.radixflow.lab.bench.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchTiersCommandTest {
  @TempDir Path directory;

  private Cli.Result run(String... more) {
    String[] common = {"bench", "tiers", "--model", "sim", "--directory", disk().toString()};
    String[] all = Arrays.copyOf(common, common.length + more.length);
    System.arraycopy(more, 0, all, common.length, more.length);
    return new Cli().run(all);
  }

  private Path disk() {
    return directory.resolve("disk");
  }

  @Test
  void timesAreReportedByTierAndNoFileIsLeft() throws IOException {
    Path figures = directory.resolve("figures.json");

    Cli.Result result = run("--cached", "320", "--rounds", "2", "--json", figures.toString());

    assertThat(result.code()).as(result.err()).isZero();
    assertThat(result.out())
        .containsSubsequence(
            "320 tokens cached, 32 new",
            "on the device",
            "in host memory",
            "on disk",
            "on disk, after a crash",
            "gone: recomputed",
            "after a crash against before",
            "all replies were equal");
    JsonNode json = new ObjectMapper().readTree(figures.toFile());
    for (String place : new String[] {"device", "host", "disk", "restart", "gone"}) {
      assertThat(json.at("/seconds/" + place + "/samples").asInt())
          .as(place)
          .isEqualTo(place.equals("gone") ? 4 : 2);
      assertThat(json.at("/times_faster_than_recomputing/" + place).asDouble()).isPositive();
    }
    assertThat(json.at("/opening_seconds/samples").asInt()).isEqualTo(2);
    assertThat(json.get("restart_to_disk").asDouble()).isPositive();
    assertThat(json.get("page_cache").asText()).isIn("cold", "warm");
    assertThat(disk()).isEmptyDirectory();
  }

  @Test
  void sizesThatDoNotFitTheModelAreRefused() {
    assertThat(run("--cached", "10000000").err()).contains("more than the model's context");
    assertThat(run("--cached", "1").err()).contains("--cached must be at least 64");
    assertThat(disk()).doesNotExist();
  }
}
