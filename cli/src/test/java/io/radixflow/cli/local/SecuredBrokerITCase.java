package io.radixflow.cli.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.radixflow.client.ConversationClient;
import io.radixflow.client.EventSender;
import io.radixflow.client.ReplyListener;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.jobs.kafka.KafkaSetup;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.text.template.Message;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.acl.AclBinding;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.errors.TopicAuthorizationException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A broker that knows who asks, with the ACLs that docs/security.md has commands for. */
class SecuredBrokerITCase {
  private static final long PATIENCE_SECONDS = 60;
  private static final Duration PATIENCE = Duration.ofSeconds(PATIENCE_SECONDS);
  private static final List<String> USERS =
      List.of("admin", "radixflow-job", "radixflow-gateway", "radixflow-operator", "stranger");

  @TempDir static Path directory;

  /** A user's text, which no log may contain. */
  private static final String SAID = "a-word-that-is-said-nowhere-else";

  private static final LoggedLines LOG = LoggedLines.ofAll();
  private static LocalBroker broker;
  private static LocalStack stack;

  @BeforeAll
  static void start() throws Exception {
    broker = LocalBroker.start(directory.resolve("broker"), 0, security());
    Settings admin = as("admin");
    List<String> compacted =
        List.of(admin.get(KafkaConfig.KV_EVENTS_TOPIC), admin.get(KafkaConfig.INDEX_TOPIC));
    try (Admin client = Admin.create(admin.kafkaClient())) {
      client
          .createTopics(
              KafkaSetup.topics(admin).stream()
                  .map(
                      name ->
                          new NewTopic(name, 1, (short) 1)
                              .configs(
                                  compacted.contains(name)
                                      ? Map.of("cleanup.policy", "compact")
                                      : Map.of()))
                  .toList())
          .all()
          .get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      List<AclBinding> acls = KafkaAclCommands.of(Path.of("../docs/security.md"));
      client.createAcls(acls).all().get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      awaitKnown(client, KafkaSetup.topics(admin), acls);
    }
    Settings job = as("radixflow-job");
    stack =
        LocalStack.start(
            job,
            new LocalStack.Options(Optional.of(directory.resolve("flink")), false, 0, 0),
            ServingSettings.engine(job, name -> SimModel.open(SimOptions.DEFAULT)),
            line -> {});
  }

  /** The broker has what the controller made a moment later. */
  private static void awaitKnown(Admin client, List<String> topics, List<AclBinding> acls) {
    await()
        .atMost(PATIENCE)
        .until(
            () ->
                client.listTopics().names().get().containsAll(topics)
                    && client.describeAcls(AclBindingFilter.ANY).values().get().containsAll(acls));
  }

  @AfterAll
  static void stop() throws IOException {
    if (stack != null) {
      stack.close();
    }
    broker.close();
    LOG.close();
    assertThat(LOG.lines()).isNotEmpty().noneMatch(line -> line.contains(SAID));
    assertThat(LOG.lines()).noneMatch(line -> line.contains("-secret"));
  }

  private static Map<String, String> security() {
    String users =
        USERS.stream()
            .map(user -> "user_" + user + "=\"" + user + "-secret\"")
            .collect(Collectors.joining(" "));
    return Map.of(
        "listener.security.protocol.map",
        "CLIENT:SASL_PLAINTEXT,CONTROLLER:PLAINTEXT",
        "sasl.enabled.mechanisms",
        "PLAIN",
        "sasl.mechanism.inter.broker.protocol",
        "PLAIN",
        "listener.name.client.plain.sasl.jaas.config",
        login("admin").replace(";", " " + users + ";"),
        "authorizer.class.name",
        "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users",
        "User:admin;User:ANONYMOUS"); // the controller's own listener
  }

  private static String login(String user) {
    return "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"%s\" password=\"%s-secret\";"
        .formatted(user, user);
  }

  private static Settings as(String user) {
    List<String> settings =
        new ArrayList<>(
            List.of(
                "model=sim",
                "job.checkpoint-interval=200ms",
                "kv-events.enabled=true",
                "session.index=true",
                "kafka.bootstrap-servers=" + broker.bootstrapServers(),
                "kafka.connect-timeout=60s",
                "kafka.client.security.protocol=SASL_PLAINTEXT",
                "kafka.client.sasl.mechanism=PLAIN",
                "kafka.client.sasl.jaas.config=" + login(user)));
    return new SettingsLoader().set(settings).load();
  }

  @Test
  void theGatewayTalksToTheJobAlsoAfterTheDeathOfATaskManager() throws Exception {
    try (ConversationClient client = new ConversationClient(as("radixflow-gateway"))) {
      assertThat(ask(client, "before").finishReason()).isIn("stop", "length");
      MiniCluster cluster = stack.cluster().miniCluster();
      cluster.terminateTaskManager(0).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
      cluster.startTaskManager();
      assertThat(ask(client, "after").finishReason()).isIn("stop", "length");
    }
    Settings operator = as("radixflow-operator");
    String kvEvents = operator.get(KafkaConfig.KV_EVENTS_TOPIC);
    await().atMost(PATIENCE).until(() -> endOf(operator, kvEvents) > 0);
  }

  /** Returns the committed reply of a turn. */
  private static Reply ask(ConversationClient client, String turn) throws Exception {
    ConversationEvent event =
        ConversationEvent.builder(EventKind.MESSAGE, "s", turn)
            .messages(List.of(new Message("user", SAID)))
            .build();
    return client.ask(event, ReplyListener.SILENT).get(PATIENCE_SECONDS, TimeUnit.SECONDS);
  }

  @Test
  void theGatewayWritesEventsAndNothingElse() {
    Settings gateway = as("radixflow-gateway");
    assertWrites(gateway, gateway.get(KafkaConfig.EVENTS_TOPIC));
  }

  @Test
  void theGatewayReadsRepliesDeltasKvEventsAndTheIndexAndNothingElse() {
    Settings gateway = as("radixflow-gateway");
    assertReads(
        gateway,
        gateway.get(KafkaConfig.REPLIES_TOPIC),
        gateway.get(KafkaConfig.DELTAS_TOPIC),
        gateway.get(KafkaConfig.KV_EVENTS_TOPIC),
        gateway.get(KafkaConfig.INDEX_TOPIC));
  }

  @Test
  void anOperatorWritesControlEventsAndReadsWhatShowsTrouble() {
    Settings operator = as("radixflow-operator");
    assertWrites(operator, operator.get(KafkaConfig.CONTROL_TOPIC));
    assertReads(
        operator,
        operator.get(KafkaConfig.DEAD_LETTERS_TOPIC),
        operator.get(KafkaConfig.KV_EVENTS_TOPIC));
  }

  @Test
  void aStrangerReadsAndWritesNothing() {
    assertWrites(as("stranger"));
    assertReads(as("stranger"));
  }

  private static void assertWrites(Settings user, String... allowed) {
    try (EventSender sender = new EventSender(user)) {
      for (String topic : KafkaSetup.topics(user)) {
        CompletableFuture<Void> sent = sender.send(topic, null, "not an event".getBytes(UTF_8));
        if (List.of(allowed).contains(topic)) {
          assertThat(sent).succeedsWithin(PATIENCE);
        } else {
          assertThat(sent)
              .failsWithin(PATIENCE)
              .withThrowableOfType(ExecutionException.class)
              .withCauseInstanceOf(TopicAuthorizationException.class);
        }
      }
    }
  }

  private static void assertReads(Settings user, String... allowed) {
    for (String topic : KafkaSetup.topics(user)) {
      if (List.of(allowed).contains(topic)) {
        assertThat(endOf(user, topic)).isNotNegative();
      } else {
        assertThatThrownBy(() -> endOf(user, topic))
            .isInstanceOf(TopicAuthorizationException.class);
      }
    }
  }

  /** Returns the end of a topic's first partition, as one who may read it learns. */
  private static long endOf(Settings user, String topic) {
    TopicPartition partition = new TopicPartition(topic, 0);
    ByteArrayDeserializer bytes = new ByteArrayDeserializer();
    try (KafkaConsumer<byte[], byte[]> consumer =
        new KafkaConsumer<>(user.kafkaClient(), bytes, bytes)) {
      consumer.assign(List.of(partition));
      consumer.seekToBeginning(List.of(partition));
      do {
        consumer.poll(Duration.ofMillis(200));
      } while (fetches(consumer) == 0);
      consumer.poll(Duration.ZERO); // throws what the broker's answer was
      return consumer.endOffsets(List.of(partition), PATIENCE).get(partition);
    }
  }

  /** The fetches that were answered. */
  private static double fetches(KafkaConsumer<?, ?> consumer) {
    return consumer.metrics().values().stream()
        .filter(metric -> metric.metricName().name().equals("fetch-total"))
        .mapToDouble(metric -> (double) metric.metricValue())
        .sum();
  }
}
