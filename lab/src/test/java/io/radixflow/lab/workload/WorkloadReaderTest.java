package io.radixflow.lab.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.lab.simulate.CacheWorkload;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Map;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WorkloadReaderTest {
  private static final WorkloadOptions DEFAULT = WorkloadOptions.DEFAULT;

  private static int[] inputs(Workload workload) {
    CacheWorkload requests = workload.requests();
    int[] inputs = new int[requests.requests()];
    Arrays.setAll(inputs, requests::inputs);
    return inputs;
  }

  @ParameterizedTest
  @CsvSource({"conversation,595,18222,9057", "synthetic,237,9544,4469", "agent,321,47145,3359"})
  void publishedTracesHaveTheRequestsAndPagesOfTheirFiles(
      String name, int requests, long pages, int distinct) throws IOException {
    Workload workload = TestWorkloads.resource(name, DEFAULT);

    assertThat(workload.pageTokens()).isEqualTo(512);
    assertThat(workload.requests().requests()).isEqualTo(requests);
    assertThat(workload.requests().inputBlocks()).isEqualTo(pages);
    assertThat(workload.requests().distinctBlocks()).isEqualTo(distinct);
  }

  @Test
  void equalIdsAfterDifferentPrefixesAreDifferentBlocks() throws IOException {
    Workload workload = TestWorkloads.text(DEFAULT, "{\"hash_ids\":[1,2]}\n{\"hash_ids\":[3,2]}\n");

    assertThat(workload.requests().distinctBlocks()).isEqualTo(4);
  }

  @Test
  void aPageOfSeveralBlocksIsAWholeGroup() throws IOException {
    Workload workload =
        TestWorkloads.text(
            TestWorkloads.pages(1024), "{\"hash_ids\":[1,2,3]}\n{\"hash_ids\":[1,2,4,5]}\n");

    assertThat(inputs(workload)).containsExactly(1, 2);
    assertThat(workload.requests().distinctBlocks()).isEqualTo(2);
    assertThat(workload.notes()).containsExactly("2 blocks of 512 tokens make a page");
  }

  @Test
  void aPageOfOneIsABlock() throws IOException {
    Workload trace = TestWorkloads.text(TestWorkloads.pages(1), "{\"hash_ids\":[1,2,3]}\n");
    Workload agent =
        TestWorkloads.text(TestWorkloads.pages(1), "{\"session\":0,\"t\":0,\"ranges\":[[1,9]]}\n");

    assertThat(trace.pageTokens()).isEqualTo(512);
    assertThat(inputs(trace)).containsExactly(3);
    assertThat(agent.pageTokens()).isEqualTo(64);
    assertThat(inputs(agent)).containsExactly(9);
  }

  @Test
  void agentSessionsStartAtEqualDistancesAndEndAtTheHorizon() throws IOException {
    WorkloadOptions options = new WorkloadOptions(64, 512, 10, 25, null);

    Workload workload =
        TestWorkloads.text(
            options,
            """
            {"session":0,"t":0,"ranges":[[1,1]]}
            {"session":0,"t":11.5,"ranges":[[1,3]]}
            {"session":1,"t":0,"ranges":[[1,2]]}
            {"session":1,"t":15,"ranges":[[1,9]]}
            {"session":2,"t":4,"ranges":[[1,1],[7,3]]}
            """);

    assertThat(inputs(workload)).containsExactly(1, 2, 3, 4);
    assertThat(workload.notes()).singleElement().asString().contains("10 s apart");
  }

  @Test
  void idsOfAgentSessionsAreTheirOwn() throws IOException {
    Workload workload =
        TestWorkloads.text(
            TestWorkloads.pages(64),
            "{\"session\":0,\"t\":0,\"ranges\":[[1,4]]}\n"
                + "{\"session\":1,\"t\":0,\"ranges\":[[1,4]]}\n");

    assertThat(workload.requests().distinctBlocks()).isEqualTo(8);
  }

  @Test
  void runsOfBlocksAreJoinedAcrossTheirEnds() throws IOException {
    Workload workload =
        TestWorkloads.text(
            TestWorkloads.pages(256),
            "{\"session\":0,\"t\":0,\"ranges\":[[1,3],[10,1],[20,7]]}\n"
                + "{\"session\":0,\"t\":1,\"ranges\":[[1,3],[10,1],[20,4]]}\n");

    assertThat(inputs(workload)).containsExactly(2, 2);
    assertThat(workload.requests().distinctBlocks()).isEqualTo(2);
  }

  @Test
  void gzipIsRecognisedByItsFirstBytes() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write("{\"hash_ids\":[1]}\n".getBytes(StandardCharsets.UTF_8));
    }

    Workload workload = TestWorkloads.read(DEFAULT, Map.of("trace", bytes.toByteArray()));

    assertThat(workload.requests().requests()).isEqualTo(1);
  }

  @Test
  void aGzipFileThatIsCutIsRefused() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(bytes)) {
      gzip.write("{\"hash_ids\":[1]}\n".repeat(1000).getBytes(StandardCharsets.UTF_8));
    }
    byte[] cut = Arrays.copyOf(bytes.toByteArray(), bytes.size() - 12);

    assertThatThrownBy(() -> TestWorkloads.read(DEFAULT, Map.of("trace.gz", cut)))
        .isInstanceOf(WorkloadException.class)
        .hasMessageStartingWith("trace.gz, line ")
        .hasMessageContaining("damaged or cut");
  }

  @Test
  void aGzipHeaderThatIsCutIsRefused() {
    byte[] header = {0x1F, (byte) 0x8B, 8};

    assertThatThrownBy(() -> TestWorkloads.read(DEFAULT, Map.of("trace.gz", header)))
        .hasMessage("trace.gz: the gzip header is damaged or cut");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "not JSON | line 1: not valid JSON",
        "[1] | line 1: the line is not a JSON object",
        "{\"a\":1} | line 1: not a known workload: a record has hash_ids",
        "{\"hash_ids\":7} | line 1: hash_ids is a number; it must be an array",
        "{\"hash_ids\":[1,-2]} | line 1: hash_ids[1] is -2; it must be 0",
        "{\"hash_ids\":[1.5]} | line 1: hash_ids[0] is 1.5; it must be an integer",
        "{\"hash_ids\":[1],\"input_length\":513} | 513 tokens are 2 blocks of 512",
        "{\"ranges\":[]} | line 1: session is missing",
        "{\"session\":-1,\"t\":0,\"ranges\":[]} | session is -1; it must be 0",
        "{\"session\":1,\"t\":\"x\",\"ranges\":[]} | t is a string; it must be a number",
        "{\"session\":1,\"t\":0,\"ranges\":[[1]]} | ranges[0] must be a pair",
        "{\"session\":1,\"t\":0,\"ranges\":[[1,9999999999]]} | ranges[0][1] is 9999999999; it must"
            + " be 0 to",
      })
  void aFileThatIsNoWorkloadIsRefusedWithItsLineAndTheExpectedFormat(String text, String message) {
    assertThatThrownBy(() -> TestWorkloads.text(DEFAULT, text))
        .isInstanceOf(WorkloadException.class)
        .hasMessageStartingWith("file1, line 1: ")
        .hasMessageContaining(message);
  }

  @Test
  void aRequestOfMoreBlocksThanAnyContextHasIsRefusedBeforeTheyAreMade() {
    String range = "[1,1048576]";

    assertThatThrownBy(
            () ->
                TestWorkloads.text(
                    DEFAULT, "{\"session\":1,\"t\":0,\"ranges\":[" + range + "," + range + "]}"))
        .isInstanceOf(WorkloadException.class)
        .hasMessageContaining("more than 1048576 blocks in a request");
  }

  @Test
  void moreBlocksThanAWorkloadMayHaveAreRefusedBeforeTheyAreMade() {
    String line = "{\"session\":1,\"t\":0,\"ranges\":[[1,1048576]]}\n";

    assertThatThrownBy(() -> TestWorkloads.text(TestWorkloads.pages(64), line.repeat(257)))
        .isInstanceOf(WorkloadException.class)
        .hasMessageStartingWith("file1, line 257: ")
        .hasMessageContaining("268435456 pages in all");
  }

  @Test
  void aLaterLineThatIsOfAnotherKindIsRefused() {
    assertThatThrownBy(() -> TestWorkloads.text(DEFAULT, "{\"hash_ids\":[1]}\n\n{\"session\":1}\n"))
        .hasMessage("file1, line 3: hash_ids is missing");
  }

  @Test
  void anEmptyFileIsRefused() {
    assertThatThrownBy(() -> TestWorkloads.text(DEFAULT, "\n"))
        .hasMessage("file1: the file does not contain a record");
  }

  @Test
  void aPageThatHoldsNoWholeBlocksIsRefused() {
    assertThatThrownBy(() -> TestWorkloads.text(TestWorkloads.pages(768), "{\"hash_ids\":[1]}"))
        .isInstanceOf(WorkloadException.class)
        .hasMessageContaining("768 tokens")
        .hasMessageContaining("multiple");
  }
}
