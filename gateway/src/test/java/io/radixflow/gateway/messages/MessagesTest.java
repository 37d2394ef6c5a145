package io.radixflow.gateway.messages;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.GatewayFixture;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.Message;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MessagesTest {

  private static final String HELLO = "'max_tokens':9,'messages':[{'role':'user','content':'Hi'}]";

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private CompletableFuture<HttpResponse<String>> send(String fields) {
    return gateway.send(
        gateway.post("/v1/messages?beta=true", "{" + fields.replace('\'', '"') + "}"));
  }

  @Test
  void aMessageHasTheTextAndTheCountsOfTheCache() {
    CompletableFuture<HttpResponse<String>> sent =
        send(
            HELLO
                + ",'system':[{'type':'text','text':'x-anthropic-billing-header: cch=1'},"
                + "{'type':'text','text':'Be brief.','cache_control':{'type':'ephemeral'}}],"
                + "'stop_sequences':['END'],'temperature':0.5,'metadata':{'user_id':'u'}");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.messages())
        .containsExactly(new Message("system", "Be brief."), new Message("user", "Hi"));
    assertThat(event.options().maxTokens()).isEqualTo(9);
    assertThat(event.options().stop()).containsExactly("END");
    assertThat(event.cache().pinMillis()).isEqualTo(300_000);
    gateway.topics().piece(event, 0, "Hello");
    gateway.topics().end(event, 5, "length", new Usage(30, 16, 3));

    HttpResponse<String> response = sent.join();
    assertThat(response.statusCode()).isEqualTo(200);
    assertThat(response.headers().firstValue("request-id")).isPresent();
    JsonNode json = GatewayFixture.json(response.body());
    assertThat(json.at("/type").asText()).isEqualTo("message");
    assertThat(json.at("/content/0/text").asText()).isEqualTo("Hello");
    assertThat(json.at("/stop_reason").asText()).isEqualTo("max_tokens");
    assertThat(json.at("/usage/cache_read_input_tokens").asInt()).isEqualTo(16);
    assertThat(json.at("/usage/cache_creation_input_tokens").asInt()).isEqualTo(14);
    assertThat(json.at("/usage/output_tokens").asInt()).isEqualTo(3);
  }

  @Test
  void aStreamHasTheEventsOfAnthropicInTheirOrder() {
    CompletableFuture<HttpResponse<String>> sent = send(HELLO + ",'stream':true");
    ConversationEvent event = gateway.topics().next();
    gateway.topics().begin(event, "Hel", new Usage(30, 16, 1));
    gateway.topics().piece(event, 3, "lo");
    gateway.topics().end(event, 5, "stop", new Usage(30, 16, 3));
    List<String> types = new ArrayList<>();
    StringBuilder text = new StringBuilder();
    JsonNode start = null;
    JsonNode last = null;
    for (String block : sent.join().body().split("\n\n")) {
      String[] lines = block.split("\n");
      if (lines.length < 2) {
        continue; // a comment
      }
      JsonNode data = GatewayFixture.json(lines[1].substring("data: ".length()));
      assertThat(lines[0]).isEqualTo("event: " + data.get("type").asText());
      String type = data.get("type").asText();
      if (!types.contains(type)) {
        types.add(type);
      }
      text.append(data.at("/delta/text").asText(""));
      start = type.equals("message_start") ? data.get("message") : start;
      last = type.equals("message_delta") ? data : last;
    }
    assertThat(types)
        .containsExactly(
            "message_start",
            "content_block_start",
            "ping",
            "content_block_delta",
            "content_block_stop",
            "message_delta",
            "message_stop");
    assertThat(text).hasToString("Hello");
    assertThat(last.at("/delta/stop_reason").asText()).isEqualTo("end_turn");
    assertThat(last.at("/usage/input_tokens").asInt()).isEqualTo(14);
    for (String count :
        List.of("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")) {
      assertThat(start.at("/usage/" + count)).as(count).isEqualTo(last.at("/usage/" + count));
    }
  }

  /** Minus one stands for no limit in OpenAI's APIs alone. */
  @Test
  void aLimitBelowOneIsRefused() {
    for (int limit : List.of(0, -1)) {
      assertThat(send(HELLO.replace("'max_tokens':9", "'max_tokens':" + limit)).join().statusCode())
          .isEqualTo(400);
    }
  }

  @Test
  void aStreamWithoutAnyTextHasTheCountsFromItsStart() {
    CompletableFuture<HttpResponse<String>> sent = send(HELLO + ",'stream':true");
    gateway.topics().end(gateway.topics().next(), 0, "stop", new Usage(30, 16, 1));
    assertThat(sent.join().body().split("\n\n")[0])
        .contains("message_start", "\"input_tokens\":14", "\"cache_read_input_tokens\":16");
  }

  @Test
  void aPromptThatIsTooLongIsSaidInTheWordsByWhichAgentsKnowIt() {
    CompletableFuture<HttpResponse<String>> sent = send(HELLO);
    ReplyError error = new ReplyError(ErrorCode.CONTEXT_LENGTH_EXCEEDED, "too long", 9031, 8192);
    gateway.topics().reject(gateway.topics().next(), error);
    assertThat(sent.join().statusCode()).isEqualTo(400);
    assertThat(GatewayFixture.json(sent.join().body()).at("/error/message").asText())
        .isEqualTo("prompt is too long: 9031 tokens > 8191 maximum");
  }

  @Test
  void aStopSequenceThatEndedTheMessageIsNamed() {
    CompletableFuture<HttpResponse<String>> whole = send(HELLO + ",'stop_sequences':['END']");
    gateway.topics().stop(gateway.topics().next(), 0, "END", Usage.NONE);
    JsonNode json = GatewayFixture.json(whole.join().body());
    assertThat(json.at("/stop_reason").asText()).isEqualTo("stop_sequence");
    assertThat(json.at("/stop_sequence").asText()).isEqualTo("END");
    CompletableFuture<HttpResponse<String>> streamed =
        send(HELLO + ",'stop_sequences':['END'],'stream':true");
    gateway.topics().stop(gateway.topics().next(), 0, "END", Usage.NONE);
    assertThat(streamed.join().body())
        .contains("{\"stop_reason\":\"stop_sequence\",\"stop_sequence\":\"END\"}");
  }

  @Test
  void aMessageOfTheSystemStaysWhereItIs() {
    CompletableFuture<HttpResponse<String>> sent =
        send(
            "'max_tokens':9,'system':'Be brief.','messages':[{'role':'user','content':'Hi'},"
                + "{'role':'system','content':[{'type':'text','text':'It is Monday.'}]}]");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.messages())
        .containsExactly(
            new Message("system", "Be brief."),
            new Message("user", "Hi"),
            new Message("system", "It is Monday."));
    gateway.topics().end(event, 0, "stop", Usage.NONE);
    assertThat(sent.join().statusCode()).isEqualTo(200);
  }

  @Test
  void messagesOfOneRoleAreJoined() {
    CompletableFuture<HttpResponse<String>> sent =
        send(
            "'max_tokens':9,'thinking':{'type':'enabled','budget_tokens':1024},'messages':["
                + "{'role':'user','content':'a'},"
                + "{'role':'user','content':[{'type':'text','text':'b'},"
                + "{'type':'text','text':'c','cache_control':{'type':'ephemeral','ttl':'1h'}}]},"
                + "{'role':'assistant','content':[{'type':'thinking','thinking':'hm'},"
                + "{'type':'text','text':'d'}]},{'role':'user','content':'e'}]");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.messages())
        .containsExactly(
            new Message("user", "a\n\nb\n\nc"),
            new Message("assistant", "d", null, List.of(), null, "hm"),
            new Message("user", "e"));
    assertThat(event.options().chatTemplateKwargs()).isEqualTo("{\"enable_thinking\":true}");
    assertThat(event.cache().pinMillis()).isEqualTo(3_600_000);
    assertThat(event.options().thinkingTokenBudget()).isEqualTo(1024);
    gateway.topics().end(event, 0, "stop", Usage.NONE);
    assertThat(sent.join().headers().firstValue("X-Radixflow-Ignored")).isEmpty();
  }

  @Test
  void thinkingThatIsOffHasNoBudget() {
    String hello = "'max_tokens':9,'messages':[{'role':'user','content':'Hi'}],'thinking':";
    send(hello + "{'type':'disabled'}");
    ConversationEvent off = gateway.topics().next();
    assertThat(off.options().chatTemplateKwargs()).isEqualTo("{\"enable_thinking\":false}");
    assertThat(off.options().thinkingTokenBudget()).isZero();
    send(hello + "{'type':'adaptive'}");
    ConversationEvent free = gateway.topics().next();
    assertThat(free.options().chatTemplateKwargs()).isNull();
    assertThat(free.options().thinkingTokenBudget()).isNull();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "'messages':[{'role':'user','content':'Hi'}] | max_tokens",
        "'max_tokens':9,'messages':[] | messages",
        "'max_tokens':9 | messages",
        "'max_tokens':9,'messages':[{'role':'a king','content':'Hi'}] | role",
        "'max_tokens':9,'messages':[{'role':'user','content':''}] | content",
        "'max_tokens':9,'messages':[{'role':'user','content':'Hi'}],'tools':[{'name':'f'}] |"
            + " tools[0].input_schema",
        "'max_tokens':9,'messages':[{'role':'user','content':'Hi'}],'tools':[{'type':'bash_20250124','name':'bash'}]"
            + " | bash_20250124",
        "'max_tokens':9,'messages':[{'role':'user','content':'Hi'}],'thinking':{'type':'deep'} |"
            + " thinking.type",
        "'max_tokens':9,'messages':[{'role':'user','content':'Hi'}],'thinking':{'type':'enabled','budget_tokens':-1}"
            + " | thinking.budget_tokens",
        "'max_tokens':9,'messages':[{'role':'user','content':'Hi'}],'tool_choice':{'type':'all'} |"
            + " tool_choice.type is",
        "'max_tokens':9,'messages':[{'role':'user','content':'Hi'}],'tool_choice':{'type':'tool'} |"
            + " tool_choice.name",
        "'max_tokens':9,'messages':[{'role':'user','content':'Hi'}],'output_config':{'format':{'type':'json_schema'}}"
            + " | output_config.format",
        "'max_tokens':9,'messages':[{'role':'user','content':[{'type':'tool_result','content':'x'}]}]"
            + " | tool_use_id",
        "'max_tokens':9,'messages':[{'role':'assistant','content':[{'type':'tool_use','id':'c','input':{}}]},{'role':'user','content':'a'}]"
            + " | name",
      })
  void whatIsWrongIsNamedInAnthropicsForm(String fields, String named) {
    HttpResponse<String> response = send(fields).join();
    assertThat(response.statusCode()).isEqualTo(400);
    JsonNode json = GatewayFixture.json(response.body());
    assertThat(json.at("/type").asText()).isEqualTo("error");
    assertThat(json.at("/error/type").asText()).isEqualTo("invalid_request_error");
    assertThat(json.at("/error/message").asText()).contains(named);
    assertThat(gateway.topics().hasEvents()).isFalse();
  }

  @Test
  void anotherModelIsNotFound() throws IOException {
    gateway.restart("gateway.model-aliases=");
    HttpResponse<String> response = send(HELLO + ",'model':'other'").join();
    assertThat(response.statusCode()).isEqualTo(404);
    assertThat(GatewayFixture.json(response.body()).at("/error/type").asText())
        .isEqualTo("not_found_error");
  }

  @Test
  void theTokensOfAPromptAreCounted() {
    HttpResponse<String> response =
        gateway
            .send(
                gateway.post(
                    "/v1/messages/count_tokens",
                    "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}"))
            .join();
    assertThat(GatewayFixture.json(response.body()).at("/input_tokens").asInt()).isPositive();
    assertThat(gateway.topics().hasEvents()).isFalse();
  }
}
