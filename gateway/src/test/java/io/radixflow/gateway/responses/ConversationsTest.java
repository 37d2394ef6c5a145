package io.radixflow.gateway.responses;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.GatewayFixture;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.Reply.Item;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.Message;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConversationsTest {

  private static final String ID = "conv_" + "0123456789abcdef".repeat(2);
  private static final String PATH = "/v1/conversations/" + ID;

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private CompletableFuture<HttpResponse<String>> post(String path, String body) {
    return gateway.send(gateway.post(path, body.replace('\'', '"')));
  }

  private CompletableFuture<HttpResponse<String>> get(String path) {
    return gateway.send(gateway.get(path));
  }

  private static JsonNode json(CompletableFuture<HttpResponse<String>> response) {
    return GatewayFixture.json(response.join().body());
  }

  /** Serves the next event, which generates nothing. */
  private ConversationEvent serve(EventKind kind) {
    ConversationEvent event = gateway.topics().next();
    assertThat(event.kind()).isEqualTo(kind);
    gateway.topics().end(event, 0, "stop", Usage.NONE);
    return event;
  }

  private void answer(String status, Item... items) {
    ConversationEvent query = gateway.topics().next();
    assertThat(query.kind()).isEqualTo(EventKind.QUERY);
    gateway
        .topics()
        .answer(
            query,
            Reply.builder(query.session(), "main", query.turn(), EventKind.QUERY)
                .status(status)
                .items(List.of(items))
                .build());
  }

  @Test
  void aConversationIsASessionAndEachItemATurn() {
    CompletableFuture<HttpResponse<String>> created =
        post(
            "/v1/conversations",
            "{'metadata':{'k':'v'},'items':[{'role':'user','content':'a'},"
                + "{'role':'assistant','content':'b'}]}");
    ConversationEvent open = serve(EventKind.OPEN);
    ConversationEvent metadata = serve(EventKind.APPEND);
    ConversationEvent first = serve(EventKind.APPEND);
    ConversationEvent second = serve(EventKind.APPEND);
    String id = json(created).at("/id").asText();
    assertThat(ResponseIds.isConversation(id)).isTrue();
    assertThat(List.of(open.session(), first.session(), second.session())).containsOnly(id);
    assertThat(metadata.session()).isNotEqualTo(id);
    assertThat(second.messages()).containsExactly(new Message("assistant", "b"));
    assertThat(json(created).at("/metadata/k").asText()).isEqualTo("v");
  }

  @Test
  void metadataIsTheLatestThatWasKept() {
    CompletableFuture<HttpResponse<String>> read = get(PATH);
    answer("warm");
    answer(
        "warm", new Item("1", "user", "{\"k\":\"old\"}"), new Item("2", "user", "{\"k\":\"new\"}"));
    assertThat(json(read).at("/metadata/k").asText()).isEqualTo("new");
  }

  @Test
  void itemsAreMessagesAndRepliesOfTheBranch() {
    CompletableFuture<HttpResponse<String>> listed = get(PATH + "/items?order=asc");
    Item[] history = {
      new Item("1", "user", "a"),
      new Item("2", "user", "b"),
      new Item("2", new Message("assistant", "c"), "stop", null, null)
    };
    answer("warm", history);
    JsonNode data = json(listed).get("data");
    assertThat(data).hasSize(3);
    assertThat(data.at("/2/content/0/type").asText()).isEqualTo("output_text");
    String first = data.at("/0/id").asText();
    String reply = data.at("/2/id").asText();
    assertThat(reply).isEqualTo(ResponseIds.item("2", ResponseIds.REPLY));

    CompletableFuture<HttpResponse<String>> one = get(PATH + "/items/" + first);
    answer("warm", history);
    assertThat(json(one)).isEqualTo(data.get(0));

    CompletableFuture<HttpResponse<String>> refused =
        gateway.send(gateway.delete(PATH + "/items/" + reply));
    answer("warm", history);
    assertThat(refused.join().statusCode()).isEqualTo(400);

    CompletableFuture<HttpResponse<String>> deleted =
        gateway.send(gateway.delete(PATH + "/items/" + first));
    answer("warm", history);
    assertThat(serve(EventKind.DELETE_TURN).atTurn()).isEqualTo("1");
    answer("unknown");
    assertThat(json(deleted).at("/object").asText()).isEqualTo("conversation");
  }

  @Test
  void aResponseGoesOnWithItsConversation() {
    CompletableFuture<HttpResponse<String>> response =
        post(
            "/v1/responses",
            "{'input':'Hi','instructions':'Be brief.','conversation':{'id':'" + ID + "'}}");
    answer("warm", new Item("1", "system", "Be kind."));
    ConversationEvent turn = gateway.topics().next();
    assertThat(turn.session()).isEqualTo(ID);
    assertThat(turn.branch()).isEqualTo("main");
    assertThat(turn.messages())
        .containsExactly(new Message("system", "Be brief."), new Message("user", "Hi"));
    gateway.topics().end(turn, 0, "stop", Usage.NONE);
    assertThat(json(response).at("/conversation/id").asText()).isEqualTo(ID);
  }

  @ParameterizedTest
  @ValueSource(strings = {"unknown", "closed", "erased"})
  void aConversationThatIsNotThereIsNotFound(String status) {
    CompletableFuture<HttpResponse<String>> read = get(PATH);
    answer(status);
    assertThat(read.join().statusCode()).isEqualTo(404);
  }

  @Test
  void aConversationOfAnotherTenantIsNotFound() {
    CompletableFuture<HttpResponse<String>> deleted = gateway.send(gateway.delete(PATH));
    gateway
        .topics()
        .reject(gateway.topics().next(), new ReplyError(ErrorCode.WRONG_TENANT, "another's"));
    assertThat(deleted.join().statusCode()).isEqualTo(404);
    assertThat(gateway.topics().hasEvents()).isFalse();
  }

  /** The job's answer to a query that it rejects is a reply that has no status. */
  @ParameterizedTest
  @EnumSource(names = {"WRONG_TENANT", "UNKNOWN_SESSION", "SESSION_ENDED"})
  void aQueryThatTheJobRejectsFindsNothing(ErrorCode why) {
    CompletableFuture<HttpResponse<String>> response = gateway.send(gateway.get(PATH));
    ConversationEvent query = gateway.topics().next();
    gateway
        .topics()
        .answer(
            query,
            Reply.builder(query.session(), query.branch(), query.turn(), query.kind())
                .finishReason("rejected")
                .error(new ReplyError(why, "why"))
                .build());
    assertThat(response.join().statusCode()).isEqualTo(404);
  }

  @Test
  void anIdThatNoGatewayMadeIsNotAskedFor() {
    assertThat(get("/v1/conversations/main").join().statusCode()).isEqualTo(404);
    assertThat(
            post("/v1/conversations/x/items", "{'items':[{'role':'user','content':'a'}]}")
                .join()
                .statusCode())
        .isEqualTo(404);
    assertThat(gateway.topics().hasEvents()).isFalse();
  }
}
