package io.radixflow.gateway.responses;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.GatewayFixture;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.Reply.Item;
import io.radixflow.protocol.record.Reply.TurnState;
import io.radixflow.protocol.record.ReplyBuilder;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.template.Message;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ResponsesTest {

  private static final Usage USAGE = new Usage(30, 16, 3);

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private CompletableFuture<HttpResponse<String>> create(String fields) {
    return gateway.send(
        gateway.post("/v1/responses", "{'input':'Hi'%s}".formatted(fields).replace('\'', '"')));
  }

  private CompletableFuture<HttpResponse<String>> get(String path) {
    return gateway.send(gateway.get(path));
  }

  private static JsonNode json(CompletableFuture<HttpResponse<String>> response) {
    return GatewayFixture.json(response.join().body());
  }

  /** Answers a query about a turn as the job does. */
  private void answer(ConversationEvent query, ConversationEvent turn, String text, String finish) {
    TurnState state =
        new TurnState(
            turn.turn(),
            finish == null ? "running" : "done",
            "main",
            "",
            1_000,
            finish == null ? 0 : 5_000,
            turn.metadata(),
            turn.messages(),
            text,
            null,
            finish,
            null,
            finish == null ? null : USAGE,
            null);
    assertThat(query.kind()).isEqualTo(EventKind.QUERY);
    assertThat(query.atTurn()).isEqualTo(turn.turn());
    gateway.topics().answer(query, reply(query).turnState(state).build());
  }

  private static ReplyBuilder reply(ConversationEvent query) {
    return Reply.builder(query.session(), "main", query.turn(), EventKind.QUERY);
  }

  private static List<JsonNode> events(String body) {
    List<JsonNode> events = new ArrayList<>();
    for (String line : body.split("\n")) {
      if (line.startsWith("data: {")) {
        events.add(GatewayFixture.json(line.substring(6)));
      }
    }
    assertThat(body).endsWith("data: [DONE]\n\n");
    return events;
  }

  private static String text(List<JsonNode> events) {
    StringBuilder text = new StringBuilder();
    events.forEach(event -> text.append(event.path("delta").asText("")));
    return text.toString();
  }

  /** A response that was made, and the event of its turn. */
  private record Made(JsonNode json, ConversationEvent turn) {
    String id() {
      return json.get("id").asText();
    }
  }

  private Made made(String fields) {
    CompletableFuture<HttpResponse<String>> response = create(fields);
    ConversationEvent turn = gateway.topics().next();
    gateway.topics().piece(turn, 0, "Hello");
    gateway.topics().end(turn, 5, "stop", USAGE);
    return new Made(json(response), turn);
  }

  private CompletableFuture<HttpResponse<String>> keyed(String input) {
    String body = "{\"input\":\"" + input + "\",\"stream\":true}";
    return gateway.send(gateway.post("/v1/responses", body, "Idempotency-Key", "k1"));
  }

  @Test
  void aRequestThatIsSentAgainHasTheSameEventsOfTheSameResponse() {
    CompletableFuture<HttpResponse<String>> first = keyed("Hi");
    ConversationEvent turn = gateway.topics().next();
    answer(gateway.topics().next(), turn, "", null);
    gateway.topics().piece(turn, 0, "Hello");
    CompletableFuture<HttpResponse<String>> during = keyed("Hi");
    assertThat(gateway.topics().next().turn()).isEqualTo(turn.turn());
    answer(gateway.topics().next(), turn, "Hello", null);
    gateway.topics().piece(turn, 5, " you");
    gateway.topics().end(turn, 9, "stop", USAGE);
    CompletableFuture<HttpResponse<String>> after = keyed("Hi");
    assertThat(gateway.topics().next().turn()).isEqualTo(turn.turn());
    answer(gateway.topics().next(), turn, "Hello you", "stop");

    JsonNode ended = null;
    for (var response : List.of(first, during, after)) {
      assertThat(response.join().headers().firstValue("X-Radixflow-Turn")).hasValue(turn.turn());
      assertThat(response.join().headers().firstValue("X-Radixflow-Session"))
          .hasValue(turn.session());
      List<JsonNode> events = events(response.join().body());
      assertThat(text(events)).isEqualTo("Hello you");
      JsonNode last = events.get(events.size() - 1);
      assertThat(last.path("sequence_number").asInt()).isEqualTo(3 + 9 + 4);
      ended = ended == null ? last : ended;
      assertThat(last.at("/response/id")).isEqualTo(ended.at("/response/id"));
      assertThat(last.at("/response/output")).isEqualTo(ended.at("/response/output"));
    }
  }

  /** The turn as if its request had come at another time. */
  private static ConversationEvent sentAt(ConversationEvent turn, long seconds) {
    Map<String, String> metadata = new HashMap<>(turn.metadata());
    metadata.computeIfPresent(
        ResponseSettings.KEY,
        (key, settings) -> settings.replaceFirst("\"c\":[0-9]+", "\"c\":" + seconds));
    return turn.toBuilder().metadata(metadata).build();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",'stream':true", ",'background':true"})
  void aRequestThatIsSentAgainSaysWhenItWasFirstSent(String fields) {
    List<JsonNode> bodies = new ArrayList<>();
    for (int sent = 0; sent < 2; sent++) {
      CompletableFuture<HttpResponse<String>> response = createWithKey(fields);
      ConversationEvent turn = gateway.topics().next();
      ConversationEvent first = sentAt(turn, 77);
      answer(gateway.topics().next(), first, "Hello", sent == 0 ? null : "stop");
      gateway.topics().end(turn, 5, "stop", USAGE);
      bodies.add(
          fields.contains("stream")
              ? GatewayFixture.json(events(response.join().body()).toString())
              : json(response));
    }
    if (fields.contains("background")) {
      assertThat(bodies.get(0).at("/created_at").asLong()).isEqualTo(77);
      assertThat(bodies.get(0).at("/status").asText()).isEqualTo("in_progress");
      assertThat(bodies.get(1).at("/created_at").asLong()).isEqualTo(77);
      assertThat(bodies.get(1).at("/status").asText()).isEqualTo("completed");
      return;
    }
    assertThat(bodies.get(1)).isEqualTo(bodies.get(0));
    bodies
        .get(0)
        .findValues("created_at")
        .forEach(created -> assertThat(created.asLong()).isEqualTo(77));
    assertThat(bodies.get(0).findValues("created_at")).isNotEmpty();
  }

  private CompletableFuture<HttpResponse<String>> createWithKey(String fields) {
    String body = "{'input':'Hi'%s}".formatted(fields).replace('\'', '"');
    return gateway.send(gateway.post("/v1/responses", body, "Idempotency-Key", "k2"));
  }

  /** Answers a query about a turn that was rejected, as the job does. */
  private void rejectedBefore(ConversationEvent query, ConversationEvent turn, ErrorCode why) {
    if (why == ErrorCode.UNKNOWN_SESSION) {
      gateway.topics().reject(query, new ReplyError(why, "there is no session"));
      return;
    }
    TurnState state =
        new TurnState(
            turn.turn(),
            "done",
            "main",
            null,
            1_000,
            1_000,
            turn.metadata(),
            List.of(),
            "",
            null,
            "rejected",
            null,
            Usage.NONE,
            new ReplyError(why, "16 turns wait"));
    gateway.topics().answer(query, reply(query).turnState(state).build());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",'stream':true", ",'background':true"})
  void aRequestWhoseTurnWasRejectedIsServedWhenItIsSentAgainWithItsKey(String fields) {
    CompletableFuture<HttpResponse<String>> busy = createWithKey(fields);
    ConversationEvent rejected = gateway.topics().next();
    ConversationEvent query = gateway.topics().next();
    gateway.topics().reject(rejected, new ReplyError(ErrorCode.BUSY, "16 turns wait"));
    assertThat(busy.join().statusCode()).isEqualTo(429);
    rejectedBefore(query, rejected, ErrorCode.BUSY);

    List<String> ids = new ArrayList<>();
    for (ErrorCode why : List.of(ErrorCode.BUSY, ErrorCode.UNKNOWN_SESSION)) {
      CompletableFuture<HttpResponse<String>> again = createWithKey(fields);
      ConversationEvent same = gateway.topics().next();
      assertThat(same.turn()).isEqualTo(rejected.turn());
      rejectedBefore(gateway.topics().next(), same, why);
      ConversationEvent next = gateway.topics().next();
      assertThat(next.session()).isEqualTo(rejected.session());
      assertThat(next.turn()).isNotEqualTo(rejected.turn());
      assertThat(next.messages()).isEqualTo(rejected.messages());
      answer(gateway.topics().next(), next, "Hello", null);
      gateway.topics().end(next, 5, "stop", USAGE);
      assertThat(again.join().statusCode()).isEqualTo(200);
      assertThat(again.join().headers().firstValue("X-Radixflow-Turn")).hasValue(next.turn());
      String body = again.join().body();
      ids.add(body.substring(body.indexOf("resp_")).replaceFirst("\".*(?s:.*)", ""));
      assertThat(ResponseIds.parseResponse(ids.get(0)).orElseThrow().turn()).isEqualTo(next.turn());
    }
    assertThat(ids.get(1)).isEqualTo(ids.get(0));
    assertThat(gateway.topics().hasEvents()).isFalse();
  }

  @Test
  void aRequestWhoseTurnIsWrongIsNotTriedAgain() {
    CompletableFuture<HttpResponse<String>> response = createWithKey("");
    ConversationEvent turn = gateway.topics().next();
    rejectedBefore(gateway.topics().next(), turn, ErrorCode.CONTEXT_LENGTH_EXCEEDED);
    assertThat(response.join().statusCode()).isEqualTo(400);
    assertThat(gateway.topics().hasEvents()).isFalse();
  }

  @Test
  void anotherRequestWithTheSameKeyIsRefused() {
    CompletableFuture<HttpResponse<String>> first = keyed("Hi");
    ConversationEvent turn = gateway.topics().next();
    answer(gateway.topics().next(), turn, "", null);
    CompletableFuture<HttpResponse<String>> other = keyed("Ho");
    assertThat(gateway.topics().next().turn()).isEqualTo(turn.turn());
    answer(gateway.topics().next(), turn, "Hello", null);

    assertThat(other.join().statusCode()).isEqualTo(422);
    assertThat(json(other).at("/error/code").asText()).isEqualTo("idempotency_key_reused");
    gateway.topics().piece(turn, 0, "Hello");
    gateway.topics().end(turn, 5, "stop", USAGE);
    assertThat(text(events(first.join().body()))).isEqualTo("Hello");
  }

  @Test
  void aResponseIsReadAsItWasMade() {
    Made made = made(",'metadata':{'k':'v'},'temperature':0.5");
    assertThat(made.json().at("/status").asText()).isEqualTo("completed");
    assertThat(made.json().at("/completed_at").asLong()).isEqualTo(5);
    assertThat(made.json().at("/output/0/content/0/text").asText()).isEqualTo("Hello");
    assertThat(made.turn().messages()).containsExactly(new Message("user", "Hi"));
    assertThat(made.turn().options().temperature()).isEqualTo(0.5);

    CompletableFuture<HttpResponse<String>> read = get("/v1/responses/" + made.id());
    answer(gateway.topics().next(), made.turn(), "Hello", "stop");
    assertThat(json(read)).isEqualTo(made.json());

    CompletableFuture<HttpResponse<String>> items =
        get("/v1/responses/" + made.id() + "/input_items");
    answer(gateway.topics().next(), made.turn(), "Hello", "stop");
    assertThat(json(items).at("/data/0/content/0/text").asText()).isEqualTo("Hi");
  }

  @ParameterizedTest
  @ValueSource(strings = {"include[]", "include"})
  void logProbabilitiesOfAResponseThatEndedAreRefusedByName(String parameter) {
    Made made = made(",'include':['message.output_text.logprobs']");
    String path =
        "/v1/responses/%s?%s=message.output_text.logprobs"
            .formatted(made.id(), parameter.replace("[]", "%5B%5D"));
    CompletableFuture<HttpResponse<String>> ended = get(path);
    answer(gateway.topics().next(), made.turn(), "Hello", "stop");
    assertThat(ended.join().statusCode()).isEqualTo(400);
    assertThat(json(ended).at("/error/param").asText()).isEqualTo("include");
    assertThat(json(ended).at("/error/message").asText()).contains("not kept");
    CompletableFuture<HttpResponse<String>> running = get(path);
    answer(gateway.topics().next(), made.turn(), "Hel", null);
    assertThat(running.join().statusCode()).isEqualTo(200);
  }

  @Test
  void instructionsOfAResponseAreTheSystemPromptAndAreReadBack() {
    Made made = made(",'instructions':'Be brief.'");
    assertThat(made.turn().messages())
        .containsExactly(new Message("system", "Be brief."), new Message("user", "Hi"));
    CompletableFuture<HttpResponse<String>> read = get("/v1/responses/" + made.id());
    answer(gateway.topics().next(), made.turn(), "Hello", "stop");
    ConversationEvent history = gateway.topics().next();
    gateway
        .topics()
        .answer(
            history, reply(history).items(List.of(new Item(null, "system", "Be brief."))).build());
    assertThat(json(read)).isEqualTo(made.json());
  }

  @Test
  void aResponseWithTheSameInstructionsIsTheNextTurnOfItsSession() {
    Made first = made(",'instructions':'Be brief.'");
    Made second = made(",'instructions':'Be brief.','previous_response_id':'" + first.id() + "'");
    assertThat(second.turn().session()).isEqualTo(first.turn().session());
    assertThat(second.turn().previousTurn()).isEqualTo(first.turn().turn());
    assertThat(second.turn().messages()).containsExactly(new Message("user", "Hi"));
    assertThat(second.json().at("/previous_response_id").asText()).isEqualTo(first.id());
  }

  @Test
  void aResponseWithOtherInstructionsTakesTheConversationAlong() {
    Made first = made(",'instructions':'Be brief.'");
    CompletableFuture<HttpResponse<String>> response =
        create(",'instructions':'Be kind.','previous_response_id':'" + first.id() + "'");
    answer(gateway.topics().next(), first.turn(), "Hello", "stop");
    ConversationEvent history = gateway.topics().next();
    String turn = first.turn().turn();
    gateway
        .topics()
        .answer(
            history,
            reply(history)
                .items(
                    List.of(
                        new Item(null, "system", "Be brief."),
                        new Item(turn, "user", "Hi"),
                        new Item(turn, new Message("assistant", "Hello"), "stop", null, null),
                        new Item("later", "user", "not this")))
                .build());
    ConversationEvent second = gateway.topics().next();
    assertThat(second.matchHistory()).isTrue();
    assertThat(second.session()).isEqualTo(first.turn().session());
    assertThat(second.messages())
        .containsExactly(
            new Message("system", "Be kind."),
            new Message("user", "Hi"),
            new Message("assistant", "Hello"),
            new Message("user", "Hi"));
    gateway.topics().end(second, 0, "stop", USAGE);
    assertThat(json(response).at("/instructions").asText()).isEqualTo("Be kind.");
  }

  @Test
  void aStreamBeginsWhenTheJobHasTheTurnAndIsResumedExactly() {
    CompletableFuture<HttpResponse<String>> streamed = create(",'stream':true");
    ConversationEvent turn = gateway.topics().next();
    answer(gateway.topics().next(), turn, "", null);
    gateway.topics().piece(turn, 0, "Hel");
    gateway.topics().piece(turn, 3, "lo you");
    gateway.topics().end(turn, 9, "stop", USAGE);
    List<JsonNode> events = events(streamed.join().body());
    assertThat(text(events)).isEqualTo("Hello you");
    assertThat(events.get(0).at("/type").asText()).isEqualTo("response.created");
    String id = events.get(0).at("/response/id").asText();
    String path = "/v1/responses/" + id + "?stream=true&starting_after=";

    CompletableFuture<HttpResponse<String>> done = get(path + 6);
    answer(gateway.topics().next(), turn, "Hello you", "stop");
    List<JsonNode> rest = events(done.join().body());
    assertThat(text(rest)).isEqualTo("lo you");
    assertThat(rest.get(rest.size() - 1)).isEqualTo(events.get(events.size() - 1));

    CompletableFuture<HttpResponse<String>> running = get(path + 4);
    answer(gateway.topics().next(), turn, "Hel", null);
    ConversationEvent resumed = gateway.topics().next();
    gateway.topics().piece(turn, 3, "lo");
    answer(resumed, turn, "Hello", null);
    gateway.topics().piece(turn, 5, " you");
    gateway.topics().end(turn, 9, "stop", USAGE);
    List<JsonNode> more = events(running.join().body());
    assertThat(text(more)).isEqualTo("ello you");
    assertThat(more.get(more.size() - 1)).isEqualTo(events.get(events.size() - 1));
  }

  @Test
  void aRejectedTurnIsAnErrorWithItsOwnStatusAlsoForAStream() {
    Made first = made("");
    for (String stream : List.of("", ",'stream':true", ",'background':true")) {
      CompletableFuture<HttpResponse<String>> response =
          create(stream + ",'previous_response_id':'" + first.id() + "'");
      gateway
          .topics()
          .reject(
              gateway.topics().next(), new ReplyError(ErrorCode.WRONG_TENANT, "another tenant's"));
      assertThat(response.join().statusCode()).isEqualTo(400);
      assertThat(json(response).at("/error/code").asText())
          .isEqualTo("previous_response_not_found");
      assertThat(response.join().body()).doesNotContain("tenant");
      if (!stream.isEmpty()) {
        gateway.topics().next();
      }
    }
  }

  @Test
  void aResponseInTheBackgroundIsAnsweredWhenTheJobHasItAndIsCancelled() {
    CompletableFuture<HttpResponse<String>> response = create(",'background':true");
    ConversationEvent turn = gateway.topics().next();
    answer(gateway.topics().next(), turn, "", null);
    JsonNode begun = json(response);
    assertThat(begun.at("/status").asText()).isEqualTo("queued");
    assertThat(begun.at("/background").asBoolean()).isTrue();

    String path = "/v1/responses/" + begun.at("/id").asText() + "/cancel";
    CompletableFuture<HttpResponse<String>> cancelled = gateway.send(gateway.post(path, ""));
    answer(gateway.topics().next(), turn, "Hel", null);
    ConversationEvent resumed = gateway.topics().next();
    ConversationEvent cancel = gateway.topics().next();
    assertThat(cancel.kind()).isEqualTo(EventKind.CANCEL);
    assertThat(cancel.turn()).isEqualTo(turn.turn());
    answer(resumed, turn, "Hel", null);
    gateway.topics().end(turn, 3, "cancelled", USAGE);
    assertThat(json(cancelled).at("/status").asText()).isEqualTo("cancelled");
    assertThat(json(cancelled).at("/output/0/content/0/text").asText()).isEqualTo("Hel");
  }

  @Test
  void aResponseThatWasNotMadeInTheBackgroundCannotBeCancelled() {
    Made made = made("");
    CompletableFuture<HttpResponse<String>> cancelled =
        gateway.send(gateway.post("/v1/responses/" + made.id() + "/cancel", ""));
    answer(gateway.topics().next(), made.turn(), "Hello", "stop");
    assertThat(cancelled.join().statusCode()).isEqualTo(400);
    assertThat(json(cancelled).at("/error/message").asText())
        .startsWith("Cannot cancel a synchronous response");
    assertThat(gateway.topics().hasEvents()).isFalse();
  }

  @Test
  void aResponseThatIsNotStoredIsNotFound() {
    Made made = made(",'store':false");
    CompletableFuture<HttpResponse<String>> read = get("/v1/responses/" + made.id());
    answer(gateway.topics().next(), made.turn(), "Hello", "stop");
    assertThat(read.join().statusCode()).isEqualTo(404);
  }

  @Test
  void aResponseOfAnotherTenantLooksLikeOneThatIsNotThere() {
    Made made = made("");
    List<String> bodies = new ArrayList<>();
    for (ErrorCode code : List.of(ErrorCode.WRONG_TENANT, ErrorCode.UNKNOWN_SESSION)) {
      CompletableFuture<HttpResponse<String>> read = get("/v1/responses/" + made.id());
      gateway.topics().reject(gateway.topics().next(), new ReplyError(code, "because"));
      assertThat(read.join().statusCode()).isEqualTo(404);
      bodies.add(read.join().body());
    }
    assertThat(bodies.get(0)).isEqualTo(bodies.get(1));
  }

  @ParameterizedTest
  @ValueSource(strings = {"resp_x", "x", "resp_", "%F0%9F%98%80", "resp_YQBi"})
  void anIdThatNoGatewayMadeIsNotFound(String id) {
    assertThat(get("/v1/responses/" + id).join().statusCode()).isEqualTo(404);
    assertThat(gateway.topics().hasEvents()).isFalse();
  }

  @Test
  void aDeletedResponseIsAnsweredWhenTheJobHasDeletedIt() {
    Made made = made("");
    CompletableFuture<HttpResponse<String>> deleted =
        gateway.send(gateway.delete("/v1/responses/" + made.id()));
    answer(gateway.topics().next(), made.turn(), "Hello", "stop");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.kind()).isEqualTo(EventKind.DELETE_TURN);
    assertThat(event.atTurn()).isEqualTo(made.turn().turn());
    gateway.topics().end(event, 0, "stop", Usage.NONE);
    assertThat(json(deleted).at("/deleted").asBoolean()).isTrue();
  }

  @Test
  void theTokensOfAPromptAreCountedWithWhatCameBefore() {
    Made made = made("");
    int alone = tokens("");
    CompletableFuture<HttpResponse<String>> response =
        gateway.send(
            gateway.post(
                "/v1/responses/input_tokens",
                "{\"input\":\"Hi\",\"previous_response_id\":\"" + made.id() + "\"}"));
    answer(gateway.topics().next(), made.turn(), "Hello", "stop");
    ConversationEvent history = gateway.topics().next();
    String turn = made.turn().turn();
    gateway
        .topics()
        .answer(
            history,
            reply(history)
                .items(
                    List.of(
                        new Item(turn, "user", "Hi"),
                        new Item(turn, new Message("assistant", "Hello"), "stop", null, null)))
                .build());
    assertThat(json(response).at("/input_tokens").asInt()).isGreaterThan(alone);
    assertThat(tokens(",\"instructions\":\"Be brief.\"")).isGreaterThan(alone);
  }

  private int tokens(String fields) {
    return json(gateway.send(
            gateway.post("/v1/responses/input_tokens", "{\"input\":\"Hi\"" + fields + "}")))
        .at("/input_tokens")
        .asInt();
  }
}
