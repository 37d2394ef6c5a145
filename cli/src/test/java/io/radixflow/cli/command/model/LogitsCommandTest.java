package io.radixflow.cli.command.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LogitsCommandTest {
  private static final String LONG =
      "{\"ids\":"
          + IntStream.range(0, 70).map(i -> (i * 37) % 200).boxed().toList()
          + ",\"positions\":[0,15,16,69]}";

  @TempDir Path directory;

  private static List<JsonNode> logits(String input, String... options) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("logits", "--model", "sim"));
    arguments.addAll(List.of(options));
    Cli.Result result = new Cli().with(input).run(arguments.toArray(String[]::new));
    assertThat(result.code()).as(result.err()).isZero();
    List<JsonNode> lines = new ArrayList<>();
    for (String line : result.out().lines().toList()) {
      lines.add(new ObjectMapper().readTree(line));
    }
    return lines;
  }

  @Test
  void returnsTheLargestLogitsOfEachPosition() throws IOException {
    JsonNode line = logits(LONG).get(0);

    assertThat(line.get("top")).hasSize(4).allSatisfy(top -> assertThat(top).hasSize(10));
    JsonNode first = line.get("top").get(0);
    for (int i = 1; i < 10; i++) {
      assertThat(first.get(i).get(1).doubleValue())
          .isLessThanOrEqualTo(first.get(i - 1).get(1).doubleValue());
    }
    assertThat(line.get("sum")).hasSize(4);
    assertThat(line.get("l2")).hasSize(4);
    assertThat(line.get("digest").textValue()).matches("[0-9a-f]{64}");
  }

  @Test
  void chunksAndCompanyDoNotChangeTheDigest() throws IOException {
    Path company = directory.resolve("company.jsonl");
    Files.writeString(company, "{\"ids\":[1,2,3]}\n{\"ids\":[9,9,9,9,9,9,9,9,9,9,9,9]}\n" + LONG);
    JsonNode plain = logits(LONG).get(0);

    assertThat(logits(LONG, "--chunk", "1").get(0)).isEqualTo(plain);
    assertThat(logits(LONG, "--chunk", "7").get(0)).isEqualTo(plain);
    assertThat(logits(LONG, "--chunk", "16", "--with", company.toString()).get(0)).isEqualTo(plain);
  }

  @Test
  void theDigestDependsOnEachPositionAskedFor() throws IOException {
    List<JsonNode> lines =
        logits(
            """
            {"ids":[5,6,7],"positions":[1,2]}
            {"ids":[5,6,7],"positions":[0,2]}
            {"ids":[5,6,7],"positions":[2,1,1]}
            {"ids":[5,6,7]}
            """);

    assertThat(lines.get(1).get("digest")).isNotEqualTo(lines.get(0).get("digest"));
    assertThat(lines.get(2).get("digest")).isEqualTo(lines.get(0).get("digest"));
    assertThat(lines.get(2).get("sum")).hasSize(3);
    assertThat(lines.get(3).get("sum").get(0)).isEqualTo(lines.get(0).get("sum").get(1));
  }

  @Test
  void badRequestsAreReportedByField() throws IOException {
    List<JsonNode> lines =
        logits(
            """
            {"ids":[]}
            {"ids":[1,99999]}
            {"ids":[1,-1]}
            {"ids":[1],"positions":[1]}
            {"ids":[1],"positions":[]}
            {"ids":[1.5]}
            {"ids":"1"}
            {"positions":[0]}
            {"ids":[1],"positions":[0]}
            """);

    assertThat(lines)
        .extracting(line -> line.path("error").asText())
        .containsExactly(
            "ids has 0 ids; it must have 1 to 4096",
            "ids has 99999; it must be 0 to 259",
            "ids has -1; it must be 0 to 259",
            "positions has 1; it must be 0 to 0",
            "positions is empty",
            "ids[0] is 1.5; it must be an integer",
            "ids is a string; it must be an array of integers",
            "ids is missing",
            "");
  }

  @Test
  void aBadCompanyFileStopsTheCommand() throws IOException {
    Path company = Files.writeString(directory.resolve("company.jsonl"), "nonsense\n");

    Cli.Result result =
        new Cli().with(LONG).run("logits", "--model", "sim", "--with", company.toString());

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("company.jsonl: not valid JSON");
  }

  @Test
  void aChunkOfNothingIsRefused() {
    Cli.Result result = new Cli().run("logits", "--model", "sim", "--chunk", "0");

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("--chunk is 0; it must be at least 1");
  }
}
