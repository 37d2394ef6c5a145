package io.radixflow.gateway.responses;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.GatewayFixture;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.PartLength;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta.Kind;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierUsage;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class ResponseToolsTest {

  private static final String TOOLS =
      "'tools':[{'type':'function','name':'weather','description':'The weather','strict':false,"
          + "'parameters':{'type':'object','properties':{'city':{'type':'string'}}}}],"
          + "'tool_choice':'auto','parallel_tool_calls':true,'reasoning':{'effort':'low'}";
  private static final ToolCall ULM = new ToolCall("call_1", "weather", "{\"city\": \"Ulm\"}");
  private static final ToolCall ROME = new ToolCall("call_2", "weather", "{\"city\": \"Rome\"}");
  private static final Message REPLY =
      new Message("assistant", null, null, List.of(ULM, ROME), null, "Hm");

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private CompletableFuture<HttpResponse<String>> send(String fields) {
    return gateway.send(
        gateway.post("/v1/responses", "{'input':'Warm?',%s}".formatted(fields).replace('\'', '"')));
  }

  /** Returns the next event that is not a query. */
  private ConversationEvent turn() {
    ConversationEvent event = gateway.topics().next();
    return event.kind() == EventKind.QUERY ? turn() : event;
  }

  private void reply(ConversationEvent event) {
    gateway.topics().part(event, 0, Kind.REASONING_CONTENT, -1, null, "Hm");
    gateway.topics().call(event, 2, 0, ULM);
    gateway.topics().call(event, 24, 1, ROME);
    gateway.topics().end(event, 47, "tool_calls", new Usage(30, 16, 9, TierUsage.NONE, 4));
  }

  @Test
  void aResponseHasReasoningAndCallsAsItems() {
    CompletableFuture<HttpResponse<String>> sent = send(TOOLS + ",'thinking_token_budget':7");
    ConversationEvent event = turn();
    assertThat(event.options().thinkingTokenBudget()).isEqualTo(7);
    assertThat(event.options().tools())
        .isEqualTo(
            "[{\"type\":\"function\",\"function\":{\"name\":\"weather\",\"description\":"
                + "\"The weather\",\"parameters\":{\"type\":\"object\",\"properties\":"
                + "{\"city\":{\"type\":\"string\"}}}}}]");
    assertThat(event.options().toolChoice()).isEqualTo("auto");
    assertThat(event.options().reasoningEffort()).isEqualTo("low");
    assertThat(event.options().separateReasoning()).isNull();
    reply(event);
    JsonNode json = GatewayFixture.json(sent.join().body());
    assertThat(json.get("status").asText()).isEqualTo("completed");
    assertThat(json.get("output")).hasSize(3);
    assertThat(json.at("/output/0/content/0/text").asText()).isEqualTo("Hm");
    assertThat(json.at("/output/1/type").asText()).isEqualTo("function_call");
    assertThat(json.at("/output/1/call_id").asText()).isEqualTo("call_1");
    assertThat(json.at("/output/2/arguments").asText()).isEqualTo(ROME.arguments());
    assertThat(json.at("/usage/output_tokens_details/reasoning_tokens").asInt()).isEqualTo(4);
  }

  private static final String FORMAT =
      "'text':{'format':{'type':'json_schema','name':'n','schema':{'type':'object'},'strict':true}},"
          + "'presence_penalty':0.5";

  private static void repeats(JsonNode response) {
    assertThat(response.get("tools"))
        .isEqualTo(
            GatewayFixture.json(
                """
                [{"type":"function","name":"weather","description":"The weather","parameters":
                  {"type":"object","properties":{"city":{"type":"string"}}},"strict":false}]\
                """));
    assertThat(response.get("tool_choice"))
        .isEqualTo(GatewayFixture.json("{\"type\":\"function\",\"name\":\"weather\"}"));
    assertThat(response.get("parallel_tool_calls").booleanValue()).isFalse();
    assertThat(response.at("/reasoning/effort").textValue()).isEqualTo("low");
    assertThat(response.at("/presence_penalty").doubleValue()).isEqualTo(0.5);
    assertThat(response.at("/text/format"))
        .isEqualTo(
            GatewayFixture.json(
                """
                {"type":"json_schema","name":"n","schema":{"type":"object"},"strict":true}\
                """));
  }

  @Test
  void someToolsMayBeAllowed() {
    String allowed =
        "{'type':'allowed_tools','mode':'required','tools':[{'type':'function','name':'weather'}]}";
    CompletableFuture<HttpResponse<String>> sent =
        send(TOOLS.replace("'tool_choice':'auto'", "'tool_choice':" + allowed));
    ConversationEvent event = turn();
    assertThat(event.options().toolChoice())
        .isEqualTo(
            "{\"type\":\"allowed_tools\",\"allowed_tools\":{\"mode\":\"required\",\"tools\":"
                + "[{\"type\":\"function\",\"function\":{\"name\":\"weather\"}}]}}");
    reply(event);
    assertThat(GatewayFixture.json(sent.join().body()).get("tool_choice"))
        .isEqualTo(GatewayFixture.json(allowed.replace('\'', '"')));
  }

  @Test
  void aResponseRepeatsWhatItsRequestAskedForAlsoWhenItIsReadLater() {
    String asked =
        TOOLS
            .replace("'tool_choice':'auto'", "'tool_choice':{'type':'function','name':'weather'}")
            .replace("'parallel_tool_calls':true", "'parallel_tool_calls':false");
    CompletableFuture<HttpResponse<String>> sent = send(asked + "," + FORMAT);
    ConversationEvent event = turn();
    reply(event);
    JsonNode made = GatewayFixture.json(sent.join().body());
    repeats(made);
    String path = "/v1/responses/" + made.get("id").textValue();
    CompletableFuture<HttpResponse<String>> read = gateway.send(gateway.get(path));
    ConversationEvent query = gateway.topics().next();
    Reply.TurnState state =
        new Reply.TurnState(
                event.turn(),
                "done",
                "main",
                "",
                1000,
                5000,
                event.metadata(),
                event.messages(),
                "",
                null,
                "tool_calls",
                null,
                Usage.NONE,
                null)
            .with(REPLY, List.of())
            .with(event.options());
    gateway
        .topics()
        .answer(
            query,
            Reply.builder(query.session(), "main", query.turn(), query.kind())
                .turnState(state)
                .build());
    repeats(GatewayFixture.json(read.join().body()));
  }

  @Test
  void aStreamOfCallsEndsWithTheResponseThatItMade() {
    CompletableFuture<HttpResponse<String>> sent = send(TOOLS + ",'stream':true");
    reply(turn());
    List<JsonNode> events = new ArrayList<>();
    for (String line : sent.join().body().split("\n")) {
      if (line.startsWith("data: {")) {
        events.add(GatewayFixture.json(line.substring("data: ".length())));
      }
    }
    StringBuilder arguments = new StringBuilder();
    for (JsonNode event : events) {
      if (event.get("type").asText().equals("response.function_call_arguments.delta")) {
        arguments.append(event.get("delta").asText());
      }
    }
    assertThat(arguments).hasToString(ULM.arguments() + ROME.arguments());
    JsonNode last = events.get(events.size() - 1);
    assertThat(last.get("type").asText()).isEqualTo("response.completed");
    assertThat(last.at("/response/output")).hasSize(3);
    assertThat(last.at("/response/output/2/name").asText()).isEqualTo("weather");
  }

  @Test
  void itemsOfARoundAreTheMessagesThatTheJobHas() {
    CompletableFuture<HttpResponse<String>> sent =
        gateway.send(
            gateway.post(
                "/v1/responses",
                ("{'input':[{'role':'user','content':'Warm?'},"
                        + "{'type':'reasoning','id':'rs_1','summary':[],'content':["
                        + "{'type':'reasoning_text','text':'Hm'}]},"
                        + "{'type':'function_call','call_id':'call_1','name':'weather',"
                        + "'arguments':'{}','id':'fc_1','status':'completed'},"
                        + "{'type':'function_call','call_id':'call_2','name':'weather',"
                        + "'arguments':'{}'},"
                        + "{'type':'function_call_output','call_id':'call_1','output':'7'},"
                        + "{'type':'function_call_output','call_id':'call_2','output':["
                        + "{'type':'input_text','text':'9'}]}]}")
                    .replace('\'', '"')));
    ConversationEvent event = turn();
    List<ToolCall> calls =
        List.of(new ToolCall("call_1", "weather", "{}"), new ToolCall("call_2", "weather", "{}"));
    assertThat(event.messages())
        .containsExactly(
            new Message("user", "Warm?"),
            new Message("assistant", null, null, calls, null, "Hm"),
            new Message("tool", "7", null, List.of(), "call_1", null),
            new Message("tool", "9", null, List.of(), "call_2", null));
    gateway.topics().piece(event, 0, "Yes");
    gateway.topics().end(event, 3, "stop", Usage.NONE);
    assertThat(sent.join().statusCode()).isEqualTo(200);
  }

  @Test
  void aStoredResponseIsReadAndStreamedAgainWithItsCalls() {
    String id = ResponseIds.response("chain_a", "t", "");
    CompletableFuture<HttpResponse<String>> read = gateway.send(gateway.get("/v1/responses/" + id));
    answerDone(gateway.topics().next());
    JsonNode response = GatewayFixture.json(read.join().body());
    assertThat(response.get("output")).hasSize(3);
    CompletableFuture<HttpResponse<String>> streamed =
        gateway.send(gateway.get("/v1/responses/" + id + "?stream=true&starting_after=9"));
    answerDone(gateway.topics().next());
    String[] lines = streamed.join().body().split("\n");
    JsonNode last = null;
    for (String line : lines) {
      last =
          line.startsWith("data: {")
              ? GatewayFixture.json(line.substring("data: ".length()))
              : last;
    }
    assertThat(last.get("response")).isEqualTo(response);
    CompletableFuture<HttpResponse<String>> input =
        gateway.send(gateway.get("/v1/responses/" + id + "/input_items?order=asc"));
    answerDone(gateway.topics().next());
    JsonNode items = GatewayFixture.json(input.join().body()).get("data");
    assertThat(items).hasSize(3);
    assertThat(items.at("/1/type").asText()).isEqualTo("function_call");
    assertThat(items.at("/2/output").asText()).isEqualTo("7");
  }

  private static final List<Message> INPUT =
      List.of(
          new Message("user", "Warm?"),
          new Message("assistant", null, null, List.of(ULM), null, null),
          new Message("tool", "7", null, List.of(), "call_1", null));

  private void answerDone(ConversationEvent query) {
    Reply.TurnState state =
        new Reply.TurnState(
            "t",
            "done",
            "main",
            "",
            1000,
            5000,
            null,
            INPUT,
            "",
            null,
            "tool_calls",
            null,
            Usage.NONE,
            null);
    gateway
        .topics()
        .answer(
            query,
            Reply.builder(query.session(), "main", query.turn(), query.kind())
                .turnState(state.with(REPLY, List.of()))
                .build());
  }

  @Test
  void aConversationListsCallsAndTheirResults() {
    String id = ResponseIds.newConversation(1_800_000_000_000L);
    CompletableFuture<HttpResponse<String>> list =
        gateway.send(gateway.get("/v1/conversations/" + id + "/items?order=asc"));
    ConversationEvent query = gateway.topics().next();
    List<Reply.Item> history =
        List.of(
            new Reply.Item("t", INPUT.get(0)),
            new Reply.Item("t", INPUT.get(1)),
            new Reply.Item("t", INPUT.get(2)),
            new Reply.Item("t", REPLY, "tool_calls", null, List.of()),
            new Reply.Item("u", "user", "And now?"),
            new Reply.Item(
                "u",
                new Message("assistant", "So cold", null, List.of(ULM, ROME), null, "Hm"),
                "tool_calls",
                null,
                List.of(
                    new PartLength(null, -1, 3),
                    new PartLength(Kind.TOOL_CALL, 0, ULM.name().length()),
                    new PartLength(Kind.ARGUMENTS, 0, ULM.arguments().length()),
                    new PartLength(Kind.REASONING_CONTENT, -1, 2),
                    new PartLength(null, -1, 4))));
    gateway
        .topics()
        .answer(
            query,
            Reply.builder(query.session(), "main", query.turn(), query.kind())
                .items(history)
                .status("open")
                .build());
    JsonNode items = GatewayFixture.json(list.join().body()).get("data");
    List<String> types = new ArrayList<>();
    List<String> ids = new ArrayList<>();
    items.forEach(item -> types.add(item.get("type").asText()));
    items.forEach(item -> ids.add(item.get("id").asText()));
    assertThat(types)
        .containsExactly(
            "message",
            "function_call",
            "function_call_output",
            "reasoning",
            "function_call",
            "function_call",
            "message",
            "message",
            "function_call",
            "reasoning",
            "message",
            "function_call");
    assertThat(items.findValuesAsText("text")).endsWith("So ", "Hm", "cold");
    assertThat(ids).doesNotHaveDuplicates();
    ids.forEach(
        item -> assertThat(ResponseIds.parseItem(item).orElseThrow().turn()).isIn("t", "u"));
  }

  private static final String CUSTOM =
      "'tools':[{'type':'custom','name':'patch','description':'Edits','format':%s},"
          + "{'type':'function','name':'weather','parameters':{}}],"
          + "'tool_choice':{'type':'custom','name':'patch'}";

  private static final String TEXT = "{'type':'text'}";
  private static final ToolCall PATCH = new ToolCall("call_1", "patch", "{\"input\": \"+a\\n\"}");

  private static JsonNode json(String text) {
    return GatewayFixture.json(text.replace('\'', '"'));
  }

  @Test
  void aCustomToolIsAFunctionOfOneTextWhoseCallsHaveTheTextAsInput() {
    CompletableFuture<HttpResponse<String>> sent = send(CUSTOM.formatted(TEXT));
    ConversationEvent event = turn();
    assertThat(json(event.options().tools()).at("/0/function"))
        .isEqualTo(
            json(
                "{'name':'patch','description':'Edits','parameters':{'type':'object',"
                    + "'properties':{'input':{'type':'string'}},'required':['input'],"
                    + "'additionalProperties':false}}"));
    assertThat(json(event.options().toolChoice()).at("/function/name").asText()).isEqualTo("patch");
    gateway.topics().call(event, 0, 0, PATCH);
    gateway.topics().end(event, 5 + PATCH.arguments().length(), "tool_calls", Usage.NONE);
    JsonNode response = GatewayFixture.json(sent.join().body());
    assertThat(response.at("/output/0/type").asText()).isEqualTo("custom_tool_call");
    assertThat(response.at("/output/0/input").asText()).isEqualTo("+a\n");
    assertThat(response.at("/output/0").has("arguments")).isFalse();
    assertThat(response.at("/tools/0"))
        .isEqualTo(
            json("{'type':'custom','name':'patch','description':'Edits','format':" + TEXT + "}"));
    assertThat(response.at("/tools/1/type").asText()).isEqualTo("function");
    assertThat(response.at("/tool_choice")).isEqualTo(json("{'type':'custom','name':'patch'}"));
  }

  @Test
  void aStreamHasTheInputOfACustomCallInOnePieceHoweverItCame() {
    CompletableFuture<HttpResponse<String>> sent = send(CUSTOM.formatted(TEXT) + ",'stream':true");
    ConversationEvent event = turn();
    gateway.topics().part(event, 0, Kind.TOOL_CALL, 0, "call_1", "patch");
    gateway.topics().part(event, 5, Kind.ARGUMENTS, 0, "call_1", "{\"input\": \"+a");
    gateway.topics().part(event, 18, Kind.ARGUMENTS, 0, "call_1", "\\n\"}");
    gateway.topics().end(event, 22, "tool_calls", Usage.NONE);
    String body = sent.join().body();
    assertThat(body)
        .contains("\"type\":\"response.custom_tool_call_input.delta\"", "\"delta\":\"+a\\n\"")
        .contains("\"type\":\"response.custom_tool_call_input.done\"", "\"input\":\"+a\\n\"")
        .doesNotContain("arguments");
    assertThat(body.split("input.delta\",\"item_id\"", -1)).hasSize(2);
  }

  @Test
  void theFormatOfACustomToolIsEnforcedOrNamedAsIgnored() {
    String regex = "{'type':'grammar','syntax':'regex','definition':'a+'}";
    CompletableFuture<HttpResponse<String>> first = send(CUSTOM.formatted(regex));
    ConversationEvent event = turn();
    assertThat(event.options().tools()).contains("\"pattern\":\"^(?:a+)$\"", "\"strict\":true");
    gateway.topics().end(event, 0, "stop", Usage.NONE);
    JsonNode shown = GatewayFixture.json(first.join().body()).at("/tools/0/format");
    assertThat(shown).isEqualTo(json(regex));

    String lark = "{'type':'grammar','syntax':'lark','definition':'start: WORD'}";
    CompletableFuture<HttpResponse<String>> second = send(CUSTOM.formatted(lark));
    ConversationEvent loose = turn();
    assertThat(loose.options().tools()).contains("start: WORD").doesNotContain("strict");
    gateway.topics().end(loose, 0, "stop", Usage.NONE);
    assertThat(second.join().headers().firstValue("X-Radixflow-Ignored"))
        .contains("tools[0].format");
    assertThat(GatewayFixture.json(second.join().body()).at("/tools/0/format"))
        .isEqualTo(json(lark));

    HttpResponse<String> other = send(CUSTOM.formatted("{'type':'xml'}")).join();
    assertThat(other.statusCode()).isEqualTo(400);
    assertThat(other.body()).contains("tools[0].format.type is", "\"param\":\"tools\"");
  }

  @Test
  void callsOfCustomToolsAndTheirResultsGoOnAsWhatTheJobHasOfThem() {
    gateway.send(
        gateway.post(
            "/v1/responses",
            ("{'input':[{'role':'user','content':'Edit'},{'type':'custom_tool_call','call_id':'call_1','name':'patch','input':'+a\\n"
                    + "'},{'type':'custom_tool_call_output','call_id':'call_1','output':'Done'}],"
                    + CUSTOM.formatted(TEXT)
                    + "}")
                .replace('\'', '"')));
    assertThat(turn().messages().subList(1, 3))
        .containsExactly(
            new Message(
                "assistant",
                null,
                null,
                List.of(new ToolCall("call_1", "patch", "{\"input\":\"+a\\n\"}")),
                null,
                null),
            new Message("tool", "Done", null, List.of(), "call_1", null));
  }

  @Test
  void aConversationListsCallsOfCustomToolsAsSuch() {
    String id = ResponseIds.newConversation(1_800_000_000_000L);
    CompletableFuture<HttpResponse<String>> list =
        gateway.send(gateway.get("/v1/conversations/" + id + "/items?order=asc"));
    ConversationEvent query = gateway.topics().next();
    Message reply = new Message("assistant", null, null, List.of(PATCH, ROME), null, null);
    List<Reply.Item> history =
        List.of(
            new Reply.Item(
                "t",
                reply,
                "tool_calls",
                Map.of("radixflow.response", "{\"o\":[\"patch\"]}"),
                null),
            new Reply.Item("u", new Message("tool", "Done", null, List.of(), "call_1", null)),
            new Reply.Item("u", new Message("tool", "9", null, List.of(), "call_2", null)));
    gateway
        .topics()
        .answer(
            query,
            Reply.builder(query.session(), "main", query.turn(), query.kind())
                .items(history)
                .status("open")
                .build());
    assertThat(GatewayFixture.json(list.join().body()).findValuesAsText("type"))
        .containsExactly(
            "custom_tool_call", "function_call", "custom_tool_call_output", "function_call_output");
  }
}
