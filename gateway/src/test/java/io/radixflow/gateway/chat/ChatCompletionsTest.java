package io.radixflow.gateway.chat;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import io.radixflow.gateway.GatewayFixture;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply.TokenLogprob;
import io.radixflow.protocol.record.Reply.TopLogprob;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import io.radixflow.protocol.record.kv.TierUsage;
import io.radixflow.text.template.Message;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChatCompletionsTest {

  private static final String PATH = "/v1/chat/completions";
  private static final String HELLO =
      "{\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]%s}";

  @RegisterExtension final GatewayFixture gateway = new GatewayFixture();

  private CompletableFuture<HttpResponse<String>> chat(String fields, String... headers) {
    return gateway.send(gateway.post(PATH, HELLO.formatted(fields), headers));
  }

  @Test
  void aCompletionHasTheTextOfAllDeltasOnce() {
    CompletableFuture<HttpResponse<String>> response =
        chat(",\"model\":\"sim\",\"temperature\":0,\"max_tokens\":9,\"max_completion_tokens\":5");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.kind()).isEqualTo(EventKind.MESSAGE);
    assertThat(event.messages()).containsExactly(new Message("user", "Hello"));
    assertThat(event.options().maxTokens()).isEqualTo(5);
    assertThat(event.options().temperature()).isZero();
    gateway.topics().garbage(event);
    gateway.topics().piece(event, 0, "Hé ");
    gateway.topics().piece(event, 5, "behind a gap");
    gateway.topics().piece(event, 0, "Hé \uD83D\uDE00");
    gateway.topics().piece(event, 4, "!");
    gateway.topics().end(event, 5, "stop", new Usage(30, 16, 3));
    JsonNode json = GatewayFixture.json(response.join().body());
    assertThat(json.at("/object").asText()).isEqualTo("chat.completion");
    assertThat(json.at("/model").asText()).isEqualTo("sim");
    assertThat(json.at("/choices/0/message/content").asText()).isEqualTo("Hé \uD83D\uDE00!");
    assertThat(json.at("/choices/0/finish_reason").asText()).isEqualTo("stop");
    assertThat(json.at("/usage/total_tokens").asInt()).isEqualTo(33);
    assertThat(json.at("/usage/prompt_tokens_details/cached_tokens").asInt()).isEqualTo(16);
  }

  @Test
  void aPredictionGoesToTheJobAndTheUsageSaysHowMuchOfItWasRight() {
    CompletableFuture<HttpResponse<String>> response =
        chat(",\"prediction\":{\"type\":\"content\",\"content\":\"a file\"}");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.options().prediction()).isEqualTo("a file");
    gateway.topics().end(event, 0, "stop", new Usage(30, 16, 9, TierUsage.NONE, 0, 7, 2));
    JsonNode details =
        GatewayFixture.json(response.join().body()).at("/usage/completion_tokens_details");
    assertThat(details.get("accepted_prediction_tokens").asInt()).isEqualTo(7);
    assertThat(details.get("rejected_prediction_tokens").asInt()).isEqualTo(2);
  }

  @Test
  void theStopTextThatEndedACompletionIsNamed() {
    CompletableFuture<HttpResponse<String>> whole = chat(",\"stop\":\"END\"");
    gateway.topics().stop(gateway.topics().next(), 0, "END", Usage.NONE);
    JsonNode choice = GatewayFixture.json(whole.join().body()).at("/choices/0");
    assertThat(choice.at("/finish_reason").asText()).isEqualTo("stop");
    assertThat(choice.at("/stop_reason").asText()).isEqualTo("END");
    CompletableFuture<HttpResponse<String>> streamed = chat(",\"stop\":\"END\",\"stream\":true");
    gateway.topics().stop(gateway.topics().next(), 0, "END", Usage.NONE);
    assertThat(streamed.join().body())
        .contains("\"finish_reason\":\"stop\",\"stop_reason\":\"END\"");
  }

  @Test
  void aStreamHasAnEventForEachPieceAndEndsWithTheUsage() throws IOException {
    CompletableFuture<HttpResponse<InputStream>> opened =
        gateway.open(
            gateway.post(
                PATH,
                HELLO.formatted(",\"stream\":true,\"stream_options\":{\"include_usage\":true}")));
    ConversationEvent event = gateway.topics().next();
    gateway.topics().piece(event, 0, "Hi");
    HttpResponse<InputStream> response = opened.join();
    assertThat(response.headers().firstValue("content-type").orElseThrow())
        .startsWith("text/event-stream");
    BufferedReader lines = GatewayFixture.lines(response);
    JsonNode first = event(lines);
    assertThat(first.at("/choices/0/delta"))
        .as("the role alone")
        .isEqualTo(GatewayFixture.json("{\"role\":\"assistant\",\"content\":\"\"}"));
    assertThat(first.at("/choices/0/finish_reason").isNull()).isTrue();
    assertThat(first.at("/usage").isNull()).isTrue();
    assertThat(event(lines).at("/choices/0/delta"))
        .isEqualTo(GatewayFixture.json("{\"content\":\"Hi\"}"));
    gateway.topics().piece(event, 2, " there");
    JsonNode second = event(lines);
    assertThat(second.at("/choices/0/delta/content").asText()).isEqualTo(" there");
    assertThat(second.at("/choices/0/delta").has("role")).isFalse();
    gateway.topics().end(event, 8, "length", new Usage(3, 0, 2));
    assertThat(event(lines).at("/choices/0/finish_reason").asText()).isEqualTo("length");
    JsonNode usage = event(lines);
    assertThat(usage.at("/choices").isEmpty()).isTrue();
    assertThat(usage.at("/usage/completion_tokens").asInt()).isEqualTo(2);
    assertThat(lines.readLine()).isEqualTo("data: [DONE]");
    assertThat(lines.readLine()).isEmpty();
    assertThat(lines.readLine()).isNull();
  }

  private static JsonNode event(BufferedReader lines) throws IOException {
    String line = lines.readLine();
    assertThat(line).startsWith("data: ");
    assertThat(lines.readLine()).isEmpty();
    return GatewayFixture.json(line.substring("data: ".length()));
  }

  @Test
  void aRejectedTurnIsAnErrorAlsoOfAStream() {
    for (String stream : List.of("", ",\"stream\":true")) {
      CompletableFuture<HttpResponse<String>> response = chat(stream);
      gateway.topics().reject(gateway.topics().next(), "the prompt is too long");
      assertThat(response.join().statusCode()).isEqualTo(400);
      assertThat(GatewayFixture.json(response.join().body()).at("/error/message").asText())
          .isEqualTo("the prompt is too long");
    }
  }

  @Test
  void aPromptThatIsTooLongIsAnErrorWithNumbers() {
    CompletableFuture<HttpResponse<String>> response = chat("");
    ReplyError error = new ReplyError(ErrorCode.CONTEXT_LENGTH_EXCEEDED, "too long", 9031, 8192);
    gateway.topics().reject(gateway.topics().next(), error);
    JsonNode shown = GatewayFixture.json(response.join().body()).at("/error");
    assertThat(shown.at("/message").asText())
        .isEqualTo("This model's maximum context length is 8192 tokens: too long");
    assertThat(shown.at("/code").asText()).isEqualTo("context_length_exceeded");
    assertThat(shown.at("/param").asText()).isEqualTo("messages");
    assertThat(shown.at("/n_prompt_tokens").asInt()).isEqualTo(9031);
    assertThat(shown.at("/n_ctx").asInt()).isEqualTo(8192);
  }

  /** The four bytes of an emoji in two tokens. */
  @ParameterizedTest
  @ValueSource(strings = {"", ",\"stream\":true"})
  void tokensThatArePartsOfACharacterHaveTheirBytes(String stream) {
    CompletableFuture<HttpResponse<String>> response =
        chat(",\"logprobs\":true,\"top_logprobs\":1" + stream);
    ConversationEvent event = gateway.topics().next();
    TopLogprob top = new TopLogprob(8, "a\uFFFD", -1, List.of(0x61, 0xf0));
    gateway
        .topics()
        .logprobs(
            event,
            0,
            "\uD83D\uDE00",
            new TokenLogprob(1, "\uFFFD", -1, List.of(top), List.of(0xf0, 0x9f)),
            new TokenLogprob(2, "\uFFFD\uFFFD", -1, List.of(), List.of(0x98, 0x80)));
    gateway.topics().end(event, 1, "stop", Usage.NONE);
    assertThat(response.join().body())
        .contains(
            "{\"token\":\"\\\\xf0\\\\x9f\",\"logprob\":-1.0,\"bytes\":[240,159]",
            "{\"token\":\"a\\\\xf0\",\"logprob\":-1.0,\"bytes\":[97,240]}",
            "{\"token\":\"\\\\x98\\\\x80\",\"logprob\":-1.0,\"bytes\":[152,128]");
  }

  @ParameterizedTest
  @CsvSource({
    "/v1/chat/completions, messages, ''",
    "/v1/chat/completions, messages, ',\"stream\":true'",
    "/v1/responses, input, ''",
    "/v1/responses, input, ',\"stream\":true'",
    "/v1/messages, messages, ''",
    "/v1/messages, messages, ',\"stream\":true'"
  })
  void everyApiSaysWhatAReplyIsNotHeldTo(String path, String field, String more) {
    String body =
        "{\"max_%stokens\":9,\"%s\":[{\"role\":\"user\",\"content\":\"Hi\"}]%s}"
            .formatted(field.equals("input") ? "output_" : "", field, more);
    CompletableFuture<HttpResponse<String>> response = gateway.send(gateway.post(path, body));
    gateway.topics().warn(gateway.topics().next(), "x", "the function f: not enforced");
    assertThat(response.join().statusCode()).isEqualTo(200);
    assertThat(response.join().body()).contains("\"warnings\":[\"the function f: not enforced\"]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "response_format: pattern has a back-reference | response_format | text",
        "structured_outputs: the regular expression is wrong | structured_outputs | text",
        "the function f: pattern has a back-reference | tools | tools",
        "the parameter p of the function f has pattern | tools | tools",
        "tool_choice names f, which is not a tool | tool_choice | tool_choice",
        "tool_choice asks for a call, and there are no tools | tool_choice | tool_choice",
        "continue_final_message and add_generation_prompt are both true"
            + " | continue_final_message | continue_final_message",
        "max_tokens is -1; it must be at least 0 | max_tokens | max_output_tokens",
        "the chat template refuses the messages: no | messages | input",
        "there is no branch 'b' | | ",
        "a turn needs a turn id for its reply | | "
      })
  void anErrorOfTheJobNamesItsFieldAsTheApiDoes(String why, String ofChat, String ofResponse) {
    CompletableFuture<HttpResponse<String>> chat = chat("");
    gateway.topics().reject(gateway.topics().next(), why);
    assertThat(param(chat.join())).isEqualTo(ofChat);
    CompletableFuture<HttpResponse<String>> response =
        gateway.send(gateway.post("/v1/responses", "{\"input\":\"Hi\"}"));
    gateway.topics().reject(gateway.topics().next(), why);
    assertThat(param(response.join())).isEqualTo(ofResponse);
  }

  private static String param(HttpResponse<String> response) {
    assertThat(response.statusCode()).isEqualTo(400);
    return GatewayFixture.json(response.body()).at("/error/param").textValue();
  }

  @Test
  void optionsOfAStreamNeedAStream() {
    HttpResponse<String> response = chat(",\"stream_options\":{\"include_usage\":true}").join();
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(GatewayFixture.json(response.body()).at("/error/param").asText())
        .isEqualTo("stream_options");
  }

  @Test
  void minusOneIsNoLimitAndAllTokens() {
    for (String name : List.of("max_tokens", "max_completion_tokens")) {
      chat(",\"top_k\":-1,\"" + name + "\":-1");
      ConversationEvent event = gateway.topics().next();
      assertThat(event.options().topK()).isZero();
      assertThat(event.options().maxTokens()).isNull();
    }
    for (String wrong : List.of("\"top_k\":-2", "\"max_tokens\":0", "\"max_tokens\":-2")) {
      assertThat(chat("," + wrong).join().statusCode()).as(wrong).isEqualTo(400);
    }
  }

  @Test
  void reasonsOfTheJobBecomeStatuses() {
    Map<ErrorCode, Integer> expected =
        Map.of(
            ErrorCode.WRONG_TENANT, 404,
            ErrorCode.UNKNOWN_SESSION, 404,
            ErrorCode.SESSION_ENDED, 404,
            ErrorCode.UNKNOWN_TURN, 404,
            ErrorCode.CONTEXT_LENGTH_EXCEEDED, 400,
            ErrorCode.BUSY, 429,
            ErrorCode.DRAINING, 503,
            ErrorCode.FAILED, 500);
    List<String> strangers = new ArrayList<>();
    expected.forEach(
        (code, status) -> {
          CompletableFuture<HttpResponse<String>> response =
              chat("", "X-Conversation-Id", "reasons");
          gateway.topics().reject(gateway.topics().next(), new ReplyError(code, "why " + code));
          assertThat(response.join().statusCode()).as(code.name()).isEqualTo(status);
          assertThat(response.join().headers().firstValue("Retry-After").isPresent())
              .isEqualTo(status == 429 || status == 503);
          if (status == 404 && code != ErrorCode.UNKNOWN_TURN) {
            strangers.add(response.join().body());
          }
        });
    assertThat(strangers).hasSize(3).containsOnly(strangers.get(0));
  }

  @Test
  void aConversationThatIsSentAgainIsInTheSessionInWhichItBegan() {
    String first = "{\"role\":\"user\",\"content\":\"Hello\"}";
    gateway.send(gateway.post(PATH, "{\"messages\":[" + first + "]}"));
    ConversationEvent begun = gateway.topics().next();
    assertThat(begun.matchHistory()).isTrue();
    String more =
        "{\"messages\":[{\"role\":\"user\",\"content\":\" Hello\\n\"},"
            + "{\"role\":\"assistant\",\"content\":\"Hi\"},"
            + "{\"role\":\"user\",\"content\":\"More\"}]%s}";
    gateway.send(gateway.post(PATH, more.formatted("")));
    ConversationEvent next = gateway.topics().next();
    assertThat(next.session()).isEqualTo(begun.session());
    assertThat(next.turn()).isNotEqualTo(begun.turn());
    assertThat(next.messages()).hasSize(3);
    gateway.send(gateway.post(PATH, more.formatted(",\"user\":\"bob\"")));
    assertThat(gateway.topics().next().session()).isNotEqualTo(begun.session());
  }

  @Test
  void aClientMayNameItsConversation() {
    List<String> sessions = new ArrayList<>();
    for (String header : List.of("X-Conversation-Id", "x-claude-code-session-id", "session_id")) {
      for (String text : List.of("Hello", "Bye")) {
        String body = "{\"messages\":[{\"role\":\"user\",\"content\":\"" + text + "\"}]}";
        gateway.send(gateway.post(PATH, body, header, "my talk"));
        sessions.add(gateway.topics().next().session());
      }
    }
    chat(",\"prompt_cache_key\":\"my talk\",\"prompt_cache_retention\":\"24h\"");
    ConversationEvent event = gateway.topics().next();
    assertThat(event.cache().pinMillis()).isEqualTo(Duration.ofDays(1).toMillis());
    sessions.add(event.session());
    assertThat(sessions.get(0)).isEqualTo(sessions.get(1)).isNotEqualTo(sessions.get(2));
    assertThat(new HashSet<>(sessions)).hasSize(4);
  }

  @Test
  void choicesAreTurnsOfOneSessionWithSeedsOfTheirOwn() {
    CompletableFuture<HttpResponse<String>> response = chat(",\"n\":2,\"seed\":7");
    ConversationEvent first = gateway.topics().next();
    ConversationEvent second = gateway.topics().next();
    assertThat(second.session()).isEqualTo(first.session());
    assertThat(second.turn()).isNotEqualTo(first.turn());
    assertThat(first.options().seed()).isEqualTo(7);
    assertThat(second.options().seed()).isEqualTo(8);
    gateway.topics().piece(second, 0, "b");
    gateway.topics().end(second, 1, "length", new Usage(10, 8, 1));
    gateway.topics().piece(first, 0, "a");
    gateway.topics().end(first, 1, "stop", new Usage(10, 0, 2));
    JsonNode json = GatewayFixture.json(response.join().body());
    assertThat(json.at("/choices/0/message/content").asText()).isEqualTo("a");
    assertThat(json.at("/choices/1/message/content").asText()).isEqualTo("b");
    assertThat(json.at("/choices/1/index").asInt()).isOne();
    assertThat(json.at("/usage/prompt_tokens").asInt()).isEqualTo(10);
    assertThat(json.at("/usage/completion_tokens").asInt()).isEqualTo(3);
  }

  @Test
  void aChoiceThatFailsEndsTheResponse() {
    CompletableFuture<HttpResponse<String>> response = chat(",\"n\":2,\"stream\":true");
    ConversationEvent first = gateway.topics().next();
    ConversationEvent second = gateway.topics().next();
    gateway.topics().piece(first, 0, "a");
    gateway.topics().reject(second, "no");
    assertThat(response.join().body()).contains("\"a\"").doesNotContain("DONE").contains("\"no\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"stream\":true,\"stream_options\":{\"include_usage\":true}"})
  void usageSaysWhichTiersThePromptCameFrom(String stream) {
    CompletableFuture<HttpResponse<String>> response = chat(stream + ",\"n\":2");
    ConversationEvent first = gateway.topics().next();
    ConversationEvent second = gateway.topics().next();
    gateway.topics().end(first, 0, "stop", new Usage(100, 64, 3, new TierUsage(16, 8, 4, 500)));
    gateway.topics().end(second, 0, "stop", new Usage(100, 99, 3));
    String body = response.join().body();
    JsonNode details =
        GatewayFixture.json(body.substring(body.lastIndexOf("{\"id\"")))
            .at("/usage/prompt_tokens_details");
    assertThat(details.at("/cached_tokens").asInt()).isEqualTo(99);
    assertThat(details.at("/cached_host_tokens").asInt()).isEqualTo(16);
    assertThat(details.at("/cached_disk_tokens").asInt()).isEqualTo(8);
    assertThat(details.at("/cached_remote_tokens").asInt()).isEqualTo(4);
  }

  @Test
  void usageHasNoTiersWhereThereAreNone() {
    CompletableFuture<HttpResponse<String>> response = chat("");
    gateway.topics().end(gateway.topics().next(), 0, "stop", new Usage(100, 64, 3));
    assertThat(response.join().body()).contains("\"prompt_tokens_details\":{\"cached_tokens\":64}");
  }

  @ParameterizedTest
  @EnumSource(names = {"BUSY", "SESSION_ENDED"})
  void aTurnWhoseSessionHasTooMuchToDoOrWasErasedGoesOnInOneOfItsOwn(ErrorCode why) {
    CompletableFuture<HttpResponse<String>> response = chat("");
    ConversationEvent event = gateway.topics().next();
    gateway.topics().reject(event, new ReplyError(why, "16 turns wait"));
    ConversationEvent again = gateway.topics().next();
    assertThat(again.session()).isNotEqualTo(event.session());
    gateway.topics().piece(again, 0, "a");
    gateway.topics().end(again, 1, "stop", Usage.NONE);
    assertThat(response.join().statusCode()).isEqualTo(200);
    assertThat(response.join().headers().firstValue("X-Radixflow-Session"))
        .hasValue(again.session());
  }

  @Test
  void aRequestWithAnIdempotencyKeyGoesOnWhereItsTurnIs() {
    List<ConversationEvent> events = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      CompletableFuture<HttpResponse<String>> response = chat("", "Idempotency-Key", "k1");
      ConversationEvent event = gateway.topics().next();
      events.add(event);
      ConversationEvent query = gateway.topics().next();
      assertThat(query.kind()).isEqualTo(EventKind.QUERY);
      assertThat(query.atTurn()).isEqualTo(event.turn());
      gateway.topics().running(query, "abc");
      gateway.topics().piece(event, 3, "d");
      gateway.topics().end(event, 4, "stop", Usage.NONE);
      JsonNode json = GatewayFixture.json(response.join().body());
      assertThat(json.at("/choices/0/message/content").asText()).isEqualTo("abcd");
    }
    assertThat(events.get(1).session()).isEqualTo(events.get(0).session());
    assertThat(events.get(1).turn()).isEqualTo(events.get(0).turn());
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(gateway.followed()).isZero());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"stream\":true"})
  void anotherRequestWithAnIdempotencyKeyIsRefusedAndHearsNothingOfTheFirst(String stream) {
    String[] key = {"Idempotency-Key", "k1"};
    CompletableFuture<HttpResponse<String>> response = chat(stream, key);
    ConversationEvent event = gateway.topics().next();
    gateway.topics().running(gateway.topics().next(), "", event.metadata());
    gateway.topics().piece(event, 0, "secret");
    CompletableFuture<HttpResponse<String>> other = chat(",\"temperature\":0.5" + stream, key);
    ConversationEvent again = gateway.topics().next();
    assertThat(again.turn()).isEqualTo(event.turn());
    gateway.topics().piece(event, 6, " word");
    gateway.topics().running(gateway.topics().next(), "secret word", event.metadata());

    assertThat(other.join().statusCode()).isEqualTo(422);
    assertThat(other.join().body()).contains("idempotency_key_reused").doesNotContain("secret");
    CompletableFuture<HttpResponse<String>> same = chat(stream, key);
    gateway.topics().next();
    gateway.topics().running(gateway.topics().next(), "secret word", event.metadata());
    gateway.topics().end(event, 11, "stop", Usage.NONE);
    assertThat(response.join().body()).contains("secret").contains("word");
    assertThat(same.join().body()).contains("secret word");
    assertThat(gateway.topics().hasEvents()).isFalse();
  }

  @Test
  void aRequestThatIsSentAgainAfterItsSessionHadTooMuchToDoFindsItsTurn() {
    String[] key = {"Idempotency-Key", "k1"};
    CompletableFuture<HttpResponse<String>> response = chat("", key);
    ConversationEvent event = gateway.topics().next();
    gateway.topics().next();
    gateway.topics().reject(event, new ReplyError(ErrorCode.BUSY, "16 turns wait"));
    ConversationEvent spare = gateway.topics().next();
    gateway.topics().running(gateway.topics().next(), "ab");
    CompletableFuture<HttpResponse<String>> again = chat("", key);
    assertThat(gateway.topics().next().session()).isEqualTo(event.session());
    gateway
        .topics()
        .reject(gateway.topics().next(), new ReplyError(ErrorCode.UNKNOWN_TURN, "no such turn"));
    ConversationEvent found = gateway.topics().next();
    assertThat(found.session()).isEqualTo(spare.session());
    assertThat(found.turn()).isEqualTo(spare.turn());
    gateway.topics().running(gateway.topics().next(), "ab");
    gateway.topics().end(spare, 2, "stop", Usage.NONE);
    assertThat(again.join().statusCode()).isEqualTo(200);
    assertThat(GatewayFixture.json(again.join().body()).at("/choices/0/message/content").asText())
        .isEqualTo("ab");
    assertThat(response.join().body()).contains("ab");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ",\"stream\":true"})
  void aRequestThatIsSentAgainSaysWhenItWasFirstSent(String stream) {
    for (int sent = 0; sent < 2; sent++) {
      CompletableFuture<HttpResponse<String>> response = chat(stream, "Idempotency-Key", "k1");
      ConversationEvent event = gateway.topics().next();
      assertThat(event.metadata()).containsKey("radixflow.created");
      gateway.topics().running(gateway.topics().next(), "ab", Map.of("radixflow.created", "77"));
      gateway.topics().end(event, 2, "stop", Usage.NONE);
      assertThat(response.join().body()).contains("\"created\":77,");
    }
  }

  @Test
  void aRequestOfANamedConversationIsServedWhenItIsSentAgainAfterItWasRejected() {
    String[] key = {"Idempotency-Key", "k1", "X-Conversation-Id", "c"};
    CompletableFuture<HttpResponse<String>> busy = chat("", key);
    ConversationEvent event = gateway.topics().next();
    gateway.topics().next();
    gateway.topics().reject(event, new ReplyError(ErrorCode.BUSY, "16 turns wait"));
    assertThat(busy.join().statusCode()).isEqualTo(429);
    CompletableFuture<HttpResponse<String>> again = chat("", key);
    assertThat(gateway.topics().next().turn()).isEqualTo(event.turn());
    ReplyError why = new ReplyError(ErrorCode.UNKNOWN_SESSION, "no such session");
    gateway.topics().reject(gateway.topics().next(), why);
    ConversationEvent next = gateway.topics().next();
    assertThat(next.session()).isEqualTo(event.session());
    assertThat(next.turn()).isNotEqualTo(event.turn());
    gateway.topics().running(gateway.topics().next(), "ab");
    gateway.topics().end(next, 2, "stop", Usage.NONE);
    assertThat(again.join().statusCode()).isEqualTo(200);
    assertThat(again.join().headers().firstValue("X-Radixflow-Turn")).hasValue(next.turn());
  }

  @Test
  void aKeyWhoseTurnIsKnownNowhereIsLookedForInFewSessions() {
    CompletableFuture<HttpResponse<String>> response = chat("", "Idempotency-Key", "k1");
    int sessions = 0;
    while (!response.isDone()) {
      if (!gateway.topics().hasEvents()) {
        Thread.onSpinWait();
        continue;
      }
      ConversationEvent event = gateway.topics().next();
      if (event.kind() == EventKind.QUERY) {
        sessions++;
        gateway.topics().reject(event, new ReplyError(ErrorCode.UNKNOWN_TURN, "no such turn"));
      }
    }
    assertThat(sessions).isEqualTo(5);
    assertThat(response.join().statusCode()).isEqualTo(404);
  }

  @Test
  void whatWasMissedWhileATopicCouldNotBeReadIsAskedFor() {
    CompletableFuture<HttpResponse<String>> response = chat("");
    ConversationEvent event = gateway.topics().next();
    gateway.topics().piece(event, 0, "ab");
    gateway.topics().interrupt();
    ConversationEvent lost = gateway.topics().next();
    assertThat(lost.kind()).isEqualTo(EventKind.QUERY);
    gateway.topics().interrupt();
    ConversationEvent query = gateway.topics().next();
    assertThat(query.atTurn()).isEqualTo(event.turn());
    gateway.topics().running(query, "abcd");
    gateway.topics().piece(event, 4, "e");
    gateway.topics().end(event, 5, "stop", Usage.NONE);
    JsonNode json = GatewayFixture.json(response.join().body());
    assertThat(json.at("/choices/0/message/content").asText()).isEqualTo("abcde");
    assertThat(gateway.followed()).isZero();
  }

  @Test
  void anEventThatTheBrokersDoNotTakeIsUnavailable() {
    gateway.topics().refuse();
    HttpResponse<String> response = chat("").join();
    assertThat(response.statusCode()).isEqualTo(503);
    assertThat(response.headers().firstValue("Retry-After")).isPresent();
  }

  @Test
  void aClientThatGoesAwayCancelsItsTurn() throws IOException {
    CompletableFuture<HttpResponse<InputStream>> opened =
        gateway.open(gateway.post(PATH, HELLO.formatted(",\"stream\":true")));
    ConversationEvent event = gateway.topics().next();
    gateway.topics().piece(event, 0, "Hi");
    HttpResponse<InputStream> response = opened.join();
    response.body().close();
    ConversationEvent cancel = gateway.topics().next();
    assertThat(cancel.kind()).isEqualTo(EventKind.CANCEL);
    assertThat(cancel.session()).isEqualTo(event.session());
    assertThat(cancel.turn()).isEqualTo(event.turn());
  }

  @Test
  void anAwaitedCommitIsTheEnd() {
    CompletableFuture<HttpResponse<String>> response = chat("", "X-Await-Commit", "true");
    ConversationEvent event = gateway.topics().next();
    gateway.topics().piece(event, 0, "Hi");
    gateway.topics().end(event, 2, "stop", new Usage(3, 0, 2));
    gateway.topics().commit(event, "Hi!");
    JsonNode json = GatewayFixture.json(response.join().body());
    assertThat(json.at("/choices/0/message/content").asText()).isEqualTo("Hi!");
    assertThat(json.at("/usage/prompt_tokens").asInt()).isEqualTo(7);
  }

  @Test
  void unknownFieldsAreIgnoredAndNamedUnlessTheRequestIsStrict() {
    CompletableFuture<HttpResponse<String>> response =
        chat(
            ",\"num_ctx\":5,\"user\":\"u\\n\",\"keep\\r\\nx\":1,\"tools\":[],\"mirostat\":null,"
                + "\"stream\":true,\"stream_options\":{\"include_obfuscation\":true}");
    ConversationEvent event = gateway.topics().next();
    gateway.topics().end(event, 0, "stop", Usage.NONE);
    assertThat(response.join().statusCode()).isEqualTo(200);
    assertThat(response.join().headers().firstValue("X-Radixflow-Ignored").orElseThrow())
        .contains("num_ctx")
        .contains("stream_options.include_obfuscation")
        .contains("keep??x")
        .doesNotContain("mirostat");
    HttpResponse<String> strict = chat(",\"num_ctx\":5", "X-Radixflow-Strict", "true").join();
    assertThat(strict.statusCode()).isEqualTo(400);
    assertThat(GatewayFixture.json(strict.body()).at("/error/param").asText()).isEqualTo("num_ctx");
  }

  @Test
  void whatWouldChangeTheMeaningIsRefusedByName() {
    for (String field :
        List.of(
            "\"tools\":[{\"type\":\"function\"}]",
            "\"audio\":{\"voice\":\"x\"}",
            "\"response_format\":5",
            "\"n\":0",
            "\"temperature\":9",
            "\"stop\":5")) {
      HttpResponse<String> response = chat("," + field).join();
      assertThat(response.statusCode()).as(field).isEqualTo(400);
      String name = field.substring(1, field.indexOf('"', 1));
      assertThat(GatewayFixture.json(response.body()).at("/error/param").asText()).isEqualTo(name);
    }
  }

  @Test
  void messagesAreReadAsTolerantlyAsClientsWriteThem() {
    String messages =
        "{\"messages\":["
            + "{\"role\":\"system\",\"content\":[{\"type\":\"text\","
            + "\"text\":\"x-anthropic-billing-header: cch=1\"}]},"
            + "{\"role\":\"developer\",\"content\":\"Be brief.\"},"
            + "{\"role\":\"user\",\"name\":\"bob\",\"content\":[{\"type\":\"text\",\"text\":\"a\"},"
            + "{\"type\":\"text\",\"text\":\"b\"}]},"
            + "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":null},"
            + "{\"role\":\"user\",\"content\":\"lone \\ud800\"}]}";
    gateway.send(gateway.post(PATH, messages));
    assertThat(gateway.topics().next().messages())
        .containsExactly(
            new Message("system", "Be brief."),
            new Message("user", "ab", "bob", List.of(), null, null),
            new Message("assistant", ""),
            new Message("user", "lone \uFFFD"));
  }

  @Test
  void whatOtherServersTakeAsAMessageIsServed() {
    gateway.send(
        gateway.post(
            PATH,
            "{\"top_p\":0,\"stop\":[\"\"],\"messages\":["
                + "{\"role\":\"user\",\"name\":\"Ada Lovelace\",\"content\":[\"a\",\"b\"]},"
                + "{\"role\":\"user\",\"name\":\"\",\"content\":\"\"}]}"));
    ConversationEvent event = gateway.topics().next();
    assertThat(event.messages())
        .containsExactly(
            new Message("user", "ab", "Ada Lovelace", List.of(), null, null),
            new Message("user", ""));
    assertThat(event.options().topP()).isEqualTo(1e-6);
    gateway.send(
        gateway.post(PATH, "{\"messages\":[{\"role\":\"system\",\"content\":\"Tell a joke\"}]}"));
    assertThat(gateway.topics().next().messages())
        .containsExactly(new Message("system", "Tell a joke"));
  }

  @Test
  void aReplyMayComeBackWithAnyNumberOfCalls() {
    String call = "{\"id\":\"c\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}";
    gateway.send(
        gateway.post(
            PATH,
            "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"tool_calls\":["
                + String.join(",", Collections.nCopies(200, call))
                + "]}]}"));
    assertThat(gateway.topics().next().messages().get(1).toolCalls()).hasSize(200);
  }

  @Test
  void noBodyIsAnErrorOfTheServer() {
    List<String> bodies = new ArrayList<>();
    for (String value :
        List.of("null", "5", "\"x\"", "[]", "[5]", "{}", "[{}]", "[null]", "true")) {
      for (String field :
          List.of("messages", "stream", "stream_options", "model", "n", "stop", "logit_bias")) {
        bodies.add("{\"" + field + "\":" + value + "}");
      }
      if (!value.equals("\"x\"")) {
        bodies.add("{\"messages\":[{\"role\":" + value + ",\"content\":\"x\"}]}");
        bodies.add("{\"messages\":[{\"role\":\"user\",\"content\":" + value + "}]}");
        bodies.add(
            "{\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
                + value
                + ",\"text\":"
                + value
                + "}]}]}");
      }
      bodies.add(
          "{\"messages\":[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":"
              + value
              + "}]}]}");
    }
    for (String body : bodies) {
      assertThat(gateway.send(gateway.post(PATH, body)).join().statusCode())
          .as(body)
          .isBetween(400, 404);
    }
    assertThat(gateway.topics().hasEvents()).isFalse();
  }

  @Test
  void aStreamWithoutEventsIsKeptAlive() throws IOException {
    gateway.restart("gateway.keep-alive=20ms");
    CompletableFuture<HttpResponse<InputStream>> opened =
        gateway.open(gateway.post(PATH, HELLO.formatted(",\"stream\":true")));
    BufferedReader lines = GatewayFixture.lines(opened.join());
    assertThat(lines.readLine()).isEqualTo(": keep-alive");
    ConversationEvent event = gateway.topics().next();
    gateway.topics().reject(event, "too late for a status");
    String line = lines.readLine();
    while (!line.startsWith("data: ")) {
      line = lines.readLine();
    }
    assertThat(line).contains("too late for a status");
  }

  @Test
  void aTurnWhoseClientHasGoneIsNotFollowed() throws IOException {
    CompletableFuture<HttpResponse<InputStream>> opened =
        gateway.open(gateway.post(PATH, HELLO.formatted(",\"stream\":true")));
    ConversationEvent event = gateway.topics().next();
    gateway.topics().piece(event, 0, "Hi");
    assertThat(gateway.followed()).isOne();
    opened.join().body().close();
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(gateway.followed()).isZero());
  }
}
