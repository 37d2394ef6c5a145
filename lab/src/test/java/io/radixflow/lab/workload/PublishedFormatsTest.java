package io.radixflow.lab.workload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.lab.simulate.CacheWorkload;
import java.io.IOException;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Traces of others as they were published; these are made up, in the same form. */
class PublishedFormatsTest {
  private static final WorkloadOptions BLOCKS = TestWorkloads.pages(1);

  private static int[] inputs(Workload workload) {
    CacheWorkload requests = workload.requests();
    int[] inputs = new int[requests.requests()];
    Arrays.setAll(inputs, requests::inputs);
    return inputs;
  }

  // Weka

  /** A session with a request, a sub-agent whose times are its own, and one more request. */
  private static final String WEKA =
      """
      {"id":"a","models":["m"],"block_size":64,"hash_id_scope":"local","tool_tokens":9,\
      "system_tokens":3,"requests":[\
      {"t":0.0,"type":"s","model":"m","in":200,"out":5,"hash_ids":[1,2,3],"input_types":["text"],\
      "output_types":["text"],"stop":""},\
      {"t":10.5,"type":"subagent","agent_id":"agent_001","duration_ms":10,"requests":[\
      {"t":0.0,"type":"n","in":130,"out":1,"hash_ids":[1,9],"api_time":2.8,"think_time":0.0},\
      {"t":30.0,"type":"n","in":300,"out":1,"hash_ids":[1,9,10,11]}]},\
      {"t":20.0,"type":"n","in":330,"out":7,"hash_ids":[1,2,3,4,5],"stop":"tool_use"}]}
      """;

  @Test
  void aWekaSessionHasItsRequestsAndThoseOfItsSubAgentsInTheOrderOfTime() throws IOException {
    Workload workload = TestWorkloads.text(BLOCKS, WEKA);

    assertThat(workload.format()).isEqualTo("agent sessions with block ids");
    assertThat(workload.pageTokens()).isEqualTo(64);
    assertThat(inputs(workload)).containsExactly(3, 2, 5, 4);
    assertThat(workload.requests().distinctBlocks()).isEqualTo(8);
    assertThat(workload.notes()).singleElement().asString().contains("60 s apart");
  }

  @Test
  void timesOfAWekaSubAgentMayAlsoCountFromTheSessionsBeginning() throws IOException {
    String absolute =
        WEKA.replace("[{\"t\":0.0,\"type\":\"n\"", "[{\"t\":10.5,\"type\":\"n\"")
            .replace("\"t\":30.0", "\"t\":15.0");

    assertThat(inputs(TestWorkloads.text(BLOCKS, absolute))).containsExactly(3, 2, 4, 5);
  }

  @Test
  void wekaSessionsShareNoBlocksUnlessTheirIdsAreGlobal() throws IOException {
    assertThat(TestWorkloads.text(BLOCKS, WEKA, WEKA).requests().distinctBlocks()).isEqualTo(16);

    String global = WEKA.replace("\"local\"", "\"global\"");
    assertThat(TestWorkloads.text(BLOCKS, global, global).requests().distinctBlocks()).isEqualTo(8);
  }

  @Test
  void wekaSessionsStartAtEqualDistancesAndEndAtTheHorizon() throws IOException {
    WorkloadOptions options = new WorkloadOptions(1, 512, 15, 40, null);

    assertThat(inputs(TestWorkloads.text(options, WEKA + WEKA))).containsExactly(3, 2, 3, 5, 2, 5);
  }

  @Test
  void wekaBlocksAreJoinedToPages() throws IOException {
    assertThat(inputs(TestWorkloads.text(TestWorkloads.pages(128), WEKA)))
        .containsExactly(1, 1, 2, 2);
    assertThat(TestWorkloads.text(WorkloadOptions.DEFAULT, WEKA).pageTokens()).isEqualTo(512);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"requests\":7} | requests is a number; it must be an array of requests",
        "{\"requests\":[7]} | requests[0] is a number; it must be an object",
        "{\"requests\":[{\"hash_ids\":[1]}]} | requests[0].t is missing",
        "{\"requests\":[{\"t\":0}]} | requests[0].hash_ids is missing",
        "{\"requests\":[{\"t\":-1,\"hash_ids\":[]}]} | requests[0].t is -1; it must be 0",
        "{\"requests\":[{\"t\":0,\"hash_ids\":[-1]}]} | requests[0].hash_ids[0] is -1",
        "{\"requests\":[{\"t\":0,\"hash_ids\":[1.5]}]} | requests[0].hash_ids[0] is 1.5",
        "{\"requests\":[],\"block_size\":0} | block_size is 0; it must be 1 to 65536",
        "{\"requests\":[{\"t\":0,\"type\":\"subagent\",\"requests\":[{\"t\":0}]}]} | requests[0].requests[0].hash_ids is missing",
      })
  void aWekaRecordThatIsDamagedIsRefusedByName(String text, String message) {
    assertThatThrownBy(() -> TestWorkloads.text(BLOCKS, text))
        .isInstanceOf(WorkloadException.class)
        .hasMessageStartingWith("file1, line 1: " + message);
  }

  @Test
  void wekaSubAgentsThatAreNestedWithoutEndAreRefused() {
    String open = "{\"t\":0,\"type\":\"subagent\",\"requests\":[";
    String deep = "{\"requests\":[" + open.repeat(40) + "]}".repeat(40) + "]}";

    assertThatThrownBy(() -> TestWorkloads.text(BLOCKS, deep))
        .hasMessageContaining("nested more than 16 deep");
  }

  @Test
  void wekaSessionsOfOtherBlocksThanTheFirstAreRefused() {
    String other = WEKA.replace("\"block_size\":64", "\"block_size\":32");

    assertThatThrownBy(() -> TestWorkloads.text(BLOCKS, WEKA, other))
        .hasMessage("file2, line 1: block_size is 32, but 64 in the first session");
  }

  // Qwen-Bailian

  private static final String QWEN =
      """
      {"chat_id":1,"parent_chat_id":-1,"timestamp":0.0,"input_length":40,"output_length":9,\
      "type":"text","turn":1,"hash_ids":[7,8,9]}
      {"chat_id":2,"parent_chat_id":-1,"timestamp":0.5,"input_length":33,"output_length":9,\
      "type":"search","turn":1,"hash_ids":[7,8,4]}
      {"chat_id":3,"parent_chat_id":1,"timestamp":1.25,"input_length":64,"output_length":9,\
      "type":"text","turn":2,"hash_ids":[7,8,5,6]}
      """;

  @Test
  void qwenRequestsShareBlocksOfEqualPrefixes() throws IOException {
    Workload workload = TestWorkloads.text(WorkloadOptions.DEFAULT, QWEN);

    assertThat(workload.format()).isEqualTo("request trace with conversations");
    assertThat(workload.pageTokens()).isEqualTo(16);
    assertThat(inputs(workload)).containsExactly(3, 3, 4);
    assertThat(workload.requests().distinctBlocks()).isEqualTo(6);
  }

  /** An id names its block's content alone: a page is the same if all of its blocks are. */
  @Test
  void aPageOfQwenBlocksIsNamedByAllOfThem() throws IOException {
    String lines =
        """
        {"chat_id":1,"input_length":32,"hash_ids":[1,3]}
        {"chat_id":2,"input_length":32,"hash_ids":[2,3]}
        {"chat_id":3,"input_length":32,"hash_ids":[1,3]}
        """;

    Workload workload = TestWorkloads.text(TestWorkloads.pages(32), lines);
    assertThat(inputs(workload)).containsExactly(1, 1, 1);
    assertThat(workload.requests().distinctBlocks()).isEqualTo(2);
  }

  @Test
  void qwenIdsBeyondThePromptAreTheReplys() throws IOException {
    Workload workload =
        TestWorkloads.text(
            WorkloadOptions.DEFAULT, "{\"chat_id\":1,\"input_length\":17,\"hash_ids\":[1,2,3,4]}");

    assertThat(inputs(workload)).containsExactly(2);
    assertThat(workload.requests().size(0)).isEqualTo(4);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"chat_id\":1,\"hash_ids\":[1]} | input_length is missing",
        "{\"chat_id\":\"x\",\"hash_ids\":[1],\"input_length\":1} | chat_id is a string",
        "{\"chat_id\":1,\"hash_ids\":{},\"input_length\":1} | hash_ids is an object",
        "{\"chat_id\":1,\"hash_ids\":[null],\"input_length\":1} | hash_ids is null",
        "{\"chat_id\":1,\"hash_ids\":[1],\"input_length\":-1} | input_length is -1",
      })
  void aQwenRecordThatIsDamagedIsRefusedByName(String text, String message) {
    assertThatThrownBy(() -> TestWorkloads.text(WorkloadOptions.DEFAULT, text))
        .isInstanceOf(WorkloadException.class)
        .hasMessageStartingWith("file1, line 1: " + message);
  }

  // TraceLab

  private static String round(
      String session, int index, long tokens, long prefix, String time, String model) {
    return """
        {"provider":"claude","project":"p","session_id":"%s","round_index":%d,"round_id":"r",\
        "model":"%s","input_tokens_total":%d,"prefix_tokens":%d,"newly_append_tokens":%d,\
        "output_tokens":9,"timing_events":[{"event_type":"user_message","timestamp":"%s",\
        "source":"user.message","content_chars":1}],"tools":[]}
        """
        .formatted(session, index, model, tokens, prefix, tokens - prefix, time);
  }

  private static final WorkloadOptions HUNDRED = TestWorkloads.pages(100);

  @Test
  void aTraceLabPromptBeginsWithTheOneBefore() throws IOException {
    Workload workload =
        TestWorkloads.text(
            HUNDRED,
            round("s", 0, 250, 0, "2026-06-01T05:40:20.151Z", "m")
                + round("s", 1, 520, 240, "2026-06-01T05:40:25Z", "m")
                + round("s", 2, 900, 0, "2026-06-01T06:40:25Z", "m"));

    assertThat(workload.format()).isEqualTo("agent sessions with token counts");
    assertThat(workload.pageTokens()).isEqualTo(100);
    assertThat(inputs(workload)).containsExactly(2, 5, 9);
    assertThat(workload.requests().distinctBlocks()).isEqualTo(9);
  }

  @Test
  void aTraceLabPromptThatShrankSharesWhatWasCachedOfIt() throws IOException {
    Workload workload =
        TestWorkloads.text(
            HUNDRED,
            round("s", 0, 900, 0, "2026-06-01T05:40:20Z", "m")
                + round("s", 1, 500, 310, "2026-06-01T05:40:25Z", "m")
                + round("s", 2, 600, 310, "2026-06-01T05:40:30Z", "m"));

    assertThat(inputs(workload)).containsExactly(9, 5, 6);
    assertThat(workload.requests().distinctBlocks()).isEqualTo(9 + 2 + 1);
  }

  @Test
  void whatWasCachedOfAFirstTraceLabPromptIsSharedByItsModel() throws IOException {
    Workload workload =
        TestWorkloads.text(
            HUNDRED,
            round("a", 0, 500, 300, "2026-06-01T05:40:20Z", "m")
                + round("b", 0, 400, 350, "2026-06-01T05:40:25Z", "m")
                + round("c", 0, 400, 300, "2026-06-01T05:40:30Z", "other"));

    assertThat(workload.requests().distinctBlocks()).isEqualTo(5 + 1 + 4);
  }

  @Test
  void traceLabRequestsRunInTheOrderOfTheirTimesAndThoseOfASessionOfTheirNumbers()
      throws IOException {
    Workload workload =
        TestWorkloads.text(
            HUNDRED,
            round("a", 1, 200, 0, "2026-06-01T05:40:40Z", "m")
                + round("a", 0, 100, 0, "2026-06-01T05:40:20Z", "m")
                + round("b", 0, 300, 0, "2026-06-01T05:40:30Z", "m")
                + round("b", 1, 400, 0, "2026-06-01T05:40:10Z", "m")
                + round("a", 2, 500, 0, "2026-06-01T05:40:50Z", "m"));

    assertThat(inputs(workload)).containsExactly(1, 3, 4, 2, 5);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"session_id\":\"s\",\"input_tokens_total\":5} | round_index is missing",
        "{\"session_id\":\"s\",\"input_tokens_total\":-5,\"round_index\":0,\"prefix_tokens\":0} | input_tokens_total is -5",
        "{\"session_id\":7,\"input_tokens_total\":5,\"round_index\":0,\"prefix_tokens\":0} | session_id is a number",
        "{\"session_id\":\"s\",\"input_tokens_total\":5,\"round_index\":0,\"prefix_tokens\":0,\"timing_events\":[{\"timestamp\":\"soon\"}]} | timing_events[0].timestamp is not a time of ISO 8601",
        "{\"session_id\":\"s\",\"input_tokens_total\":5,\"round_index\":0,\"prefix_tokens\":0,\"timing_events\":[7]} | timestamp is",
        "{\"session_id\":\"s\",\"input_tokens_total\":2147483647,\"round_index\":0,\"prefix_tokens\":0} | there are more than 268435456 pages",
      })
  void aTraceLabRecordThatIsDamagedIsRefusedByName(String text, String message) {
    assertThatThrownBy(() -> TestWorkloads.text(BLOCKS, text))
        .isInstanceOf(WorkloadException.class)
        .hasMessageStartingWith("file1, line 1: " + message);
  }
}
