package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.jobs.kafka.KafkaSetup;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class KafkaSetupITCase {

  @TempDir static Path dir;
  private static LocalBroker broker;

  @BeforeAll
  static void startBroker() throws IOException {
    broker = LocalBroker.start(dir);
  }

  @AfterAll
  static void stopBroker() {
    broker.close();
  }

  @Test
  void namesTheTopicsThatAreMissing() {
    refuses(
        settings("kafka.topic.replies=absent-replies"),
        "conversation-control, conversation-dead-letters, conversation-events, reply-deltas",
        "do not exist on " + broker.bootstrapServers(),
        "absent-replies",
        "set kafka.create-topics to true");
  }

  @Test
  void makesMissingTopicsWhenToldTo() throws Exception {
    String[] names =
        Stream.of("events", "replies", "deltas", "dead-letters", "control")
            .map(topic -> "kafka.topic." + topic + "=made-" + topic)
            .toArray(String[]::new);
    String[] create = Arrays.copyOf(names, names.length + 2);
    create[names.length] = "kafka.create-topics=true";
    create[names.length + 1] = "kafka.partitions=3";
    KafkaSetup.check(settings(create));
    KafkaSetup.check(settings(names));
    Set<String> made = new HashSet<>(KafkaSetup.topics(settings(names)));
    try (Admin admin = Admin.create(settings().kafkaClient())) {
      assertThat(admin.describeTopics(made).allTopicNames().get().values())
          .hasSize(5)
          .allSatisfy(topic -> assertThat(topic.partitions()).hasSize(3));
    }
  }

  @ParameterizedTest
  @CsvSource({"kv-events.enabled, kv-events", "session.index, index"})
  void theTopicsOfKvEventsAndOfTheIndexAreCompacted(String flag, String topic) throws Exception {
    String made = topic + "-made";
    String aged = topic + "-aged";
    String[] names =
        Stream.of("events", "replies", "deltas", "dead-letters", "control")
            .map(other -> "kafka.topic." + other + "=" + topic + "-" + other)
            .toArray(String[]::new);
    KafkaSetup.check(settings(compacted(names, flag, topic, made)));
    try (Admin admin = Admin.create(settings().kafkaClient())) {
      ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, made);
      assertThat(
              admin
                  .describeConfigs(List.of(resource))
                  .all()
                  .get()
                  .get(resource)
                  .get("cleanup.policy")
                  .value())
          .isEqualTo("compact");
      create(admin, new NewTopic(aged, 1, (short) 1));
    }
    refuses(
        settings(compacted(names, flag, topic, aged)),
        "the topic " + aged + " has cleanup.policy=delete, which loses what still exists");
  }

  @Test
  void otherTopicsAreNotCompacted() throws Exception {
    try (Admin admin = Admin.create(settings().kafkaClient())) {
      create(
          admin,
          new NewTopic("compacted", 1, (short) 1)
              .configs(Map.of("cleanup.policy", "compact,delete")));
    }
    List<String> topics = List.of("events", "replies", "deltas", "dead-letters", "control");
    for (String compacted : topics) {
      List<String> names = new ArrayList<>(List.of("kafka.create-topics=true"));
      for (String topic : topics) {
        names.add(
            "kafka.topic."
                + topic
                + "="
                + (topic.equals(compacted) ? "compacted" : "aged-" + topic));
      }
      refuses(
          settings(names.toArray(String[]::new)),
          "the topic compacted has cleanup.policy=",
          "deletes all records of a session except the last, even if they were not read: set it"
              + " to delete");
    }
  }

  private static String[] compacted(String[] names, String flag, String topic, String name) {
    return Stream.concat(
            Arrays.stream(names),
            Stream.of(
                flag + "=true", "kafka.topic." + topic + "=" + name, "kafka.create-topics=true"))
        .toArray(String[]::new);
  }

  @Test
  void comparesTheTransactionTimeoutWithTheBrokers() {
    refuses(
        settings("kafka.transaction-timeout=1h", "kafka.create-topics=true"),
        "kafka.transaction-timeout is 3600000 ms, the broker's transaction.max.timeout.ms is"
            + " 900000");
  }

  @Test
  void comparesTheSizesOfRecordsWithTheTopics() throws Exception {
    try (Admin admin = Admin.create(settings().kafkaClient())) {
      NewTopic small = new NewTopic("small", 1, (short) 1);
      small.configs(Map.of("max.message.bytes", "500000"));
      create(admin, small);
    }
    String numbers = "with 65536 for key and headers 965536; max.message.bytes of the topic small";
    refuses(
        settings("kafka.topic.replies=small"),
        "replies.max-bytes is 900000, " + numbers + " is 500000: lower the one or raise the other");
    refuses(
        settings("kafka.topic.dead-letters=small"),
        "dead-letters.max-bytes is 900000, " + numbers + " is 500000");
  }

  @Test
  void madeTopicsTakeTheLargestRecords() throws Exception {
    KafkaSetup.check(
        settings(
            "kafka.create-topics=true",
            "kafka.topic.events=large-events",
            "kafka.topic.replies=large-replies",
            "kafka.topic.deltas=large-deltas",
            "kafka.topic.dead-letters=usual-dead-letters",
            "kafka.topic.control=large-control",
            "replies.max-bytes=40000000"));
    assertThat(maxMessageBytes("large-replies")).isEqualTo("40065536");
    assertThat(maxMessageBytes("usual-dead-letters")).isEqualTo("33554432");
    refuses(
        settings("kafka.topic.replies=large-replies", "replies.max-bytes=40000001"),
        "replies.max-bytes is 40000001",
        "large-replies is 40065536");
  }

  private static String maxMessageBytes(String topic) throws Exception {
    ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
    try (Admin admin = Admin.create(settings().kafkaClient())) {
      return admin
          .describeConfigs(List.of(resource))
          .all()
          .get()
          .get(resource)
          .get("max.message.bytes")
          .value();
    }
  }

  @Test
  void saysThatNoBrokerAnswers() throws IOException {
    int port;
    try (ServerSocket closed = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = closed.getLocalPort();
    }
    refuses(
        settings("kafka.bootstrap-servers=127.0.0.1:" + port, "kafka.connect-timeout=1s"),
        "no Kafka broker answers at 127.0.0.1:" + port + " within 1000 ms",
        "start one, or set kafka.bootstrap-servers");
  }

  @Test
  void saysThatTheAddressIsNone() {
    refuses(
        settings("kafka.bootstrap-servers=nowhere"),
        "cannot use kafka.bootstrap-servers nowhere: ");
  }

  @Test
  void aBrokerGoesOnInItsDirectory(@TempDir Path own) throws Exception {
    for (List<String> found : List.of(List.<String>of(), List.of("kept"))) {
      try (LocalBroker first = LocalBroker.start(own)) {
        Settings there = settings("kafka.bootstrap-servers=" + first.bootstrapServers());
        try (Admin admin = Admin.create(there.kafkaClient())) {
          assertThat(admin.listTopics().names().get()).containsAll(found);
          if (found.isEmpty()) {
            create(admin, new NewTopic("kept", 1, (short) 1));
          }
        }
      }
    }
  }

  /** Creates a topic and waits until the broker lists it, which may be a moment later. */
  private static void create(Admin admin, NewTopic topic) throws Exception {
    admin.createTopics(List.of(topic)).all().get();
    await()
        .atMost(Duration.ofSeconds(60))
        .until(() -> admin.listTopics().names().get().contains(topic.name()));
  }

  private static Settings settings(String... assignments) {
    return new SettingsLoader()
        .set(
            List.of(
                "kafka.bootstrap-servers=" + broker.bootstrapServers(),
                "kafka.connect-timeout=60s"))
        .set(List.of(assignments))
        .load();
  }

  private static void refuses(Settings settings, String... parts) {
    assertThatExceptionOfType(KafkaSetupException.class)
        .isThrownBy(() -> KafkaSetup.check(settings))
        .satisfies(e -> assertThat(e.getMessage()).contains(parts).doesNotContain("\n"));
  }
}
