package io.radixflow.gateway.chat;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.GatewayFixture;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ReplyDelta.Kind;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierUsage;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ChatToolsTest {

  private static final String PATH = "/v1/chat/completions";
  private static final String TOOLS =
      """
      "tools":[{"type":"function","function":{"name":"weather","description":"The weather",\
      "parameters":{"type":"object","properties":{"city":{"type":"string"}}}}}]\
      """;
  private static final ToolCall ULM = new ToolCall("call_1", "weather", "{\"city\": \"Ulm\"}");
  private static final ToolCall KOELN = new ToolCall("call_2", "weather", "{\"city\": \"Köln\"}");
  private static final Usage USAGE = new Usage(30, 16, 9, TierUsage.NONE, 4);

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private CompletableFuture<HttpResponse<String>> chat(String fields, String... headers) {
    return gateway.send(
        gateway.post(
            PATH,
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Warm in Ulm?\"}]," + fields + "}",
            headers));
  }

  private void reply(ConversationEvent event) {
    gateway.topics().part(event, 0, Kind.REASONING_CONTENT, -1, null, "Hm");
    gateway.topics().call(event, 2, 0, ULM);
    gateway.topics().call(event, 2 + 7 + 15, 1, KOELN);
    gateway.topics().end(event, 2 + 2 * 7 + 15 + 16, "tool_calls", USAGE);
  }

  @Test
  void theLastMessageIsContinuedIfTheClientSaysSo() {
    gateway.send(
        gateway.post(
            PATH,
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},"
                + "{\"role\":\"assistant\",\"content\":\"Hello, my\"}],"
                + "\"continue_final_message\":true,\"add_generation_prompt\":false}"));
    ConversationEvent event = gateway.topics().next();
    assertThat(event.options().continueFinalMessage()).isTrue();
    assertThat(event.options().addGenerationPrompt()).isFalse();
    assertThat(event.messages()).last().isEqualTo(new Message("assistant", "Hello, my"));
    HttpResponse<String> both =
        chat("\"continue_final_message\":true,\"add_generation_prompt\":true").join();
    assertThat(both.statusCode()).isEqualTo(400);
    assertThat(both.body()).contains("continue_final_message and add_generation_prompt");
  }

  @ParameterizedTest
  @CsvSource({"auto", "none", "required"})
  void aFunctionNeedsNoTypeAndAChoiceMayBeGivenByItsType(String choice) {
    chat(
        TOOLS.replace("\"type\":\"function\",", "")
            + ",\"tool_choice\":{\"type\":\""
            + choice
            + "\"}");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.options().tools()).contains("\"name\":\"weather\"");
    assertThat(event.options().toolChoice()).isEqualTo(choice);
  }

  private static final String CUSTOM =
      "\"tools\":[{\"type\":\"custom\",\"custom\":{\"name\":\"code\",\"description\":\"Runs\"}}],"
          + "\"tool_choice\":{\"type\":\"custom\",\"custom\":{\"name\":\"code\"}}";

  @Test
  void aCustomToolIsAFunctionOfOneTextAndItsCallsAreCustomCalls() {
    CompletableFuture<HttpResponse<String>> sent = chat(CUSTOM);
    ConversationEvent event = gateway.topics().next();
    assertThat(event.options().tools())
        .contains("\"name\":\"code\"", "\"properties\":{\"input\":{\"type\":\"string\"}}");
    assertThat(event.options().toolChoice()).contains("{\"name\":\"code\"}");
    ToolCall call = new ToolCall("call_1", "code", "{\"input\": \"a \\\"b\\\"\\n\"}");
    gateway.topics().call(event, 0, 0, call);
    gateway.topics().end(event, 4 + call.arguments().length(), "tool_calls", USAGE);
    JsonNode calls = GatewayFixture.json(sent.join().body()).at("/choices/0/message/tool_calls");
    assertThat(calls)
        .isEqualTo(
            GatewayFixture.json(
                "[{\"id\":\"call_1\",\"type\":\"custom\",\"custom\":{\"name\":\"code\","
                    + "\"input\":\"a \\\"b\\\"\\n\"}}]"));
    gateway.send(
        gateway.post(
            PATH,
            "{\"messages\":[{\"role\":\"user\",\"content\":\"Warm in Ulm?\"},"
                + "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":"
                + calls
                + "},{\"role\":\"tool\",\"tool_call_id\":\"call_1\",\"content\":\"ok\"}],"
                + CUSTOM
                + "}"));
    ConversationEvent next = gateway.topics().next();
    assertThat(next.messages().get(1).toolCalls())
        .containsExactly(new ToolCall("call_1", "code", "{\"input\":\"a \\\"b\\\"\\n\"}"));
  }

  @Test
  void aStreamHasTheInputOfACustomCallInOnePiece() {
    CompletableFuture<HttpResponse<String>> sent = chat(CUSTOM + ",\"stream\":true");
    ConversationEvent event = gateway.topics().next();
    gateway.topics().part(event, 0, Kind.TOOL_CALL, 0, "call_1", "code");
    gateway.topics().part(event, 4, Kind.ARGUMENTS, 0, "call_1", "{\"input\": \"a");
    gateway.topics().part(event, 16, Kind.ARGUMENTS, 0, "call_1", "b\"}");
    gateway.topics().end(event, 19, "tool_calls", USAGE);
    assertThat(sent.join().body())
        .contains("\"type\":\"custom\",\"custom\":{\"name\":\"code\",\"input\":\"\"}")
        .contains("[{\"index\":0,\"custom\":{\"input\":\"ab\"}}]")
        .doesNotContain("arguments");
  }

  @Test
  void theInputOfACustomToolIsHeldToARegularExpressionButToNoLarkGrammarWhichIsNamed() {
    String format =
        ",\"format\":{\"type\":\"grammar\",\"grammar\":{\"syntax\":\"%s\",\"definition\":\"a+\"}}";
    String described = "\"description\":\"Runs\"";
    chat(CUSTOM.replace(described, described + format.formatted("regex")));
    assertThat(gateway.topics().next().options().tools())
        .contains("\"pattern\":\"^(?:a+)$\"", "\"strict\":true");
    CompletableFuture<HttpResponse<String>> lark =
        chat(CUSTOM.replace(described, described + format.formatted("lark")));
    ConversationEvent event = gateway.topics().next();
    assertThat(event.options().tools()).contains("\"x-lark\":\"a+\"").doesNotContain("strict");
    gateway.topics().end(event, 0, "stop", USAGE);
    assertThat(lark.join().headers().firstValue("X-Radixflow-Ignored"))
        .contains("tools[0].custom.format");
    HttpResponse<String> other =
        chat(CUSTOM.replace(described, described + format.formatted("peg"))).join();
    assertThat(other.statusCode()).isEqualTo(400);
    assertThat(other.body()).contains("tools[0].custom.format.grammar.syntax is");
  }

  @Test
  void thinkingIsSwitchedAndBounded() {
    chat("\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":9}");
    ConversationEvent on = gateway.topics().next();
    assertThat(on.options().chatTemplateKwargs()).isEqualTo("{\"enable_thinking\":true}");
    assertThat(on.options().thinkingTokenBudget()).isEqualTo(9);
    chat(
        "\"thinking\":{\"type\":\"disabled\"},\"thinking_token_budget\":5,"
            + "\"chat_template_kwargs\":{\"enable_thinking\":true}");
    ConversationEvent own = gateway.topics().next();
    assertThat(own.options().chatTemplateKwargs()).isEqualTo("{\"enable_thinking\":true}");
    assertThat(own.options().thinkingTokenBudget()).isEqualTo(5);
  }

  @Test
  void aCompletionHasCallsAndReasoningAndNoContentBesideThem() {
    CompletableFuture<HttpResponse<String>> response =
        chat(
            TOOLS
                + ",\"tool_choice\":\"auto\",\"reasoning_effort\":\"low\",\"thinking_token_budget\":7");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.options().thinkingTokenBudget()).isEqualTo(7);
    assertThat(event.options().tools()).startsWith("[{\"type\":\"function\"").contains("weather");
    assertThat(event.options().toolChoice()).isEqualTo("auto");
    assertThat(event.options().reasoningEffort()).isEqualTo("low");
    assertThat(event.options().separateReasoning()).isNull();
    reply(event);
    JsonNode json = GatewayFixture.json(response.join().body());
    JsonNode message = json.at("/choices/0/message");
    assertThat(message.get("content").isNull()).isTrue();
    assertThat(message.get("reasoning_content").asText()).isEqualTo("Hm");
    assertThat(message.get("tool_calls"))
        .isEqualTo(
            GatewayFixture.json(
                """
                [{"id":"call_1","type":"function",
                  "function":{"name":"weather","arguments":"{\\"city\\": \\"Ulm\\"}"}},
                 {"id":"call_2","type":"function",
                  "function":{"name":"weather","arguments":"{\\"city\\": \\"Köln\\"}"}}]
                """));
    assertThat(json.at("/choices/0/finish_reason").asText()).isEqualTo("tool_calls");
    assertThat(json.at("/usage/completion_tokens_details/reasoning_tokens").asInt()).isEqualTo(4);
  }

  /** Joins the deltas of a stream as clients do. */
  private static String joined(String body) {
    StringBuilder content = new StringBuilder();
    StringBuilder reasoning = new StringBuilder();
    List<String> calls = new ArrayList<>();
    String finish = "";
    for (String line : body.split("\n")) {
      if (!line.startsWith("data: {")) {
        continue;
      }
      JsonNode choice = GatewayFixture.json(line.substring(6)).at("/choices/0");
      JsonNode delta = choice.path("delta");
      content.append(delta.path("content").asText(""));
      reasoning.append(delta.path("reasoning_content").asText(""));
      for (JsonNode call : delta.path("tool_calls")) {
        int index = call.get("index").asInt();
        if (call.has("id")) {
          assertThat(index).isEqualTo(calls.size());
          assertThat(call.get("type").asText()).isEqualTo("function");
          calls.add(call.get("id").asText() + " " + call.at("/function/name").asText() + " ");
        }
        calls.set(index, calls.get(index) + call.at("/function/arguments").asText());
      }
      finish += choice.path("finish_reason").asText("");
    }
    return reasoning + "|" + content + "|" + calls + "|" + finish.replace("null", "");
  }

  @Test
  void aStreamOpensEachCallWithIdAndNameAndContinuesWithItsArguments() {
    CompletableFuture<HttpResponse<String>> response = chat(TOOLS + ",\"stream\":true");
    reply(gateway.topics().next());
    assertThat(joined(response.join().body()))
        .isEqualTo(
            "Hm||[call_1 weather {\"city\": \"Ulm\"}, call_2 weather {\"city\": \"Köln\"}]"
                + "|tool_calls");
  }

  @Test
  void reasoningIsNotShownIfTheClientSaysSo() {
    String hidden = TOOLS + ",\"include_reasoning\":false";
    CompletableFuture<HttpResponse<String>> whole = chat(hidden);
    reply(gateway.topics().next());
    JsonNode json = GatewayFixture.json(whole.join().body());
    assertThat(json.at("/choices/0/message").has("reasoning_content")).isFalse();
    assertThat(json.at("/choices/0/message/tool_calls")).hasSize(2);
    assertThat(json.at("/usage/completion_tokens_details/reasoning_tokens").asInt()).isEqualTo(4);
    CompletableFuture<HttpResponse<String>> stream = chat(hidden + ",\"stream\":true");
    reply(gateway.topics().next());
    assertThat(joined(stream.join().body())).startsWith("||[call_1 weather");
    assertThat(stream.join().body())
        .doesNotContain("\"delta\":{},\"logprobs\":null,\"finish_reason\":null");
    HttpResponse<String> both = chat(hidden + ",\"separate_reasoning\":false").join();
    assertThat(both.statusCode()).isEqualTo(400);
    assertThat(both.body()).contains("leave separate_reasoning out");
  }

  @Test
  void aStreamThatIsSentAgainHasTheSameParts() {
    String stream = TOOLS + ",\"stream\":true";
    CompletableFuture<HttpResponse<String>> first = chat(stream, "Idempotency-Key", "k");
    ConversationEvent event = gateway.topics().next();
    gateway.topics().running(gateway.topics().next(), "");
    gateway.topics().piece(event, 0, "Let me see");
    gateway.topics().call(event, 10, 0, ULM);
    gateway.topics().call(event, 32, 1, KOELN);
    gateway.topics().end(event, 55, "tool_calls", USAGE);
    String whole = joined(first.join().body());
    CompletableFuture<HttpResponse<String>> second = chat(stream, "Idempotency-Key", "k");
    ConversationEvent sentAgain = gateway.topics().next();
    ConversationEvent query = gateway.topics().next();
    ToolCall begun = new ToolCall(KOELN.id(), KOELN.name(), "{\"city\"");
    gateway
        .topics()
        .running(
            query, new Message("assistant", "Let me see", null, List.of(ULM, begun), null, null));
    gateway.topics().part(sentAgain, 44, Kind.ARGUMENTS, 1, "call_2", "y\": \"Köln\"}");
    gateway.topics().end(sentAgain, 55, "tool_calls", USAGE);
    assertThat(joined(second.join().body())).isEqualTo(whole);
  }

  @Test
  void callsAndTheirResultsComeBackInTheSameSession() {
    String question = "{\"role\":\"user\",\"content\":\"Warm in Ulm?\"}";
    chat(TOOLS);
    ConversationEvent first = gateway.topics().next();
    reply(first);
    gateway.send(
        gateway.post(
            PATH,
            "{\"messages\":["
                + question
                + """
                ,{"role":"assistant","content":null,"reasoning_content":"Hm","tool_calls":[
                {"id":"call_1","type":"function","function":{"name":"weather",
                 "arguments":"{\\"city\\": \\"Ulm\\"}"}}]},
                {"role":"tool","tool_call_id":"call_1","content":[
                 {"type":"text","text":"7 degrees"}]}],\
                """
                + TOOLS
                + "}"));
    ConversationEvent second = gateway.topics().next();
    assertThat(second.session()).isEqualTo(first.session());
    assertThat(second.matchHistory()).isTrue();
    assertThat(second.messages())
        .containsExactly(
            new Message("user", "Warm in Ulm?"),
            new Message("assistant", null, null, List.of(ULM), null, "Hm"),
            new Message("tool", "7 degrees", null, List.of(), "call_1", null));
    reply(second);
  }

  @Test
  void whatHoldsTheReplyGoesToTheJob() {
    chat(
        TOOLS.replace("\"name\":\"weather\"", "\"name\":\"weather\",\"strict\":true")
            + ",\"tool_choice\":{\"type\":\"function\",\"function\":{\"name\":\"weather\"}}"
            + ",\"parallel_tool_calls\":false,\"response_format\":{\"type\":\"json_object\"}");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.options().toolChoice())
        .isEqualTo("{\"type\":\"function\",\"function\":{\"name\":\"weather\"}}");
    assertThat(event.options().parallelToolCalls()).isFalse();
    assertThat(event.options().responseFormat()).isEqualTo("{\"type\":\"json_object\"}");
    reply(event);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "\"tool_choice\":\"any\"; tool_choice is \"any\"",
        "\"tool_choice\":{\"type\":\"function\"}; tool_choice.function is missing",
        "\"tools\":[{\"type\":\"web_search\"}]; tools[0].function is missing",
        "\"tools\":[{\"type\":\"custom\",\"function\":{\"name\":\"f\"}}]; tools[0].custom is"
            + " missing",
        "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"f\",\"strict\":1}}];"
            + " tools[0].function.strict is a number",
        "\"functions\":[{\"name\":\"f\"}]; functions is not served yet",
        "\"function_call\":\"auto\"; function_call is not served yet",
        "\"response_format\":{\"type\":\"xml\"}; response_format.type is \"xml\"",
        "\"structured_outputs\":{}; structured_outputs must have one of",
        "\"guided_regex\":1; guided_regex is a number",
        "\"guided_json\":{},\"response_format\":{\"type\":\"json_object\"}; response_format and"
            + " guided_json both",
      })
  void whatTheJobRefusesIsRefusedByItsName(String field, String error) {
    HttpResponse<String> response = chat(field).join();
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(GatewayFixture.json(response.body()).at("/error/message").asText())
        .startsWith(error);
    assertThat(gateway.topics().hasEvents()).isFalse();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\",\"function\":{\"arguments\":\"\"}}]};"
            + " messages[0].tool_calls[0].function.name is missing",
        "{\"role\":\"assistant\",\"tool_calls\":[{\"id\":\"c\"}]};"
            + " messages[0].tool_calls[0].function is missing",
        "{\"role\":\"assistant\",\"tool_calls\":[7]};" + " messages[0].tool_calls[0] is a number",
        "{\"role\":\"user\",\"content\":\"a\",\"tool_call_id\":\"c\"};"
            + " messages[0].tool_call_id is given, which only a message of role \"tool\" may have",
      })
  void messagesThatAreWrongAreRefusedByTheirPath(String message, String error) {
    HttpResponse<String> response =
        gateway.send(gateway.post(PATH, "{\"messages\":[" + message + "]}")).join();
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(GatewayFixture.json(response.body()).at("/error/message").asText())
        .startsWith(error);
  }
}
