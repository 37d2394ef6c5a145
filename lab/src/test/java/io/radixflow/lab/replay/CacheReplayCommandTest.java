package io.radixflow.lab.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.Cli;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Replays what SGLang's cache was seen to do. The first line of each trace names the version that
 * it was recorded from.
 */
class CacheReplayCommandTest {
  private static final String SETUP = "{\"policy\":\"lru\",\"page\":1,\"eagle\":false}\n";
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String EMPTY =
      ",\"evictable\":0,\"protected\":0,\"total\":0,\"nodes\":0,\"evictableLeaves\":0}\n";

  @TempDir Path directory;

  private Path recorded(String name) throws IOException {
    Path file = directory.resolve(name);
    try (InputStream trace = getClass().getResourceAsStream("/traces/" + name)) {
      Files.copy(trace, file);
    }
    return file;
  }

  private List<String> lines(String name) throws IOException {
    try (InputStream trace = new GZIPInputStream(Files.newInputStream(recorded(name)))) {
      return new String(trace.readAllBytes(), StandardCharsets.UTF_8).lines().toList();
    }
  }

  private static Cli.Result replay(String trace) {
    return new Cli().with(trace).run("cache", "replay", "-", "--compat");
  }

  static List<String> traces() {
    return List.of(
        "fifo-page1",
        "fifo-page4-eagle",
        "filo-page1",
        "filo-page16",
        "lfu-page1",
        "lfu-page4-eagle",
        "lru-page1",
        "lru-page1-eagle",
        "lru-page16",
        "lru-page4",
        "mru-page1-eagle",
        "mru-page4",
        "priority-page1",
        "priority-page16-eagle",
        "slru-page1",
        "slru-page4");
  }

  @ParameterizedTest
  @MethodSource("traces")
  void everyFieldOfSglangsTracesIsEqualOnItsTree(String trace) throws IOException {
    Path file = recorded(trace + ".jsonl.gz");

    Cli.Result result = new Cli().run("cache", "replay", file.toString(), "--compat");

    assertThat(result.err()).isEmpty();
    assertThat(result.code()).isZero();
    assertThat(result.out()).contains("\"mode\":\"compat\"", "\"mismatches\":0");
  }

  @ParameterizedTest
  @MethodSource("traces")
  void theCacheThatServesFindsAtLeastWhatTheModelFinds(String trace) throws IOException {
    Path file = recorded(trace + ".jsonl.gz");

    Cli.Result result = new Cli().run("cache", "replay", file.toString());

    assertThat(result.err()).isEmpty();
    assertThat(result.code()).isZero();
    assertThat(result.out()).contains("\"mode\":\"native\"", "\"mismatches\":0");
  }

  /** That mode uses the recorded results only until an eviction, so any policy fits a trace. */
  @ParameterizedTest
  @MethodSource("traces")
  void theCacheThatServesFindsAtLeastWhatTheModelOfEachOtherPolicyFinds(String trace)
      throws IOException {
    try (InputStream recorded = getClass().getResourceAsStream("/traces/" + trace + ".jsonl.gz");
        TraceFile file = new TraceFile(trace, recorded)) {
      TraceSetup setup = file.setup();
      List<TraceStep> steps = file.steps();
      for (String policy : List.of("lru", "lfu", "fifo", "mru", "filo", "slru", "priority")) {
        TraceSetup other = new TraceSetup(policy, setup.pageTokens(), setup.bigram());
        List<Mismatch> mismatches = new ArrayList<>();
        TraceReplay replay =
            new NativeReplay(
                other, NativeReplay.pagesFor(other, steps), new ReplayReport(mismatches::add));
        steps.forEach(replay::apply);
        assertThat(mismatches).as(policy).isEmpty();
      }
    }
  }

  @Test
  void theCacheThatServesFindsMoreThanSglangSinceItEvictsNoMoreThanItIsAsked() throws IOException {
    String trace = String.join("\n", lines("lru-page1.jsonl.gz"));

    assertThat(new Cli().with(trace).run("cache", "replay", "-").out())
        .contains("\"matchedTokens\":1132,\"evictedTokens\":2200");
    assertThat(replay(trace).out()).contains("\"matchedTokens\":539,\"evictedTokens\":2929");
  }

  @ParameterizedTest
  @ValueSource(strings = {"matched", "values", "prefixLen", "evictable", "protected", "total"})
  void untilTheFirstEvictionTheCacheThatServesMustEqualTheTrace(String field) throws IOException {
    String insert =
        "{\"op\":\"insert\",\"tokens\":[1,2,3],\"firstValue\":1,\"prefixLen\":0,\"evictable\":3,"
            + "\"protected\":0,\"total\":3,\"nodes\":1,\"evictableLeaves\":1}\n";
    String again = insert.replace("\"prefixLen\":0", "\"prefixLen\":3");
    String match =
        "{\"op\":\"match\",\"tokens\":[1,2],\"thenLock\":0,\"matched\":2,\"values\":[1,2],"
            + "\"evictable\":1,\"protected\":2,\"total\":3,\"nodes\":2,\"evictableLeaves\":1}\n";
    List<String> trace = (SETUP + insert + again + match).lines().toList();
    assertThat(new Cli().with(String.join("\n", trace)).run("cache", "replay", "-").code())
        .isZero();

    Cli.Result result = new Cli().with(withOneChanged(trace, field)).run("cache", "replay", "-");

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err()).containsPattern("^operation \\d, " + field + ": expected .*, found ");
  }

  @Test
  void theSummaryIsOneJsonLine() throws IOException {
    Cli.Result result = replay(String.join("\n", lines("lru-page1.jsonl.gz")));

    assertThat(result.out())
        .isEqualTo(
            "{\"mode\":\"compat\",\"policy\":\"lru\",\"page\":1,\"eagle\":false,"
                + "\"operations\":1500,\"mismatches\":0,\"matchedTokens\":539,"
                + "\"evictedTokens\":2929}\n");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "matched",
        "values",
        "prefixLen",
        "evicted",
        "freedValues",
        "evictable",
        "protected",
        "total",
        "nodes",
        "evictableLeaves"
      })
  void aFieldThatDiffersIsReportedAndTheExitCodeIsOne(String field) throws IOException {
    List<String> beginning = lines("lru-page1.jsonl.gz").subList(0, 200);

    Cli.Result result = replay(withOneChanged(beginning, field));

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.out()).contains("\"mismatches\":1,");
    assertThat(result.err()).containsPattern("^operation \\d+, " + field + ": expected .*, found ");
  }

  /** Raises the first number of that field that is not 0, or the first of its first list. */
  private static String withOneChanged(List<String> lines, String field) throws IOException {
    StringBuilder changed = new StringBuilder();
    boolean open = true;
    for (String line : lines) {
      ObjectNode operation = (ObjectNode) JSON.readTree(line);
      JsonNode value = operation.path(field);
      if (open && value.isArray() && !value.isEmpty()) {
        ((ArrayNode) value).set(0, value.get(0).intValue() + 1);
        open = false;
      } else if (open && value.intValue() > 0) {
        operation.put(field, value.intValue() + 1);
        open = false;
      }
      changed.append(operation).append('\n');
    }
    return changed.toString();
  }

  @Test
  void onlyTheFirstMismatchesAreReported() throws IOException {
    List<String> lines = new ArrayList<>(lines("lru-page1.jsonl.gz"));
    lines.remove(3);

    Cli.Result result = replay(String.join("\n", lines));

    assertThat(result.code()).isEqualTo(1);
    assertThat(result.err().lines()).hasSize(11).last().isEqualTo("more are not shown");
  }

  @Test
  void aMismatchShowsTheSlotsAroundTheFirstThatDiffers() {
    String operation = "{\"op\":\"match\",\"tokens\":[1,2],\"matched\":2,\"values\":[5,6]" + EMPTY;

    Cli.Result result = replay(SETUP + operation);

    assertThat(result.err())
        .isEqualToNormalizingNewlines(
            """
            operation 0, matched: expected 2, found 0
            operation 0, values: expected 2 slots, from index 0 [5, 6], found 0 slots, from index 0 []
            """);
  }

  static Stream<Arguments> badTraces() {
    String match = "{\"op\":\"match\",\"ns\":null,\"tokens\":[1],\"matched\":0,\"values\":[]";
    String evict = "{\"op\":\"evict\",\"request\":1,\"freedValues\":[]";
    return Stream.of(
        arguments("", "-: the file is empty"),
        arguments("lru 1\n", "-, line 1: not valid JSON"),
        arguments("[]\n", "-, line 1: the line is not a JSON object"),
        arguments("{\"page\":1}\n", "-, line 1: policy is missing"),
        arguments("{\"policy\":\"lru\"}\n", "-, line 1: page is missing"),
        arguments(
            "{\"policy\":\"lru\",\"page\":0}\n", "-, line 1: a page has 1 to 65536 tokens, not 0"),
        arguments(
            "{\"policy\":\"lru\",\"page\":4294967297}\n",
            "-, line 1: page is 4294967297; it must be -2147483648 to 2147483647"),
        arguments(
            "{\"policy\":\"best\",\"page\":1}\n",
            "-: no eviction policy is called 'best'; SGLang has lru, lfu, fifo, mru, filo,"
                + " slru, priority"),
        arguments(SETUP + "{\"op\":\"drop\"}\n", "-, line 2: op is \"drop\"; there are insert,"),
        arguments(SETUP + match + "}\n", "-, line 2: evictable is missing"),
        arguments(SETUP + evict + EMPTY, "-, line 2: evicted is missing"),
        arguments(
            SETUP + match.replace("[1]", "[1.5]") + EMPTY,
            "-, line 2: tokens[0] is 1.5; it must be an integer"),
        arguments(
            SETUP
                + "{\"op\":\"insert\",\"tokens\":[1,2],\"firstValue\":2147483647,\"prefixLen\":0"
                + EMPTY,
            "-, line 2: there are no 2 slots from 2147483647"),
        arguments(
            SETUP + "{\"op\":\"unlock\",\"lock\":3" + EMPTY,
            "-, operation 0: lock 3 is released but not held"),
        arguments(
            SETUP + (match + ",\"thenLock\":3" + EMPTY).repeat(2),
            "-, operation 1: lock 3 is taken while it is held"));
  }

  @Test
  void theCacheThatServesHasPoliciesOfItsOwn() {
    Cli.Result result = new Cli().with(SETUP.replace("lru", "best")).run("cache", "replay", "-");

    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("no eviction policy is called 'best'; there are lru, ");
  }

  @ParameterizedTest
  @MethodSource("badTraces")
  void aBadTraceIsRefusedWithItsLineAndTheExitCodeIsTwo(String trace, String message) {
    Cli.Result result = replay(trace);

    assertThat(result.code()).isEqualTo(2);
    assertThat(result.out()).isEmpty();
    assertThat(result.err()).startsWith("radixflow: " + message);
    assertThat(result.err().lines()).hasSize(1);
  }

  @Test
  void aCutGzipFileIsRefused() throws IOException {
    Path file = recorded("lru-page4.jsonl.gz");
    Files.write(file, Arrays.copyOf(Files.readAllBytes(file), 9000));

    Cli.Result result = new Cli().run("cache", "replay", file.toString(), "--compat");

    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("line ", "the gzip stream is damaged or cut");
  }

  @Test
  void aFileWithAGzipHeaderAndOtherContentIsRefused() throws IOException {
    Path file = Files.write(directory.resolve("trace.gz"), new byte[] {0x1f, (byte) 0x8b, 1});

    Cli.Result result = new Cli().run("cache", "replay", file.toString(), "--compat");

    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("the gzip header is damaged or cut");
  }

  @Test
  void theExitCodeOfAMissingFileIsNotThatOfAMismatch() {
    Cli.Result result = new Cli().run("cache", "replay", "absent.jsonl", "--compat");

    assertThat(result.code()).isEqualTo(2);
    assertThat(result.err()).contains("absent.jsonl: no such file");
  }
}
