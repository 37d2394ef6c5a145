package io.radixflow.gateway.messages;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.GatewayFixture;
import io.radixflow.gateway.http.Json;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ReplyDelta.Kind;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.ToolCall;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessageToolsTest {

  private static final String TOOLS =
      "'max_tokens':99,'tools':[{'name':'weather','description':'The weather','input_schema':"
          + "{'type':'object','properties':{'city':{'type':'string'}}},"
          + "'cache_control':{'type':'ephemeral'}}],'tool_choice':{'type':'auto'}";
  private static final String HELLO = TOOLS + ",'messages':[{'role':'user','content':'Warm?'}]";
  private static final ToolCall ULM = new ToolCall("call_1", "weather", "{\"city\": \"Ulm\"}");
  private static final ToolCall KOELN = new ToolCall("call_2", "weather", "{\"city\": \"Köln\"}");

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private CompletableFuture<HttpResponse<String>> send(String fields) {
    return gateway.send(gateway.post("/v1/messages", "{" + fields.replace('\'', '"') + "}"));
  }

  private void reply(ConversationEvent event) {
    gateway.topics().part(event, 0, Kind.REASONING_CONTENT, -1, null, "H");
    gateway.topics().part(event, 1, Kind.REASONING_CONTENT, -1, null, "m");
    gateway.topics().piece(event, 2, "Let me see");
    gateway.topics().call(event, 12, 0, ULM);
    gateway.topics().call(event, 34, 1, KOELN);
    gateway.topics().end(event, 57, "tool_calls", new Usage(30, 16, 9));
  }

  @Test
  void aMessageHasThoughtsTextAndCallsAsBlocks() {
    CompletableFuture<HttpResponse<String>> sent = send(HELLO);
    ConversationEvent event = gateway.topics().next();
    assertThat(event.options().tools())
        .isEqualTo(
            "[{\"type\":\"function\",\"function\":{\"name\":\"weather\",\"description\":"
                + "\"The weather\",\"parameters\":{\"type\":\"object\",\"properties\":"
                + "{\"city\":{\"type\":\"string\"}}}}}]");
    assertThat(event.options().toolChoice()).isEqualTo("auto");
    assertThat(event.options().separateReasoning()).isNull();
    assertThat(event.cache().pinMillis()).isEqualTo(300_000);
    reply(event);
    JsonNode json = GatewayFixture.json(sent.join().body());
    assertThat(json.at("/stop_reason").asText()).isEqualTo("tool_use");
    assertThat(json.get("content"))
        .isEqualTo(
            GatewayFixture.json(
                """
                [{"type":"thinking","thinking":"Hm","signature":"%s"},
                 {"type":"text","text":"Let me see"},
                 {"type":"tool_use","id":"call_1","name":"weather","input":{"city":"Ulm"}},
                 {"type":"tool_use","id":"call_2","name":"weather","input":{"city":"Köln"}}]
                """
                    .formatted(json.get("id").asText())));
  }

  @Test
  void aLastMessageOfTheAssistantIsContinued() {
    send(
        "'max_tokens':9,'messages':[{'role':'user','content':'Hi'},"
            + "{'role':'assistant','content':'Hello, my'}]");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.options().continueFinalMessage()).isTrue();
    assertThat(event.messages()).last().isEqualTo(new Message("assistant", "Hello, my"));
    send(
        "'max_tokens':9,'messages':[{'role':'user','content':'Hi'},"
            + "{'role':'assistant','content':''}]");
    ConversationEvent nothing = gateway.topics().next();
    assertThat(nothing.options().continueFinalMessage()).isNull();
    assertThat(nothing.messages()).containsExactly(new Message("user", "Hi"));
  }

  @Test
  void whatHoldsCallsIsPassedOn() {
    String strict = HELLO.replace("'name':'weather'", "'name':'weather','strict':true");
    send(strict.replace("'auto'", "'any','disable_parallel_tool_use':true"));
    ConversationEvent any = gateway.topics().next();
    assertThat(any.options().tools()).contains("\"strict\":true");
    assertThat(any.options().toolChoice()).isEqualTo("required");
    assertThat(any.options().parallelToolCalls()).isFalse();
    send(HELLO.replace("'auto'", "'tool','name':'weather'"));
    assertThat(gateway.topics().next().options().toolChoice())
        .isEqualTo("{\"type\":\"function\",\"function\":{\"name\":\"weather\"}}");
  }

  @Test
  void aMessageOfCallsAloneHasNoText() {
    CompletableFuture<HttpResponse<String>> sent = send(HELLO);
    ConversationEvent event = gateway.topics().next();
    ToolCall cut = new ToolCall("call_1", "weather", "{\"city\": \"U");
    gateway.topics().call(event, 0, 0, cut);
    gateway.topics().end(event, 18, "length", Usage.NONE);
    JsonNode json = GatewayFixture.json(sent.join().body());
    assertThat(json.at("/stop_reason").asText()).isEqualTo("max_tokens");
    assertThat(json.get("content"))
        .isEqualTo(
            GatewayFixture.json(
                "[{\"type\":\"tool_use\",\"id\":\"call_1\",\"name\":\"weather\",\"input\":{}}]"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"b\": 1.0, \"c\": 1e400, \"d\": -0, \"e\": 0.1000, \"f\": [12345678901234567890, 1E5]}",
        "{\"lone\": \"\\ud83d x\", \"\\udc00\": \"\\ud83d\\ude00\"}"
      })
  void inputIsAsTheModelWroteIt(String arguments) {
    CompletableFuture<HttpResponse<String>> sent = send(HELLO);
    ConversationEvent event = gateway.topics().next();
    gateway.topics().call(event, 0, 0, new ToolCall("call_1", "weather", arguments));
    gateway.topics().end(event, 9, "tool_calls", Usage.NONE);
    assertThat(sent.join().body()).contains("\"input\":" + arguments);
  }

  @Test
  void numbersOfARequestReachTheModelAsTheyWereWritten() {
    String numbers = "{'b':1.0,'c':1e400,'d':-0,'e':0.1000}";
    send(
        TOOLS.replace("'properties':{", "'enum':[" + numbers + "],'properties':{")
            + ",'messages':[{'role':'user','content':'Warm?'},{'role':'assistant','content':"
            + "[{'type':'tool_use','id':'c','name':'weather','input':"
            + numbers
            + "}]},{'role':'user','content':[{'type':'tool_result','tool_use_id':'c'}]}]");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.options().tools()).contains(numbers.replace('\'', '"'));
    assertThat(event.messages().get(1).toolCalls().get(0).arguments())
        .isEqualTo(numbers.replace('\'', '"'));
  }

  @Test
  void argumentsThatAreNoJsonComeAsATextAndBackAsTheyWere() {
    CompletableFuture<HttpResponse<String>> sent = send(HELLO);
    ConversationEvent event = gateway.topics().next();
    ToolCall broken = new ToolCall("call_1", "weather", "{\\\"city\\\": Ulm}");
    gateway.topics().call(event, 0, 0, broken);
    gateway.topics().end(event, 7 + broken.arguments().length(), "tool_calls", Usage.NONE);
    JsonNode content = GatewayFixture.json(sent.join().body()).get("content");
    assertThat(content.get(0).get("input"))
        .isEqualTo(Json.object().put("INVALID_JSON", broken.arguments()));
    send(
        TOOLS
            + ",'messages':[{'role':'user','content':'Warm?'},{'role':'assistant','content':"
            + content
            + "},{'role':'user','content':[{'type':'tool_result','tool_use_id':'call_1',"
            + "'is_error':true,'content':'not JSON'}]}]");
    ConversationEvent second = gateway.topics().next();
    assertThat(second.messages().get(1).toolCalls()).containsExactly(broken);
    reply(second);
  }

  @ParameterizedTest
  @ValueSource(ints = {100, 250, 900})
  void argumentsComeBackHoweverDeepTheyAre(int depth) {
    CompletableFuture<HttpResponse<String>> sent = send(HELLO);
    ConversationEvent event = gateway.topics().next();
    ToolCall deep =
        new ToolCall("call_1", "weather", "{\"a\":" + "[".repeat(depth) + "]".repeat(depth) + "}");
    gateway.topics().call(event, 0, 0, deep);
    gateway.topics().end(event, 7 + deep.arguments().length(), "tool_calls", Usage.NONE);
    assertComeBack(deep, sent.join().body());
  }

  @Test
  void argumentsWithALongNumberOrAWordOfPythonComeBack() {
    CompletableFuture<HttpResponse<String>> sent = send(HELLO);
    ConversationEvent event = gateway.topics().next();
    ToolCall number = new ToolCall("call_1", "weather", "{\"a\":" + "9".repeat(500) + "}");
    gateway.topics().call(event, 0, 0, number);
    gateway.topics().end(event, 7 + number.arguments().length(), "tool_calls", Usage.NONE);
    assertComeBack(number, sent.join().body());
    send(
        TOOLS
            + ",'messages':[{'role':'user','content':'Warm?'},{'role':'assistant','content':["
            + "{'type':'tool_use','id':'call_1','name':'weather','input':{'a':Infinity}}]}]");
    assertThat(gateway.topics().next().messages().get(1).toolCalls()).hasSize(1);
  }

  /** Sends the content of a response again, as a client that keeps the conversation does. */
  private void assertComeBack(ToolCall call, String body) {
    String content = body.substring(body.indexOf("[{\"type\""), body.lastIndexOf("}]") + 2);
    HttpRequest again =
        gateway.post(
            "/v1/messages",
            "{\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":\"Warm?\"},"
                + "{\"role\":\"assistant\",\"content\":"
                + content
                + "},{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
                + "\"tool_use_id\":\"call_1\",\"content\":\"ok\"}]}]}");
    gateway.send(again);
    assertThat(gateway.topics().next().messages().get(1).toolCalls()).containsExactly(call);
  }

  @Test
  void aStreamHasABlockForEachPartOneAfterTheOther() {
    CompletableFuture<HttpResponse<String>> sent = send(HELLO + ",'stream':true");
    reply(gateway.topics().next());
    List<String> blocks = new ArrayList<>();
    List<Boolean> open = new ArrayList<>();
    String stop = null;
    for (String line : sent.join().body().split("\n")) {
      if (!line.startsWith("data: ")) {
        continue;
      }
      JsonNode data = GatewayFixture.json(line.substring("data: ".length()));
      int index = data.path("index").asInt(-1);
      switch (data.get("type").asText()) {
        case "content_block_start" -> {
          assertThat(open).doesNotContain(true).hasSize(index);
          open.add(true);
          JsonNode block = data.get("content_block");
          blocks.add(block.get("type").asText() + " " + block.path("name").asText(""));
          assertThat(block.path("input").isMissingNode() || block.get("input").isEmpty()).isTrue();
        }
        case "content_block_delta" -> {
          assertThat(open.get(index)).isTrue();
          JsonNode delta = data.get("delta");
          String type = delta.get("type").asText();
          String field =
              switch (type) {
                case "text_delta" -> "text";
                case "thinking_delta" -> "thinking";
                case "input_json_delta" -> "partial_json";
                default -> "signature";
              };
          assertThat(delta.get(field).asText()).isNotEmpty();
          if (!field.equals("signature")) {
            blocks.set(index, blocks.get(index) + delta.get(field).asText());
          }
        }
        case "content_block_stop" -> open.set(index, false);
        case "message_delta" -> stop = data.at("/delta/stop_reason").asText();
        default -> {}
      }
    }
    assertThat(open).doesNotContain(true);
    assertThat(blocks)
        .containsExactly(
            "thinking Hm",
            "text Let me see",
            "tool_use weather{\"city\": \"Ulm\"}",
            "tool_use weather{\"city\": \"Köln\"}");
    assertThat(stop).isEqualTo("tool_use");
  }

  @Test
  void callsAndTheirResultsComeBackInTheSameSession() {
    send(HELLO);
    ConversationEvent first = gateway.topics().next();
    reply(first);
    send(
        TOOLS
            + ",'messages':[{'role':'user','content':'Warm?'},"
            + "{'role':'assistant','content':[{'type':'thinking','thinking':'Hm','signature':'s'},"
            + "{'type':'text','text':'Let '},"
            + "{'type':'tool_use','id':'call_1','name':'weather','input':{'city':'Ulm'}},"
            + "{'type':'text','text':'me see'},"
            + "{'type':'tool_use','id':'call_2','name':'weather','input':{}}]},"
            + "{'role':'user','content':["
            + "{'type':'tool_result','tool_use_id':'call_1','content':'7 degrees'},"
            + "{'type':'tool_result','tool_use_id':'call_2','is_error':true,'content':["
            + "{'type':'text','text':'no such city'}]},"
            + "{'type':'text','text':'Well?'}]}]");
    ConversationEvent second = gateway.topics().next();
    assertThat(second.session()).isEqualTo(first.session());
    ToolCall ulm = new ToolCall("call_1", "weather", "{\"city\":\"Ulm\"}");
    ToolCall none = new ToolCall("call_2", "weather", "{}");
    assertThat(second.messages())
        .containsExactly(
            new Message("user", "Warm?"),
            new Message("assistant", "Let me see", null, List.of(ulm, none), null, "Hm"),
            new Message("tool", "7 degrees", null, List.of(), "call_1", null),
            new Message("tool", "Error: no such city", null, List.of(), "call_2", null),
            new Message("user", "Well?"));
    reply(second);
  }

  /** The fields that Claude Code sends in addition to its conversation. */
  @Test
  void whatACodingAssistantSendsIsServedAndWhatHasNoEffectIsNamed() {
    String fields =
        "'max_tokens':99,'system':[{'type':'text','text':'x-anthropic-billing-header: v=1'},"
            + "{'type':'text','text':'An agent.','cache_control':{'type':'ephemeral'}}],"
            + "'messages':[{'role':'user','content':[{'type':'text','text':'<system-reminder>a"
            + "</system-reminder>'},{'type':'text','text':'Go'}]},"
            + "{'role':'system','content':[{'type':'text','text':'Environment',"
            + "'cache_control':{'type':'ephemeral'}}]}],"
            + "'tools':[{'name':'Bash','description':'Runs','input_schema':{'type':'object'}},"
            + "{'name':'Placeholder','description':'d','input_schema':{'type':'object'},"
            + "'defer_loading':true}],'metadata':{'user_id':'{}'},"
            + "'thinking':{'type':'adaptive','display':'omitted'},"
            + "'context_management':{'edits':[{'type':'clear_thinking_20251015','keep':'all'}]},"
            + "'output_config':{'effort':'high'}";
    CompletableFuture<HttpResponse<String>> sent = send(fields);
    ConversationEvent event = gateway.topics().next();
    assertThat(event.messages())
        .containsExactly(
            new Message("system", "An agent."),
            new Message("user", "<system-reminder>a</system-reminder>\n\nGo"),
            new Message("system", "Environment"));
    assertThat(event.options().tools()).contains("Bash");
    gateway.topics().call(event, 0, 0, ULM);
    gateway.topics().end(event, 22, "tool_calls", Usage.NONE);
    HttpResponse<String> response = sent.join();
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("X-Radixflow-Ignored").orElse(""))
        .contains("tools[1].defer_loading", "thinking.display");
  }

  @Test
  void textAfterACallIsABlockAfterIt() {
    CompletableFuture<HttpResponse<String>> sent = send(HELLO);
    ConversationEvent event = gateway.topics().next();
    gateway.topics().piece(event, 0, "Wait");
    gateway.topics().call(event, 4, 0, ULM);
    gateway.topics().piece(event, 26, "Done");
    gateway.topics().end(event, 30, "tool_calls", Usage.NONE);
    List<String> types = new ArrayList<>();
    GatewayFixture.json(sent.join().body())
        .get("content")
        .forEach(block -> types.add(block.get("type").asText() + block.path("text").asText()));
    assertThat(types).containsExactly("textWait", "tool_use", "textDone");
  }

  private static final String FORMAT = "{'type':'json_schema','schema':{'type':'object'}}";

  @ParameterizedTest
  @ValueSource(strings = {"'output_config':{'format':%s}", "'output_format':%s"})
  void theFormOfTheReplyIsPassedOnByEitherOfItsNames(String field) {
    send(HELLO + "," + field.formatted(FORMAT));
    assertThat(gateway.topics().next().options().responseFormat())
        .isEqualTo("{\"type\":\"json_schema\",\"json_schema\":{\"schema\":{\"type\":\"object\"}}}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "'output_format':%1$s,'output_config':{'format':%1$s}; output_format and"
            + " output_config.format",
        "'output_format':{'type':'xml'}; output_format.type is \"xml\"",
        "'output_config':{'format':{'type':'json_schema'}}; output_config.format.schema is missing"
      },
      quoteCharacter = '`')
  void aFormThatIsWrongIsRefusedByItsName(String field, String error) {
    HttpResponse<String> response = send(HELLO + "," + field.formatted(FORMAT)).join();
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(GatewayFixture.json(response.body()).at("/error/message").asText())
        .startsWith(error);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "/v1/messages/count_tokens;"
            + " 'max_tokens':1,'messages':[{'role':'user','content':'Hi'}],'tool_choice':{'type':'any'}",
        "/v1/responses/input_tokens; 'input':'Hi','tool_choice':'required'"
      },
      quoteCharacter = '`')
  void tokensOfAPromptThatAsksForACallWithoutToolsAreNotCounted(String path, String fields) {
    HttpResponse<String> response =
        gateway.send(gateway.post(path, "{" + fields.replace('\'', '"') + "}")).join();
    assertThat(response.statusCode()).as(response.body()).isEqualTo(400);
    assertThat(GatewayFixture.json(response.body()).at("/error/message").asText())
        .isEqualTo("tool_choice asks for a call, and there are no tools");
  }

  @Test
  void toolsCountAsTokensOfThePrompt() {
    List<Integer> counts = new ArrayList<>();
    for (String fields : List.of(HELLO, HELLO.replaceFirst("'tools':\\[.*?}],", ""))) {
      HttpResponse<String> response =
          gateway
              .send(
                  gateway.post("/v1/messages/count_tokens", "{" + fields.replace('\'', '"') + "}"))
              .join();
      counts.add(GatewayFixture.json(response.body()).get("input_tokens").asInt());
    }
    assertThat(counts.get(0)).isGreaterThan(counts.get(1) + 50);
  }
}
