package io.radixflow.cli.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.radixflow.client.EventSender;
import io.radixflow.client.TopicContents;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.gateway.topics.KafkaTopics;
import io.radixflow.gateway.topics.Topics;
import io.radixflow.jobs.JobEndpoints;
import io.radixflow.jobs.ServingJob;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.jobs.kafka.KafkaSetup;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.topic.EventWriter;
import io.radixflow.protocol.topic.RecordReader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Transactions of other programs, and topics that change under a job or while it is down. */
@Timeout(600)
class TopicChangesITCase {
  private static final Duration PATIENCE = Duration.ofSeconds(120);

  @TempDir static Path dir;
  private static LocalBroker broker;
  private static LocalCluster cluster;

  private Settings settings;
  private Admin admin;
  private String events;
  private JobID job;

  @BeforeAll
  static void startBroker() throws IOException {
    broker = LocalBroker.start(dir);
    cluster = LocalCluster.start(dir, 1, 0);
  }

  @AfterAll
  static void stopBroker() throws IOException {
    cluster.close();
    broker.close();
  }

  /** Each test has topics of its own, of two partitions. */
  @BeforeEach
  void makeTopics(TestInfo test) {
    String name = test.getTestMethod().orElseThrow().getName();
    List<String> assignments = new ArrayList<>();
    for (String topic : List.of("events", "replies", "deltas", "dead-letters", "control")) {
      assignments.add("kafka.topic." + topic + "=" + name + "-" + topic);
    }
    settings =
        new SettingsLoader()
            .set(assignments)
            .set(
                List.of(
                    "kafka.bootstrap-servers=" + broker.bootstrapServers(),
                    "kafka.create-topics=true",
                    "kafka.partitions=2",
                    "kafka.connect-timeout=60s",
                    "kafka.group-id=" + name,
                    "kafka.transactional-id-prefix=" + name,
                    "job.checkpoint-interval=200ms"))
            .load();
    KafkaSetup.check(settings);
    events = settings.get(KafkaConfig.EVENTS_TOPIC);
    admin = Admin.create(settings.kafkaClient());
  }

  @AfterEach
  void cancel() throws IOException {
    admin.close();
    if (job != null) {
      cluster.cancel(job);
    }
  }

  private void submit(String savepoint) throws IOException {
    StreamExecutionEnvironment environment = ServingJob.environment(settings);
    ServingJob.build(
        environment,
        settings,
        JobEndpoints.kafka(settings),
        ServingSettings.engine(
            settings, name -> SimModel.open(SimOptions.DEFAULT.withEndOfTurn(0))));
    job = cluster.submit(environment, Optional.ofNullable(savepoint), false);
    cluster.awaitRunning(job, PATIENCE);
  }

  private String stop() throws Exception {
    String savepoint =
        cluster
            .miniCluster()
            .stopWithSavepoint(
                job,
                dir.resolve("stopped").toUri().toString(),
                false,
                SavepointFormatType.CANONICAL)
            .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    cluster.miniCluster().requestJobResult(job).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    job = null;
    return savepoint;
  }

  private static ProducerRecord<byte[], byte[]> event(
      String topic, Integer partition, String session, String turn) {
    return new ProducerRecord<>(
        topic,
        partition,
        session.getBytes(UTF_8),
        EventWriter.write(Events.message(session, turn, "Is anybody there?", 4)));
  }

  private KafkaProducer<byte[], byte[]> producer(String transactionalId) {
    Properties properties = settings.kafkaClient();
    if (transactionalId != null) {
      properties.put("transactional.id", transactionalId);
    }
    return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** Sends a turn of each session to a partition. */
  private void send(int partition, String turn, String... sessions) throws Exception {
    try (KafkaProducer<byte[], byte[]> producer = producer(null)) {
      for (String session : sessions) {
        producer.send(event(events, partition, session, turn)).get();
      }
    }
  }

  /** The number of committed replies to each turn. */
  private Map<String, Integer> replies() throws IOException {
    Map<String, Integer> replies = new HashMap<>();
    committed().forEach(each -> replies.merge(each.session() + "/" + each.turn(), 1, Integer::sum));
    return replies;
  }

  private List<Reply> committed() throws IOException {
    List<Reply> replies = new ArrayList<>();
    TopicContents.read(
        settings,
        settings.get(KafkaConfig.REPLIES_TOPIC),
        record -> replies.add(RecordReader.reply(record.value())));
    return replies;
  }

  private void awaitRepliesOnce(String... turns) {
    await()
        .atMost(PATIENCE)
        .untilAsserted(
            () -> {
              assertThat(replies()).containsOnlyKeys(turns);
              assertThat(replies().values()).containsOnly(1);
            });
  }

  @Test
  void onlyEventsOfCommittedTransactionsAreServed() throws Exception {
    submit(null);
    try (KafkaProducer<byte[], byte[]> producer = producer("upstream")) {
      producer.initTransactions();
      producer.beginTransaction();
      producer.send(event(events, 0, "aborted", "1")).get();
      producer.send(event(settings.get(KafkaConfig.CONTROL_TOPIC), 0, "aborted", "1")).get();
      producer.abortTransaction();
      producer.beginTransaction();
      producer.send(event(events, 1, "open", "1")).get();
      send(0, "1", "after");
      awaitRepliesOnce("after/1");
      producer.commitTransaction();
    }
    awaitRepliesOnce("after/1", "open/1");
    List<String> letters = new ArrayList<>();
    TopicContents.read(
        settings,
        settings.get(KafkaConfig.DEAD_LETTERS_TOPIC),
        record -> letters.add(new String(record.value(), UTF_8)));
    assertThat(letters).isEmpty();
  }

  @Test
  void partitionsThatAreAddedAreReadAndHeardOf() throws Exception {
    submit(null);
    Set<String> heard = ConcurrentHashMap.newKeySet();
    try (KafkaTopics topics = new KafkaTopics(settings)) {
      topics.follow(reader(heard));
      await().atMost(PATIENCE).until(() -> topics.problem() == null);
      for (ConfigOption<String> topic :
          List.of(KafkaConfig.EVENTS_TOPIC, KafkaConfig.REPLIES_TOPIC, KafkaConfig.DELTAS_TOPIC)) {
        admin
            .createPartitions(Map.of(settings.get(topic), NewPartitions.increaseTo(6)))
            .all()
            .get();
      }
      String[] turns = Stream.of(0, 1, 2, 3, 4, 5).map(p -> "s" + p + "/1").toArray(String[]::new);
      await()
          .atMost(PATIENCE)
          .until(
              () ->
                  admin
                          .describeTopics(List.of(events))
                          .allTopicNames()
                          .get()
                          .get(events)
                          .partitions()
                          .size()
                      == 6);
      for (int partition = 0; partition < 6; partition++) {
        send(partition, "1", "s" + partition);
      }
      awaitRepliesOnce(turns);
      for (int i = 0; i < 30; i++) {
        try (EventSender sender = new EventSender(settings)) {
          sender.send(Events.message("t" + i, "1", "Is anybody there?", 4)).get();
        }
      }
      await()
          .atMost(PATIENCE)
          .untilAsserted(
              () -> {
                assertThat(replies()).hasSize(36);
                assertThat(heard).containsAll(replies().keySet());
              });
      await().atMost(PATIENCE).until(() -> topics.problem() == null);
    }
  }

  private static Topics.Reader reader(Set<String> heard) {
    return new Topics.Reader() {
      @Override
      public void delta(byte[] session, byte[] value) {}

      @Override
      public void reply(byte[] session, byte[] value) {
        try {
          Reply reply = RecordReader.reply(value);
          heard.add(reply.session() + "/" + reply.turn());
        } catch (IOException e) {
          throw new AssertionError(e);
        }
      }

      @Override
      public void interrupted() {}
    };
  }

  @Test
  void aTopicThatIsCreatedAgainWhileTheJobIsDownIsReadWhole() throws Exception {
    submit(null);
    send(0, "1", "a", "b", "c");
    send(1, "1", "d");
    awaitRepliesOnce("a/1", "b/1", "c/1", "d/1");
    String savepoint = stop();
    admin.deleteTopics(List.of(events)).all().get();
    await().atMost(PATIENCE).until(() -> !admin.listTopics().names().get().contains(events));
    create(1);
    send(0, "2", "a", "b", "c", "d", "e");
    submit(savepoint);
    awaitRepliesOnce("a/1", "b/1", "c/1", "d/1", "a/2", "b/2", "c/2", "d/2", "e/2");
    admin.createPartitions(Map.of(events, NewPartitions.increaseTo(2))).all().get();
    send(1, "3", "f");
    await().atMost(PATIENCE).until(() -> replies().containsKey("f/3"));
  }

  private void create(int partitions) throws Exception {
    admin.createTopics(List.of(new NewTopic(events, partitions, (short) 1))).all().get();
    await().atMost(PATIENCE).until(() -> admin.listTopics().names().get().contains(events));
  }

  @Test
  void recordsThatWereDeletedUnreadAreReportedWithTheirNumber() throws Exception {
    submit(null);
    send(0, "1", "a");
    awaitRepliesOnce("a/1");
    String savepoint = stop();
    send(0, "1", "lost1", "lost2", "lost3", "kept");
    admin
        .deleteRecords(Map.of(new TopicPartition(events, 0), RecordsToDelete.beforeOffset(4)))
        .all()
        .get();
    try (LoggedLines log = LoggedLines.ofAll()) {
      submit(savepoint);
      awaitRepliesOnce("a/1", "kept/1");
      assertThat(log.lines())
          .anyMatch(line -> line.contains("3 records of partition 0 of topic " + events));
    }
  }

  @Test
  void aJobThatIsRestoredFromAnOlderStateSaysHowManyEventsItAnswersAgain() throws Exception {
    submit(null);
    send(0, "1", "a");
    awaitRepliesOnce("a/1");
    String savepoint = savepoint();
    send(0, "2", "a", "b");
    await().atMost(PATIENCE).until(() -> replies().size() == 3);
    await().atMost(PATIENCE).until(() -> committedOffset() == 3);
    cluster.cancel(job);
    try (LoggedLines log = LoggedLines.ofAll()) {
      submit(savepoint);
      await().atMost(PATIENCE).until(() -> replies().get("b/2") == 2);
      assertThat(log.lines())
          .anyMatch(
              line ->
                  line.contains("older than its last checkpoint: partition 0 of topic " + events)
                      && line.contains("Its 2 records are answered once more"));
    }
  }

  private String savepoint() throws Exception {
    return cluster
        .miniCluster()
        .triggerSavepoint(
            job, dir.resolve("kept").toUri().toString(), false, SavepointFormatType.CANONICAL)
        .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
  }

  private long committedOffset() throws Exception {
    OffsetAndMetadata offset =
        admin
            .listConsumerGroupOffsets(settings.get(KafkaConfig.GROUP_ID))
            .partitionsToOffsetAndMetadata()
            .get()
            .get(new TopicPartition(events, 0));
    return offset == null ? 0 : offset.offset();
  }

  @Test
  void aReplyThatItsTopicNoLongerTakesEndsAsAnErrorAndTheOthersGoOn() throws Exception {
    submit(null);
    send(0, "1", "a");
    awaitRepliesOnce("a/1");
    ConfigResource replies =
        new ConfigResource(ConfigResource.Type.TOPIC, settings.get(KafkaConfig.REPLIES_TOPIC));
    admin
        .incrementalAlterConfigs(
            Map.of(
                replies,
                List.of(
                    new AlterConfigOp(
                        new ConfigEntry("max.message.bytes", "1000"), AlterConfigOp.OpType.SET))))
        .all()
        .get();
    try (EventSender sender = new EventSender(settings)) {
      sender.send(Events.message("large", "1", "Tell me everything.", 800)).get();
    }
    await().atMost(PATIENCE).until(() -> replies().containsKey("large/1"));
    send(0, "2", "a");
    awaitRepliesOnce("a/1", "large/1", "a/2");
    assertThat(committed())
        .filteredOn(each -> each.session().equals("large"))
        .singleElement()
        .satisfies(each -> assertThat(each.finishReason()).isEqualTo("error"))
        .satisfies(
            each -> assertThat(each.error().message()).contains("max.message.bytes of the topic"));
  }
}
