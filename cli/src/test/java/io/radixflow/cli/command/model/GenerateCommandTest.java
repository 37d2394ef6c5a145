package io.radixflow.cli.command.model;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.cli.Cli;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GenerateCommandTest {
  private static final String CONVERSATIONS =
      """
      {"messages":[{"role":"user","content":"Name a river."}],"max_tokens":40}
      {"turns":[{"user":"Name a river."},{"user":"And a lake?"},{"user":"Why?"}],"max_tokens":24}
      {"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"Hi"}],"max_tokens":9,"ignore_eos":true}
      {"turns":[{"user":"One"},{"user":"Two"}],"temperature":1,"seed":7,"max_tokens":24}
      {"messages":[{"role":"user","content":"Hi"}],"temperature":0.8,"top_p":0.9,"seed":-3,"max_tokens":60}
      """;

  private static List<JsonNode> generate(String input, String... options) throws IOException {
    List<String> arguments = new ArrayList<>(List.of("generate", "--model", "sim"));
    arguments.addAll(List.of(options));
    Cli.Result result = new Cli().with(input).run(arguments.toArray(String[]::new));
    assertThat(result.code()).as(result.err()).isZero();
    List<JsonNode> lines = new ArrayList<>();
    for (String line : result.out().lines().toList()) {
      lines.add(new ObjectMapper().readTree(line));
    }
    return lines;
  }

  /** The ids of all replies; usage may differ between runs. */
  private static List<String> ids(List<JsonNode> lines) {
    return lines.stream()
        .map(line -> line.findValuesAsText("finish_reason") + "" + line.findValues("ids"))
        .toList();
  }

  @Test
  void repliesDoNotDependOnBatchCacheOrPool() throws IOException {
    List<String> plain = ids(generate(CONVERSATIONS, "--batch", "1"));

    assertThat(plain).hasSize(5);
    assertThat(ids(generate(CONVERSATIONS, "--batch", "8"))).isEqualTo(plain);
    assertThat(ids(generate(CONVERSATIONS, "--no-cache"))).isEqualTo(plain);
    assertThat(ids(generate(CONVERSATIONS, "--kv-pages", "14", "--chunk", "7"))).isEqualTo(plain);
  }

  @Test
  void aReplyHasIdsTextReasonAndUsage() throws IOException {
    JsonNode line = generate(CONVERSATIONS).get(2);

    assertThat(line.fieldNames())
        .toIterable()
        .containsExactly("ids", "text", "finish_reason", "usage");
    assertThat(line.get("ids")).hasSize(9);
    assertThat(line.get("text").textValue()).isNotEmpty();
    assertThat(line.get("finish_reason").textValue()).isEqualTo("length");
    assertThat(line.get("usage").get("completion_tokens").intValue()).isEqualTo(9);
    assertThat(line.get("usage").get("prompt_tokens_details").get("cached_tokens")).isNotNull();
  }

  @Test
  void aLaterTurnGoesOnFromTheIdsBeforeItAndFindsThemCached() throws IOException {
    JsonNode turns = generate(CONVERSATIONS, "--batch", "1").get(1).get("turns");

    for (int i = 1; i < 3; i++) {
      JsonNode before = turns.get(i - 1);
      JsonNode usage = turns.get(i).get("usage");
      int known = before.get("usage").get("prompt_tokens").intValue() + before.get("ids").size();
      boolean ended = before.get("finish_reason").textValue().equals("stop");
      String question = i == 1 ? "And a lake?" : "Why?";
      int added = (ended ? 0 : 1) + "\nsuser\ne\nsassistant\n".length() + question.length();
      assertThat(usage.get("prompt_tokens").intValue()).isEqualTo(known + added);
      assertThat(usage.get("prompt_tokens_details").get("cached_tokens").intValue())
          .isGreaterThanOrEqualTo((known - 1) / 16 * 16);
    }
  }

  @Test
  void stopStringsEndTheTextButTheirTokensAreReturned() throws IOException {
    JsonNode whole = generate(CONVERSATIONS).get(0);
    String stop = whole.get("text").textValue().substring(4, 7);

    JsonNode cut =
        generate(
                "{\"messages\":[{\"role\":\"user\",\"content\":\"Name a river.\"}],\"stop\":\""
                    + stop
                    + "\"}")
            .get(0);

    assertThat(cut.get("finish_reason").textValue()).isEqualTo("stop");
    assertThat(whole.get("text").textValue()).startsWith(cut.get("text").textValue());
    assertThat(cut.get("text").textValue()).doesNotContain(stop);
    assertThat(cut.get("ids").size()).isLessThan(whole.get("ids").size());
  }

  @Test
  void logProbabilitiesAreReturnedOnRequest() throws IOException {
    JsonNode line =
        generate(
                "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"max_tokens\":3,"
                    + "\"logprobs\":true,\"top_logprobs\":2}")
            .get(0);

    assertThat(line.get("logprobs"))
        .hasSameSizeAs(line.get("ids"))
        .allSatisfy(
            entry -> {
              assertThat(entry.get("top")).hasSize(2);
              assertThat(entry.get("logprob").floatValue()).isNotPositive();
            });
  }

  @Test
  void badLinesAreReportedAndTheOthersAnswered() throws IOException {
    List<JsonNode> lines =
        generate(
            """
            {}
            {"messages":[{"role":"user","content":"a"}],"turns":[{"user":"a"}]}
            {"turns":[{"text":"a"}]}
            {"messages":[{"role":"user","content":"a"}],"max_tokens":-1}
            {"messages":[{"role":"user","content":"a"}],"temperature":-1}
            {"messages":[{"role":"user","content":"a"}],"temperature":NaN}
            {"messages":[{"role":"user","content":"a"}],"top_k":99999999999}
            {"messages":[{"role":"user","content":"a"}],"logit_bias":{"x":1}}
            {"messages":[{"role":"pirate","content":"a"}]}
            {"messages":[{"role":"user","content":"a"}],"max_tokens":1}
            """);

    assertThat(lines).hasSize(10);
    assertThat(lines.subList(0, 9)).allSatisfy(line -> assertThat(line.has("error")).isTrue());
    assertThat(lines.get(3).get("error").textValue())
        .isEqualTo("max_tokens is -1; it must be at least 1");
    assertThat(lines.get(8).get("error").textValue()).contains("role pirate");
    assertThat(lines.get(9).get("ids")).hasSize(1);
  }

  @Test
  void aRequestThatThePoolCannotHoldIsRefusedWithTheNumbers() throws IOException {
    String text = "x".repeat(200);

    JsonNode line =
        generate(
                "{\"messages\":[{\"role\":\"user\",\"content\":\"" + text + "\"}]}",
                "--kv-pages",
                "4")
            .get(0);

    assertThat(line.get("error").textValue())
        .startsWith("rejected: ")
        .contains("219 tokens")
        .contains("64");
  }
}
