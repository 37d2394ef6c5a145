package io.radixflow.lab.hitrates;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CacheSimulateCommandTest {
  private static final String TRACE =
      Path.of("src/test/resources/workloads/conversation.jsonl.gz").toString();

  @TempDir Path directory;

  private static Cli.Result simulate(String... arguments) {
    String[] all = new String[arguments.length + 2];
    all[0] = "cache";
    all[1] = "simulate";
    System.arraycopy(arguments, 0, all, 2, arguments.length);
    return new Cli().run(all);
  }

  private static List<String> rows(Cli.Result result) {
    assertThat(result.err()).isEmpty();
    assertThat(result.code()).isZero();
    return result.out().lines().filter(line -> line.contains(" | ")).toList();
  }

  @Test
  void theTableShowsHitRatesBesideTheBound() {
    Cli.Result result =
        simulate(TRACE, "--capacity", "1000,200", "--policy", "lru,FIFO", "--page", "512");

    assertThat(rows(result))
        .containsExactly(
            "       pages          tokens       lru      fifo |   bound",
            "         200         102,400      3.52      3.52 |   22.59",
            "       1,000         512,000     24.97     25.09 |   46.21");
    assertThat(result.out())
        .startsWith("request trace with block ids: 595 requests; 18,222 pages of 512 tokens")
        .contains("a cache that holds everything has 50.30")
        .contains("bound: the most that any policy could have");
  }

  @Test
  void aCapacityMayBeGivenInTokens() {
    assertThat(rows(simulate(TRACE, "--capacity", "102400t", "--policy", "lru")))
        .last()
        .asString()
        .startsWith("         200         102,400      3.52");
  }

  @Test
  void withoutOptionsAllPoliciesAreTriedFromAHundredthToAllOfThePages() {
    List<String> rows = rows(simulate(TRACE));

    assertThat(rows).hasSize(8);
    assertThat(rows.get(0)).contains(" lru ", " lfu ", " fifo ", " mru ", " filo ", " slru ");
    assertThat(rows.get(1)).startsWith("          91");
    assertThat(rows.get(7)).startsWith("       9,100").endsWith("50.30");
  }

  @Test
  void theFiguresAreWrittenAsJson() throws IOException {
    Path json = directory.resolve("rates.json");

    Cli.Result result =
        simulate(TRACE, "--capacity", "200", "--policy", "lru", "--json", json.toString());

    assertThat(rows(result)).hasSize(2);
    JsonNode figures = new ObjectMapper().readTree(json.toFile());
    assertThat(figures.at("/workload/requests").intValue()).isEqualTo(595);
    assertThat(figures.at("/capacities/0/pages").intValue()).isEqualTo(200);
    assertThat(figures.at("/capacities/0/tokens").intValue()).isEqualTo(102_400);
    assertThat(figures.at("/capacities/0/policies/lru/hit_pages").intValue()).isEqualTo(641);
    assertThat(figures.at("/capacities/0/policies/lru/hit_rate").doubleValue())
        .isEqualTo(641.0 / 18222);
    assertThat(figures.at("/capacities/0/bound/hit_pages").intValue()).isEqualTo(4116);
  }

  @Test
  void jsonMayTakeTheTablesPlace() throws IOException {
    Cli.Result result = simulate(TRACE, "--capacity", "200", "--policy", "lru", "--json", "-");

    assertThat(new ObjectMapper().readTree(result.out()).at("/capacities/0/pages").intValue())
        .isEqualTo(200);
  }

  @Test
  void madeUpTrafficCanBeSimulated() {
    Path file = directory.resolve("traffic.jsonl");
    Cli.Result made =
        new Cli().run("cache", "workload", "--sessions", "40", "--out", file.toString());
    assertThat(made.err()).isEmpty();
    assertThat(made.out()).isEmpty();

    Cli.Result result = simulate(file.toString(), "--capacity", "100000", "--policy", "lru");

    assertThat(rows(result)).hasSize(2);
    assertThat(result.out()).startsWith("conversation events: ").contains("note: a token is taken");
  }

  @Test
  void theCacheLearnsOfClosedSessionsUnlessHintsAreOff() throws IOException {
    Path file = directory.resolve("traffic.jsonl");
    new Cli().run("cache", "workload", "--sessions", "40", "--out", file.toString());
    String[] options = {file.toString(), "--capacity", "2000", "--policy", "lru", "--json", "-"};

    Cli.Result hinted = simulate(options);
    Cli.Result untold =
        simulate(Stream.concat(Stream.of(options), Stream.of("--no-hints")).toArray(String[]::new));

    String freed = "/capacities/0/policies/lru/freed_pages";
    assertThat(new ObjectMapper().readTree(hinted.out()).at(freed).intValue()).isPositive();
    assertThat(new ObjectMapper().readTree(untold.out()).at(freed).intValue()).isZero();
  }

  @Test
  void trafficOnStdoutIsTheSameAsInAFile() throws IOException {
    Path file = directory.resolve("traffic.jsonl");
    new Cli().run("cache", "workload", "--sessions", "5", "--out", file.toString());

    Cli.Result result = new Cli().run("cache", "workload", "--sessions", "5");

    assertThat(file).hasContent(result.out());
  }

  @Test
  void anImpossibleTrafficOptionIsReportedInOneLine() {
    Cli.Result result = new Cli().run("cache", "workload", "--turns", "0");

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).contains("turns is 0.0; it must be 1.0 to");
  }

  @Test
  void noWorkloadIsWrongUsage() {
    Cli.Result result = simulate("--policy", "lru");

    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).startsWith("radixflow: Missing required parameter: 'WORKLOAD'");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--capacity x | --capacity x must be a number of pages, or of tokens such as 1000000t",
        "--capacity 511t | --capacity 511t is 0 pages; it must be 1 to",
        "--policy best | no eviction policy is called 'best'; there are lru, lfu",
        "--page 0 | --page and --block-tokens must be at least 1",
        "--page 100 | a page of 100 tokens holds no whole blocks",
        "--protected 1.5 | --protected is 1.5; it must be 0 to 1",
        "--horizon 0 | --session-spacing must be 0 or more, --horizon above 0",
      })
  void anInputThatCannotBeSimulatedIsReportedInOneLine(String options, String message) {
    String[] pair = options.split(" ");

    Cli.Result result = simulate(TRACE, pair[0], pair[1]);

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).startsWith("radixflow: ").contains(message);
    assertThat(result.err().lines()).hasSize(1);
  }

  @Test
  void theTableShowsHitsOfHostAndDiskBesideThoseOfAnInfiniteCache() throws IOException {
    Path json = directory.resolve("tiers.json");
    Cli.Result result =
        simulate(TRACE, "--tiers", "--policy", "lru", "--page", "512", "--json", json.toString());

    List<String> rows = rows(result);
    assertThat(rows.get(0)).contains("device", "host", "disk", "all", "infinite");
    assertThat(rows.get(1)).startsWith("       lru").endsWith(" 50.30 |     50.30");
    assertThat(result.out()).contains("device 906 pages, host 1,812, disk 9,057");
    JsonNode figures = new ObjectMapper().readTree(json.toFile());
    assertThat(figures.at("/tier_pages/host").asInt()).isEqualTo(1812);
    assertThat(figures.at("/policies/lru/hit_rate").asDouble())
        .isEqualTo(figures.at("/unlimited_hit_rate").asDouble());
    assertThat(figures.at("/policies/lru/disk_hit_pages").asLong()).isPositive();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--tiers --capacity 100|--tiers has no --capacity",
        "--tier-sizes 10,20,100|--tier-sizes needs --tiers",
        "--tiers --tier-sizes 10,20|must be three percentages",
        "--tiers --tier-sizes 0,20,100|must be three percentages",
        "--tiers --tier-sizes 10,x,100|'x' is not a double"
      })
  void sizesOfTiersThatMakeNoSenseAreRefused(String options, String message) {
    Cli.Result result = simulate((TRACE + " " + options).split(" "));

    assertThat(result.code()).isNotZero();
    assertThat(result.err()).contains(message);
  }
}
