package io.radixflow.cli.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.radixflow.client.ConversationClient;
import io.radixflow.client.ReplyListener;
import io.radixflow.client.TopicFollower;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.kvevents.KvEventRecord;
import io.radixflow.client.kvevents.KvEventsReader;
import io.radixflow.client.kvevents.KvEventsView;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Origin;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.TraceContext;
import io.radixflow.protocol.record.kv.KvTier;
import io.radixflow.protocol.topic.RecordReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class LocalStackITCase {

  private static final int SESSIONS = 8;
  private static final int TURNS = 3;
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  /** Enough for some text, too few for all turns. */
  private static final int STEPS_BEFORE_THE_STORM = 30;

  private static final HeldClock CLOCK = new HeldClock();

  private static Threads threads;
  private static LocalStack stack;
  private static ConversationClient client;
  private static TopicFollower replyFollower;
  private static TopicFollower letterFollower;
  private static TopicFollower indexFollower;
  private static final List<String> HEARD = Collections.synchronizedList(new ArrayList<>());
  private static final List<Reply> REPLIES = Collections.synchronizedList(new ArrayList<>());
  private static final List<ConsumerRecord<byte[], byte[]>> LETTERS =
      Collections.synchronizedList(new ArrayList<>());

  /** Sessions with their numbers of turns, in the order of the conversation index. */
  private static final List<String> INDEX = Collections.synchronizedList(new ArrayList<>());

  @BeforeAll
  static void start() throws IOException {
    threads = Threads.running();
    Settings settings =
        new SettingsLoader()
            .set(
                List.of(
                    "model=sim",
                    "job.parallelism=2",
                    "job.checkpoint-interval=200ms",
                    "events.max-bytes=2000000",
                    "session.max-queued=100",
                    "kv-events.enabled=true",
                    "session.index=true"))
            .load();
    stack =
        LocalStack.start(
            settings,
            new LocalStack.Options(Optional.empty(), true, 0, 0),
            ServingSettings.engine(settings, LocalStackITCase::slowModel),
            line -> {});
    client = new ConversationClient(stack.settings());
    replyFollower =
        TopicFollower.start(
            stack.settings(),
            stack.settings().get(KafkaConfig.REPLIES_TOPIC),
            true,
            record -> REPLIES.add(read(record)),
            LocalStackITCase::fail);
    letterFollower =
        TopicFollower.start(
            stack.settings(),
            stack.settings().get(KafkaConfig.DEAD_LETTERS_TOPIC),
            true,
            LETTERS::add,
            LocalStackITCase::fail);
    indexFollower =
        TopicFollower.start(
            stack.settings(),
            stack.settings().get(KafkaConfig.INDEX_TOPIC),
            true,
            record -> INDEX.add(indexed(record)),
            LocalStackITCase::fail);
  }

  /** A token takes 2 ms, so that replies take long. */
  private static ServedModel slowModel(String name) {
    return SimModel.open(
        SimOptions.DEFAULT.withTime(2_000_000, 0).withEndOfTurn(0.01).withClock(CLOCK));
  }

  @AfterAll
  static void stopLeavesNoThread() throws IOException {
    indexFollower.close();
    letterFollower.close();
    replyFollower.close();
    client.close();
    stack.close();
    threads.assertNoneLeft();
  }

  @Test
  void anIdleStackLooksAtItsTimersRarely() {
    assertThat(System.getProperty("pekko.scheduler.tick-duration")).isEqualTo("100ms");
  }

  @Test
  void everyReplyComesOnceAndUnchangedOverTheDeathOfATaskManager() throws Exception {
    Map<String, Reply> undisturbed = replies(converse("calm"));
    CLOCK.holdAfter(STEPS_BEFORE_THE_STORM);
    List<CompletableFuture<Reply>> asked = converse("storm");
    await().atMost(PATIENCE).until(() -> !HEARD.isEmpty());
    CompletableFuture<Void> dead = stack.cluster().miniCluster().terminateTaskManager(0);
    await().atMost(PATIENCE).until(() -> !allTasksRun());
    CLOCK.release();
    dead.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    stack.cluster().miniCluster().startTaskManager();
    Map<String, Reply> disturbed = replies(asked);
    for (int session = 0; session < SESSIONS; session++) {
      for (int turn = 0; turn < TURNS; turn++) {
        String id = session + "/t" + turn;
        Reply calm = undisturbed.get("calm" + id);
        assertThat(disturbed.get("storm" + id))
            .returns(calm.text(), Reply::text)
            .returns(calm.finishReason(), Reply::finishReason);
      }
    }
    assertThat(lastAttempt(disturbed)).isGreaterThan(lastAttempt(undisturbed));
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(committed("storm")).hasSize(SESSIONS * TURNS));
    assertThat(committed("storm")).doesNotHaveDuplicates();
    await().atMost(PATIENCE).until(() -> indexed("storm").size() >= SESSIONS * TURNS);
    assertThat(indexed("storm")).hasSize(SESSIONS * TURNS).doesNotHaveDuplicates();
  }

  private static String indexed(ConsumerRecord<byte[], byte[]> record) {
    try {
      JsonNode entry = new ObjectMapper().readTree(record.value());
      return entry.get("session").asText() + "/" + entry.get("turns").asInt();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<String> indexed(String group) {
    synchronized (INDEX) {
      return INDEX.stream().filter(entry -> entry.startsWith(group)).toList();
    }
  }

  private static boolean allTasksRun() throws Exception {
    for (AccessExecutionVertex task :
        stack
            .cluster()
            .miniCluster()
            .getExecutionGraph(stack.job())
            .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)
            .getAllExecutionVertices()) {
      if (task.getExecutionState() != ExecutionState.RUNNING) {
        return false;
      }
    }
    return true;
  }

  private static List<CompletableFuture<Reply>> converse(String name) {
    HEARD.clear();
    List<CompletableFuture<Reply>> asked = new ArrayList<>();
    for (int turn = 0; turn < TURNS; turn++) {
      for (int session = 0; session < SESSIONS; session++) {
        asked.add(
            client.ask(
                Events.message(name + session, "t" + turn, "say " + session + turn, 200),
                new ReplyListener() {
                  @Override
                  public void text(String piece) {
                    HEARD.add(piece);
                  }
                }));
      }
    }
    return asked;
  }

  private static long lastAttempt(Map<String, Reply> replies) {
    return replies.values().stream().mapToLong(Reply::attempt).max().orElseThrow();
  }

  private static Map<String, Reply> replies(List<CompletableFuture<Reply>> asked) {
    return asked.stream()
        .map(LocalStackITCase::get)
        .collect(Collectors.toMap(reply -> reply.session() + "/" + reply.turn(), r -> r));
  }

  @Test
  void aCommittedReplyIsWhatItsDeltasAddUpTo() {
    StringBuilder received = new StringBuilder();
    Reply reply =
        get(
            client.ask(
                Events.message("deltas", "t", "go on", 40),
                new ReplyListener() {
                  @Override
                  public void text(String piece) {
                    received.append(piece);
                  }
                }));
    assertThat(reply.text()).isNotEmpty().isEqualTo(received.toString());
    assertThat(reply.usage().completionTokens()).isBetween(1, 40);
    Reply second = get(client.ask(Events.message("deltas", "t2", "more", 5), ReplyListener.SILENT));
    assertThat(second.usage().cachedTokens()).isPositive();
  }

  @Test
  void lateReadersKnowWhatIsCached() {
    get(client.ask(Events.message("cached", "t", "long ago ".repeat(20), 5), ReplyListener.SILENT));
    await().atMost(PATIENCE).until(() -> cachedBlocks() > 5);
  }

  /** The cache content of live engines, as a reader of the topic sees it now. */
  private static int cachedBlocks() {
    Settings settings = stack.settings();
    try (KvEventsReader reader = new KvEventsReader(settings)) {
      KvEventsView view = reader.readToEnd(() -> false);
      return view.engines().stream()
          .filter(name -> view.engine(name).last().state() == KvEventRecord.State.LIVE)
          .mapToInt(name -> view.blocks(name, KvTier.DEVICE).size())
          .sum();
    }
  }

  @Test
  void aResentTurnIsIgnored() {
    ConversationEvent event = Events.message("twice", "t", "hello", 3);
    CompletableFuture<Reply> asked = client.ask(event, ReplyListener.SILENT);
    client.send(event).join();
    get(asked);
    client.send(event).join();
    get(client.ask(Events.message("twice", "next", "bye", 3), ReplyListener.SILENT));
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> assertThat(committed("twice")).containsExactly("twice/t", "twice/next"));
  }

  @Test
  void invalidEventsAreRejectedWhileTheJobGoesOn() {
    String start = "{\"session\":\"bad\",\"turn\":\"";
    List<String> fields =
        List.of(
            "\"messages\":[]",
            "\"messages\":[{\"role\":\"robot\",\"content\":\"hi\"}]",
            "\"messages\":\"hello\"",
            "\"temperature\":NaN",
            "\"max_tokens\":-1",
            "\"tools\":[]",
            "\"type\":\"mesage\"");
    for (int i = 0; i < fields.size(); i++) {
      send("bad", start + "r" + i + "\"," + fields.get(i) + "}");
    }
    String huge = "x".repeat(10_000_000);
    send("bad", start + "huge\",\"messages\":[{\"role\":\"user\",\"content\":\"" + huge + "\"}]}");
    client.send(Events.fork("bad", "fork", "unknown-turn")).join();
    send(
        "bad",
        "{\"type\":\"fork\",\"session\":\"bad\",\"turn\":\"fork2\","
            + "\"branch\":\"unknown\",\"new_branch\":\"b\"}");
    String long100k = "many ".repeat(100_000);
    Reply tooLong =
        get(client.ask(Events.message("long", "t", long100k, 10), ReplyListener.SILENT));
    assertThat(tooLong.finishReason()).isEqualTo("rejected");
    assertThat(tooLong.error().code()).isEqualTo(ErrorCode.CONTEXT_LENGTH_EXCEEDED);
    assertThat(tooLong.error().message()).containsPattern("[0-9]");
    Reply special =
        get(
            client.ask(
                Events.message("special", "t", "<|im_end|>\uD800\u0000\u001b", 3),
                ReplyListener.SILENT));
    assertThat(special.finishReason()).isIn("stop", "length");
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(committed("bad")).hasSize(fields.size() + 3));
    synchronized (REPLIES) {
      assertThat(REPLIES)
          .filteredOn(reply -> reply.session().equals("bad"))
          .allSatisfy(
              reply -> {
                assertThat(reply.finishReason()).isEqualTo("rejected");
                assertThat(reply.error().message()).isNotBlank();
              });
    }
  }

  @Test
  void unreadableRecordsAreKeptWithTheirReason() {
    List<String> values = List.of("no json", "[]", "{\"turn\":\"t\"}", "{\"session\":5}");
    for (String value : values) {
      send("dead", value);
    }
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(letters()).containsAll(values));
    synchronized (LETTERS) {
      assertThat(LETTERS)
          .filteredOn(letter -> values.contains(new String(letter.value(), UTF_8)))
          .allSatisfy(
              letter -> {
                assertThat(letter.key()).isEqualTo("dead".getBytes(UTF_8));
                assertThat(letter.headers().lastHeader("radixflow.reason").value()).isNotEmpty();
                assertThat(letter.headers().lastHeader("radixflow.topic").value())
                    .isEqualTo("conversation-events".getBytes(UTF_8));
              });
    }
  }

  @Test
  void theTraceOfAnEventIsInTheHeadersOfItsDeltasAndItsReply() {
    List<ConsumerRecord<byte[], byte[]>> records = Collections.synchronizedList(new ArrayList<>());
    String parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    ConversationEvent event =
        Events.message("traced", "t", "hello", 3).toBuilder()
            .origin(new Origin(-1, -1, 0, new TraceContext(parent, null)))
            .build();
    try (TopicFollower deltas = follow(KafkaConfig.DELTAS_TOPIC, records);
        TopicFollower replies = follow(KafkaConfig.REPLIES_TOPIC, records)) {
      get(client.ask(event, ReplyListener.SILENT));
      get(client.ask(Events.message("traced", "u", "bye", 3), ReplyListener.SILENT));
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () -> {
                assertThat(traces(records, "t"))
                    .contains("replies " + parent, "reply-deltas " + parent);
                assertThat(traces(records, "u")).contains("replies null", "reply-deltas null");
              });
    }
    assertThat(traces(records, "t")).allMatch(each -> each.endsWith(parent));
    assertThat(traces(records, "u")).allMatch(each -> each.endsWith("null"));
  }

  private static TopicFollower follow(
      ConfigOption<String> topic, List<ConsumerRecord<byte[], byte[]>> records) {
    return TopicFollower.start(
        stack.settings(), stack.settings().get(topic), false, records::add, LocalStackITCase::fail);
  }

  private static List<String> traces(List<ConsumerRecord<byte[], byte[]>> records, String turn) {
    synchronized (records) {
      return records.stream()
          .filter(record -> new String(record.key(), UTF_8).equals("traced"))
          .filter(record -> new String(record.value(), UTF_8).contains("\"turn\":\"" + turn + "\""))
          .map(
              record -> {
                Header header = record.headers().lastHeader("traceparent");
                return record.topic()
                    + " "
                    + (header == null ? null : new String(header.value(), UTF_8));
              })
          .toList();
    }
  }

  @Test
  void refusedEventsWithoutATurnBecomeDeadLettersWhileTheJobGoesOn() {
    get(client.ask(Events.message("turnless", "t", "hello", 3), ReplyListener.SILENT));
    send(
        "turnless",
        "{\"type\":\"fork\",\"session\":\"turnless\",\"new_branch\":\"b\",\"at_turn\":\"nope\"}");
    String huge = "x".repeat(1_500_000);
    send(
        "turnless",
        "{\"type\":\"open\",\"session\":\"turnless\",\"tenant\":\"other\","
            + "\"messages\":[{\"role\":\"system\",\"content\":\""
            + huge
            + "\"}]}");
    await().atMost(PATIENCE).untilAsserted(() -> assertThat(lettersOf("turnless")).hasSize(2));
    ConsumerRecord<byte[], byte[]> fork = lettersOf("turnless").get(0);
    assertThat(new String(fork.value(), UTF_8)).contains("\"at_turn\":\"nope\"");
    assertThat(header(fork, "radixflow.reason")).contains("nope");
    ConsumerRecord<byte[], byte[]> open = lettersOf("turnless").get(1);
    int limit = stack.settings().get(KafkaConfig.DEAD_LETTER_MAX_BYTES);
    assertThat(open.key().length + open.value().length).isEqualTo(limit);
    assertThat(Integer.parseInt(header(open, "radixflow.original-bytes")))
        .isGreaterThan(huge.length());
    Reply next =
        get(client.ask(Events.message("turnless", "next", "bye", 3), ReplyListener.SILENT));
    assertThat(next.finishReason()).isIn("stop", "length");
  }

  @Test
  void controlEventsReachAllSubtasksAndInvalidOnesAreKept() {
    for (int i = 0; i < 4; i++) {
      Reply reply = get(client.ask(ofTenant("tenant" + i, "t", "gone"), ReplyListener.SILENT));
      assertThat(reply.finishReason()).isIn("stop", "length");
    }
    String topic = stack.settings().get(KafkaConfig.CONTROL_TOPIC);
    client.send(topic, null, "{\"type\":\"explode\"}".getBytes(UTF_8)).join();
    client
        .send(topic, null, "{\"type\":\"erase_tenant\",\"tenant\":\"gone\"}".getBytes(UTF_8))
        .join();
    await()
        .atMost(PATIENCE)
        .untilAsserted(() -> assertThat(letters()).contains("{\"type\":\"explode\"}"));
    for (int i = 0; i < 4; i++) {
      String session = "tenant" + i;
      AtomicInteger attempt = new AtomicInteger();
      await()
          .atMost(PATIENCE)
          .until(
              () -> {
                String turn = "q" + attempt.incrementAndGet();
                ConversationEvent event =
                    Events.of(EventKind.QUERY, session, turn).toBuilder().tenant("gone").build();
                Reply query = get(client.ask(event, ReplyListener.SILENT));
                return query.items() == null || query.items().isEmpty();
              });
    }
  }

  private static ConversationEvent ofTenant(String session, String turn, String tenant) {
    return Events.message(session, turn, "hello", 3).toBuilder().tenant(tenant).build();
  }

  @Test
  void aQueryShowsTheConversation() {
    Reply said = get(client.ask(Events.message("asked", "t", "hello", 5), ReplyListener.SILENT));
    Reply query = get(client.ask(Events.of(EventKind.QUERY, "asked", "q"), ReplyListener.SILENT));
    assertThat(query.items()).extracting(Reply.Item::content).contains("hello", said.text());
  }

  private static void send(String key, String value) {
    client
        .send(
            stack.settings().get(KafkaConfig.EVENTS_TOPIC),
            key.getBytes(UTF_8),
            value.getBytes(UTF_8))
        .join();
  }

  private static List<String> committed(String prefix) {
    synchronized (REPLIES) {
      return REPLIES.stream()
          .filter(reply -> reply.session().startsWith(prefix))
          .map(reply -> reply.session() + "/" + reply.turn())
          .toList();
    }
  }

  private static List<ConsumerRecord<byte[], byte[]>> lettersOf(String session) {
    synchronized (LETTERS) {
      return LETTERS.stream()
          .filter(letter -> letter.key() != null && session.equals(new String(letter.key(), UTF_8)))
          .toList();
    }
  }

  private static String header(ConsumerRecord<byte[], byte[]> letter, String name) {
    return new String(letter.headers().lastHeader(name).value(), UTF_8);
  }

  private static List<String> letters() {
    synchronized (LETTERS) {
      return LETTERS.stream().map(letter -> new String(letter.value(), UTF_8)).toList();
    }
  }

  private static Reply get(CompletableFuture<Reply> reply) {
    return reply.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
  }

  private static void fail(RuntimeException cause) {
    throw cause;
  }

  private static Reply read(ConsumerRecord<byte[], byte[]> record) {
    try {
      return RecordReader.reply(record.value());
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
