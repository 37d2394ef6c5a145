package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.gateway.Gateway;
import io.radixflow.jobs.ServingSettings;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Talks HTTP to a gateway in front of a broker and a job with the simulated model. */
class GatewayITCase {

  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final ObjectMapper MAPPER = new ObjectMapper();

  private static Threads threads;
  private static LocalStack stack;
  private static Gateway gateway;
  private static ExecutorService executor;
  private static HttpClient client;

  @BeforeAll
  static void start() throws IOException {
    executor = Executors.newCachedThreadPool();
    // its own thread ends when the client is collected
    client = HttpClient.newBuilder().executor(executor).build();
    threads = Threads.running();
    Settings settings =
        new SettingsLoader()
            .set(
                List.of(
                    "model=sim",
                    "job.checkpoint-interval=200ms",
                    "gateway.port=0",
                    "kv-events.enabled=true",
                    "session.index=true"))
            .load();
    stack =
        LocalStack.start(
            settings,
            new LocalStack.Options(Optional.empty(), true, 0, 0),
            ServingSettings.engine(settings, name -> SimModel.open(SimOptions.DEFAULT)),
            line -> {});
    gateway =
        Gateway.start(
            stack.settings().with(GatewayConfig.FLINK_URL, stack.webInterface().toString()));
  }

  @AfterAll
  static void stopLeavesNoThread() throws IOException {
    executor.shutdown();
    gateway.close();
    stack.close();
    threads.assertNoneLeft();
  }

  private static HttpResponse<String> chat(String fields, String... headers) throws Exception {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(gateway.uri().resolve("/v1/chat/completions"))
            .timeout(PATIENCE)
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"messages\":[{\"role\":\"user\",\"content\":\"Say something\"}],"
                        + "\"temperature\":0,\"max_tokens\":20"
                        + fields
                        + "}"));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void aStreamedCompletionHasTheTextOfTheWholeOneAndOfTheCommittedOne() throws Exception {
    JsonNode whole = MAPPER.readTree(chat("").body());
    String text = whole.at("/choices/0/message/content").asText();
    assertThat(text).isNotEmpty();
    assertThat(whole.at("/usage/completion_tokens").asInt()).isPositive();
    StringBuilder streamed = new StringBuilder();
    String events = chat(",\"stream\":true").body();
    assertThat(events).endsWith("data: [DONE]\n\n");
    for (String line : events.split("\n")) {
      if (line.startsWith("data: {")) {
        JsonNode chunk = MAPPER.readTree(line.substring(6));
        streamed.append(chunk.at("/choices/0/delta/content").asText());
      }
    }
    assertThat(streamed.toString()).isEqualTo(text);
    JsonNode committed = MAPPER.readTree(chat("", "X-Await-Commit", "true").body());
    assertThat(committed.at("/choices/0/message/content").asText()).isEqualTo(text);
  }

  @Test
  void aTurnThatTheJobRejectsIsTheClientsError() throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(gateway.uri().resolve("/v1/chat/completions"))
            .timeout(PATIENCE)
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"messages\":[{\"role\":\"user\",\"content\":\""
                        + "many ".repeat(100_000)
                        + "\"}]}"))
            .build();
    HttpResponse<String> response = client.send(request, HttpResponse.BodyHandlers.ofString());
    assertThat(response.statusCode()).isEqualTo(400);
    assertThat(MAPPER.readTree(response.body()).at("/error/message").asText()).isNotBlank();
  }

  @Test
  void aConversationThatIsSentAgainGoesOnInItsSession() throws Exception {
    String asked = "{\"role\":\"user\",\"content\":\"Tell me of the sea and of the ships on it\"}";
    JsonNode first = send("[" + asked + "]");
    String text = first.at("/choices/0/message/content").asText();
    assertThat(text).isNotEmpty();
    String reply =
        MAPPER.createObjectNode().put("role", "assistant").put("content", text).toString();
    String more = asked + "," + reply + ",{\"role\":\"user\",\"content\":\"And more?\"}";
    JsonNode second = send("[" + more + "]");
    assertThat(second.at("/usage/prompt_tokens_details/cached_tokens").asInt())
        .isGreaterThan(first.at("/usage/prompt_tokens").asInt() / 2);
    JsonNode edited = send("[" + more.replace("And more?", "No, of the land.") + "]");
    assertThat(edited.at("/choices/0/message/content").asText()).isNotEmpty();
  }

  private static JsonNode send(String messages) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(gateway.uri().resolve("/v1/chat/completions"))
            .timeout(PATIENCE)
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"max_tokens\":20,\"temperature\":0,\"messages\":" + messages + "}"))
            .build();
    return MAPPER.readTree(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
  }

  @Test
  void logProbabilitiesAreOfEveryToken() throws Exception {
    JsonNode json = MAPPER.readTree(chat(",\"logprobs\":true,\"top_logprobs\":2").body());
    JsonNode tokens = json.at("/choices/0/logprobs/content");
    StringBuilder text = new StringBuilder();
    for (JsonNode token : tokens) {
      assertThat(token.at("/logprob").asDouble()).isLessThanOrEqualTo(0);
      assertThat(token.at("/top_logprobs").size()).isEqualTo(2);
      text.append(token.at("/token").asText());
    }
    assertThat(text.toString()).startsWith(json.at("/choices/0/message/content").asText());
    String streamed = chat(",\"stream\":true,\"logprobs\":true").body();
    int count = 0;
    for (String line : streamed.split("\n")) {
      if (line.startsWith("data: {")) {
        count += MAPPER.readTree(line.substring(6)).at("/choices/0/logprobs/content").size();
      }
    }
    assertThat(count).isEqualTo(tokens.size());
  }

  @Test
  void promptsAreCompleted() throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(gateway.uri().resolve("/v1/completions"))
            .timeout(PATIENCE)
            .POST(
                HttpRequest.BodyPublishers.ofString(
                    "{\"prompt\":[\"Once\",\"Twice\"],\"max_tokens\":9,\"ignore_eos\":true,"
                        + "\"logprobs\":1}"))
            .build();
    JsonNode json =
        MAPPER.readTree(client.send(request, HttpResponse.BodyHandlers.ofString()).body());
    assertThat(json.at("/choices").size()).isEqualTo(2);
    assertThat(json.at("/choices/1/text").asText()).isNotEmpty();
    assertThat(json.at("/choices/1/logprobs/tokens").size()).isEqualTo(9);
    assertThat(json.at("/usage/completion_tokens").asInt()).isEqualTo(18);
  }

  @Test
  void choicesOfOneRequestComeTogether() throws Exception {
    JsonNode json = MAPPER.readTree(chat(",\"n\":3,\"seed\":5").body());
    assertThat(json.at("/choices").size()).isEqualTo(3);
    json.at("/choices")
        .forEach(choice -> assertThat(choice.at("/message/content").asText()).isNotEmpty());
  }

  @Test
  void aRequestThatIsSentAgainWithItsIdempotencyKeyHasTheSameReplyOnAnyGateway() throws Exception {
    String[] key = {"Idempotency-Key", "once"};
    String first = MAPPER.readTree(chat("", key).body()).at("/choices/0/message/content").asText();
    assertThat(first).isNotEmpty();
    String committed =
        MAPPER
            .readTree(chat("", "Idempotency-Key", "once", "X-Await-Commit", "true").body())
            .at("/choices/0/message/content")
            .asText();
    assertThat(committed).isEqualTo(first);
    Gateway before = gateway;
    try (Gateway other = Gateway.start(stack.settings())) {
      gateway = other;
      JsonNode again = MAPPER.readTree(chat("", key).body());
      assertThat(again.at("/choices/0/message/content").asText()).isEqualTo(first);
      assertThat(again.at("/usage/completion_tokens").asInt()).isPositive();
    } finally {
      gateway = before;
    }
  }

  private static HttpRequest keyed(Gateway at, String path, String body) {
    return HttpRequest.newBuilder(at.uri().resolve(path))
        .timeout(PATIENCE)
        .header("Idempotency-Key", "key of " + body)
        .POST(HttpRequest.BodyPublishers.ofString(body))
        .build();
  }

  /** Reads events of a stream until one has the field, or to its end; returns their data. */
  private static List<JsonNode> read(BufferedReader lines, String untilField) throws IOException {
    List<JsonNode> events = new ArrayList<>();
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.startsWith("data: {")) {
        events.add(MAPPER.readTree(line.substring("data: ".length())));
        if (untilField != null && events.get(events.size() - 1).at(untilField).isTextual()) {
          break;
        }
      }
    }
    return events;
  }

  private static String text(List<JsonNode> events, String field) {
    StringBuilder text = new StringBuilder();
    events.forEach(event -> text.append(event.at(field).asText("")));
    return text.toString();
  }

  private static BufferedReader open(HttpRequest request) throws Exception {
    InputStream body = client.send(request, HttpResponse.BodyHandlers.ofInputStream()).body();
    return new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
  }

  @Test
  void aChatThatIsSentAgainToAnotherGatewayWhileItRunsHasTheSameText() throws Exception {
    String field = "/choices/0/delta/content";
    String body =
        "{\"messages\":[{\"role\":\"user\",\"content\":\"Of the tide, at length\"}],"
            + "\"max_tokens\":200,\"ignore_eos\":true,\"stream\":true}";
    try (Gateway other = Gateway.start(stack.settings());
        BufferedReader first = open(keyed(gateway, "/v1/chat/completions", body))) {
      List<JsonNode> heard = new ArrayList<>(read(first, field));
      try (BufferedReader second = open(keyed(other, "/v1/chat/completions", body))) {
        String again = text(read(second, null), field);
        heard.addAll(read(first, null));
        assertThat(again).isNotEmpty().isEqualTo(text(heard, field));
      }
    }
  }

  @Test
  void aResponseGoesOnAtAnotherGatewayByItsNumberAndByItsKey() throws Exception {
    String body = "{\"input\":\"Of the tide\",\"max_output_tokens\":200,\"stream\":true}";
    try (Gateway other = Gateway.start(stack.settings());
        BufferedReader first = open(keyed(gateway, "/v1/responses", body))) {
      List<JsonNode> begun = read(first, "/delta");
      String id = begun.get(0).at("/response/id").asText();
      int number = begun.get(begun.size() - 1).at("/sequence_number").asInt();
      URI rest =
          other.uri().resolve("/v1/responses/" + id + "?stream=true&starting_after=" + number);
      try (BufferedReader resumed = open(HttpRequest.newBuilder(rest).timeout(PATIENCE).build());
          BufferedReader second = open(keyed(other, "/v1/responses", body))) {
        List<JsonNode> ended = read(first, null);
        List<JsonNode> joint = read(resumed, null);
        String whole = text(begun, "/delta") + text(ended, "/delta");
        String joined = text(begun, "/delta") + text(joint, "/delta");
        assertThat(joined).isNotEmpty().isEqualTo(whole);
        List<JsonNode> again = read(second, null);
        assertThat(text(again, "/delta")).isEqualTo(whole);
        assertThat(again.get(0)).isEqualTo(begun.get(0));
        JsonNode last = ended.get(ended.size() - 1);
        assertThat(again.get(again.size() - 1)).isEqualTo(last);
        assertThat(joint.get(joint.size() - 1)).isEqualTo(last);
      }
    }
  }

  @Test
  void aConversationIsListedUntilItIsErased() throws Exception {
    URI all = gateway.uri().resolve("/v1/conversations");
    HttpRequest create =
        HttpRequest.newBuilder(all).POST(HttpRequest.BodyPublishers.ofString("{}")).build();
    String id = MAPPER.readTree(text(create)).at("/id").asText();
    assertThat(respond(id).statusCode()).isEqualTo(200);
    await().atMost(PATIENCE).until(() -> titles(gateway, id).equals(List.of("Say something")));
    try (Gateway other = Gateway.start(stack.settings())) {
      await().atMost(PATIENCE).until(() -> titles(other, id).equals(List.of("Say something")));
    }
    text(HttpRequest.newBuilder(URI.create(all + "/" + id)).DELETE().build());
    await().atMost(PATIENCE).until(() -> titles(gateway, id).isEmpty());
  }

  private static List<String> titles(Gateway at, String id) throws Exception {
    URI uri = at.uri().resolve("/v1/conversations?search=" + id);
    return MAPPER
        .readTree(text(HttpRequest.newBuilder(uri).build()))
        .get("data")
        .findValuesAsText("title");
  }

  private static String text(HttpRequest request) throws Exception {
    return client.send(request, HttpResponse.BodyHandlers.ofString()).body();
  }

  @Test
  void anotherRequestWithAUsedKeyIsRefused() throws Exception {
    String[] key = {"Idempotency-Key", "used"};
    assertThat(chat("", key).statusCode()).isEqualTo(200);
    HttpResponse<String> other = chat(",\"seed\":1", key);
    assertThat(other.statusCode()).as(other.body()).isEqualTo(422);
    assertThat(MAPPER.readTree(other.body()).at("/error/code").asText())
        .isEqualTo("idempotency_key_reused");
    assertThat(chat(",\"stream\":true", key).statusCode()).isEqualTo(200);
  }

  private static HttpResponse<String> respond(String conversation, String... key) throws Exception {
    String body =
        "{\"input\":\"Say something\",\"max_output_tokens\":5,\"conversation\":\""
            + conversation
            + "\"}";
    HttpRequest.Builder request =
        HttpRequest.newBuilder(gateway.uri().resolve("/v1/responses"))
            .timeout(PATIENCE)
            .POST(HttpRequest.BodyPublishers.ofString(body));
    if (key.length > 0) {
      request.headers(key);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static void drain(ConversationClient control, String value) {
    String event = "{\"type\":\"drain\",\"value\":\"" + value + "\"}";
    control
        .send(
            stack.settings().get(KafkaConfig.CONTROL_TOPIC),
            null,
            event.getBytes(StandardCharsets.UTF_8))
        .join();
  }

  @Test
  void aRequestThatTheJobRejectedIsServedWhenItIsSentAgainWithItsKey() throws Exception {
    HttpRequest create =
        HttpRequest.newBuilder(gateway.uri().resolve("/v1/conversations"))
            .timeout(PATIENCE)
            .POST(HttpRequest.BodyPublishers.ofString("{}"))
            .build();
    HttpResponse<String> created = client.send(create, HttpResponse.BodyHandlers.ofString());
    String id = MAPPER.readTree(created.body()).at("/id").asText();
    String[] key = {"Idempotency-Key", "rejected"};
    try (ConversationClient control = new ConversationClient(stack.settings())) {
      try {
        drain(control, "on");
        await().atMost(PATIENCE).until(() -> respond(id).statusCode() == 503);
        assertThat(respond(id, key).statusCode()).isEqualTo(503);
        assertThat(respond(id, key).statusCode()).isEqualTo(503);
      } finally {
        drain(control, "off");
      }
      await().atMost(PATIENCE).until(() -> respond(id).statusCode() == 200);
    }
    HttpResponse<String> served = respond(id, key);
    assertThat(served.statusCode()).as(served.body()).isEqualTo(200);
    HttpResponse<String> again = respond(id, key);
    assertThat(MAPPER.readTree(again.body())).isEqualTo(MAPPER.readTree(served.body()));
  }

  @Test
  void theLivePageHasFiguresOfTheJob() throws Exception {
    chat("");
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              JsonNode figures = MAPPER.readTree(get("/live/metrics").body());
              assertThat(figures.at("/status").asText()).isEqualTo("ok");
              assertThat(figures.at("/uptime_ms").asLong()).isPositive();
              assertThat(figures.at("/metrics/turnsAccepted").asInt()).isPositive();
              assertThat(figures.at("/metrics/engineTokensGenerated").asInt()).isPositive();
              assertThat(figures.at("/metrics/timeToFirstTokenMillis_p99").isNumber()).isTrue();
              assertThat(figures.at("/metrics/pages").asInt()).isPositive();
              assertThat(figures.at("/checkpoints/completed").asInt()).isPositive();
            });
  }

  @Test
  void theLivePageShowsThePrefixThatConversationsShare() throws Exception {
    String rules = "Answer as a captain of a ship would. ".repeat(20);
    String system = "{\"role\":\"system\",\"content\":\"" + rules + "\"},";
    for (String question : List.of("Where are we?", "How deep is it?", "Who goes there?")) {
      send("[" + system + "{\"role\":\"user\",\"content\":\"" + question + "\"}]");
    }
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              JsonNode tree = MAPPER.readTree(get("/live/tree").body());
              assertThat(tree.at("/status").asText()).isEqualTo("ok");
              assertThat(tree.at("/engines/0/nodes"))
                  .anyMatch(
                      node -> node.at("/ends").asInt() >= 3 && node.at("/tokens").asInt() > 100);
              assertThat(tree.toString()).doesNotContain("captain", "chat_");
            });
  }

  private static HttpResponse<String> get(String path) throws Exception {
    HttpRequest request =
        HttpRequest.newBuilder(gateway.uri().resolve(path)).timeout(PATIENCE).build();
    return client.send(request, HttpResponse.BodyHandlers.ofString());
  }

  @Test
  void theGatewayIsReady() {
    HttpRequest request =
        HttpRequest.newBuilder(gateway.uri().resolve("/ready")).timeout(PATIENCE).build();
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () ->
                assertThat(client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode())
                    .isEqualTo(200));
  }
}
