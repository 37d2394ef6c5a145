package io.radixflow.jobs.kafka;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.jobs.config.RadixflowOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.TopicExistsException;

/**
 * Checks, before the job starts, that a broker answers and that the topics exist. Without this
 * check Flink would retry forever and give the reason only in its log.
 */
public final class KafkaSetup {

  private static final String MAX_TRANSACTION_TIMEOUT = "transaction.max.timeout.ms";
  private static final String COMPACT = TopicConfig.CLEANUP_POLICY_COMPACT;
  private static final String BROKER_MAX_BYTES = "message.max.bytes";

  /** The default limit of a broker: 1 MiB and a batch's header. */
  private static final long DEFAULT_MAX_BYTES = (1 << 20) + 12;

  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final Settings settings;
  private final Duration timeout;
  private final String brokers;

  private KafkaSetup(Settings settings) {
    this.settings = settings;
    this.timeout = settings.get(KafkaConfig.CONNECT_TIMEOUT);
    this.brokers = settings.get(KafkaConfig.BOOTSTRAP_SERVERS);
  }

  /** The names of all topics of the job. */
  public static List<String> topics(Settings settings) {
    List<String> topics =
        new ArrayList<>(
            List.of(
                settings.get(KafkaConfig.EVENTS_TOPIC),
                settings.get(KafkaConfig.REPLIES_TOPIC),
                settings.get(KafkaConfig.DELTAS_TOPIC),
                settings.get(KafkaConfig.DEAD_LETTERS_TOPIC),
                settings.get(KafkaConfig.CONTROL_TOPIC)));
    if (settings.get(RadixflowOptions.KV_EVENTS_ENABLED)) {
      topics.add(settings.get(KafkaConfig.KV_EVENTS_TOPIC));
    }
    if (settings.get(SharedConfig.INDEX)) {
      topics.add(settings.get(KafkaConfig.INDEX_TOPIC));
    }
    return topics;
  }

  private boolean isCompacted(String topic) {
    return topic.equals(settings.get(KafkaConfig.KV_EVENTS_TOPIC))
        || topic.equals(settings.get(KafkaConfig.INDEX_TOPIC));
  }

  /**
   * Checks Kafka, and creates missing topics if the settings allow it.
   *
   * @throws KafkaSetupException if a broker or a topic is missing, a topic's limits or its cleanup
   *     policy do not fit the settings, or an option for clients has no effect
   */
  public static void check(Settings settings) {
    KafkaClient.check(settings);
    new KafkaSetup(settings).check();
  }

  private void check() {
    try (Admin admin = KafkaClient.ADMIN.admin(settings)) {
      Collection<Node> nodes = await(admin.describeCluster().nodes(), "list the brokers");
      String node = nodes.iterator().next().idString();
      Optional<Config> broker = config(admin, ConfigResource.Type.BROKER, node);
      broker.ifPresent(this::checkTransactionTimeout);
      checkTopics(admin, broker);
    } catch (KafkaSetupException e) {
      throw e;
    } catch (KafkaException e) {
      String reason = e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
      throw new KafkaSetupException(
          "cannot use kafka.bootstrap-servers " + brokers + ": " + reason, e);
    }
  }

  private void checkTopics(Admin admin, Optional<Config> broker) {
    Set<String> missing = missingTopics(admin);
    for (TopicLimit limit : TopicLimit.all(settings)) {
      if (!missing.contains(limit.topic())) {
        config(admin, ConfigResource.Type.TOPIC, limit.topic())
            .flatMap(topic -> number(topic, TopicConfig.MAX_MESSAGE_BYTES_CONFIG))
            .ifPresent(limit::check);
      }
    }
    if (!missing.isEmpty()) {
      refuseOrMake(admin, missing, broker);
    }
    checkCompaction(admin);
  }

  private void refuseOrMake(Admin admin, Set<String> missing, Optional<Config> broker) {
    if (!settings.get(KafkaConfig.CREATE_TOPICS)) {
      boolean one = missing.size() == 1;
      throw new KafkaSetupException(
          "the %s %s not exist on %s: create %s, or set kafka.create-topics to true"
              .formatted(
                  (one ? "topic " : "topics ") + String.join(", ", missing),
                  one ? "does" : "do",
                  brokers,
                  one ? "it" : "them"),
          null);
    }
    makeTopics(admin, missing, broker);
  }

  /**
   * Checks cleanup policies. If the topic of KV events or of the index deletes by age, it loses
   * what still exists. If any other topic is compacted, it keeps only the last record of a session
   * and refuses records without a key.
   */
  private void checkCompaction(Admin admin) {
    for (String name : topics(settings)) {
      boolean compacted = isCompacted(name);
      Optional<String> policy =
          config(admin, ConfigResource.Type.TOPIC, name)
              .map(topic -> topic.get(TopicConfig.CLEANUP_POLICY_CONFIG))
              .map(ConfigEntry::value);
      if (compacted && policy.filter(each -> !each.equals(COMPACT)).isPresent()) {
        throw wrongPolicy(name, policy.get(), "loses what still exists: set it to compact");
      }
      if (!compacted && policy.filter(each -> each.contains(COMPACT)).isPresent()) {
        throw wrongPolicy(
            name,
            policy.get(),
            "deletes all records of a session except the last, even if they were not read: set it"
                + " to delete");
      }
    }
  }

  private static KafkaSetupException wrongPolicy(String topic, String policy, String effect) {
    return new KafkaSetupException(
        "the topic %s has cleanup.policy=%s, which %s".formatted(topic, policy, effect), null);
  }

  private void makeTopics(Admin admin, Set<String> missing, Optional<Config> broker) {
    List<NewTopic> topics = new ArrayList<>();
    for (String name : missing) {
      topics.add(
          new NewTopic(
                  name,
                  settings.get(KafkaConfig.PARTITIONS),
                  settings.get(KafkaConfig.REPLICATION).shortValue())
              .configs(topicConfig(name, broker)));
    }
    try {
      await(admin.createTopics(topics).all(), "create the topics " + missing);
    } catch (KafkaSetupException e) {
      // another process may have created them at the same time
      if (!(e.getCause() instanceof TopicExistsException)) {
        throw e;
      }
    }
    awaitTopics(admin);
  }

  /**
   * Returns the configuration of a new topic. It raises the largest message if the broker's default
   * is too small for the job's records, and compacts KV events and the index. The index has text of
   * users, so it is compacted within a day.
   */
  private Map<String, String> topicConfig(String name, Optional<Config> broker) {
    int needed =
        TopicLimit.all(settings).stream()
            .filter(limit -> limit.topic().equals(name))
            .mapToInt(TopicLimit::batchBytes)
            .max()
            .orElse(0);
    long usual =
        broker.flatMap(config -> number(config, BROKER_MAX_BYTES)).orElse(DEFAULT_MAX_BYTES);
    Map<String, String> config = new HashMap<>();
    if (needed > usual) {
      config.put(TopicConfig.MAX_MESSAGE_BYTES_CONFIG, Integer.toString(needed));
    }
    if (isCompacted(name)) {
      config.put(TopicConfig.CLEANUP_POLICY_CONFIG, COMPACT);
    }
    if (name.equals(settings.get(KafkaConfig.INDEX_TOPIC))) {
      config.put(
          TopicConfig.MAX_COMPACTION_LAG_MS_CONFIG, Long.toString(Duration.ofDays(1).toMillis()));
    }
    return config;
  }

  /** Waits until the brokers list the new topics; not every broker knows a topic immediately. */
  private void awaitTopics(Admin admin) {
    long deadline = System.nanoTime() + timeout.toNanos();
    for (Set<String> missing = missingTopics(admin);
        !missing.isEmpty();
        missing = missingTopics(admin)) {
      if (System.nanoTime() > deadline) {
        throw new KafkaSetupException(
            "the topics " + missing + " were created, but the brokers do not list them", null);
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  private Set<String> missingTopics(Admin admin) {
    Set<String> missing = new TreeSet<>(topics(settings));
    missing.removeAll(await(admin.listTopics().names(), "list the topics"));
    return missing;
  }

  private void checkTransactionTimeout(Config broker) {
    long wanted = settings.get(KafkaConfig.TRANSACTION_TIMEOUT).toMillis();
    long limit = number(broker, MAX_TRANSACTION_TIMEOUT).orElse(wanted);
    if (limit < wanted) {
      throw new KafkaSetupException(
          "kafka.transaction-timeout is %d ms, the broker's %s is %d: lower the one or raise the other"
              .formatted(wanted, MAX_TRANSACTION_TIMEOUT, limit),
          null);
    }
  }

  /** A broker's or topic's configuration; empty if this client may not read it. */
  private Optional<Config> config(Admin admin, ConfigResource.Type type, String name) {
    ConfigResource resource = new ConfigResource(type, name);
    String what =
        type == ConfigResource.Type.BROKER ? "the broker's limits" : "the limits of " + name;
    try {
      return Optional.of(
          await(admin.describeConfigs(List.of(resource)).all(), "read " + what).get(resource));
    } catch (KafkaSetupException e) {
      if (e.getCause() instanceof AuthorizationException) {
        return Optional.empty();
      }
      throw e;
    }
  }

  private static Optional<Long> number(Config config, String name) {
    return Optional.ofNullable(config.get(name)).map(ConfigEntry::value).map(Long::valueOf);
  }

  private <T> T await(KafkaFuture<T> future, String what) {
    try {
      return future.get(timeout.toMillis() + 1000, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new KafkaSetupException("interrupted", e);
    } catch (ExecutionException e) {
      Throwable cause = e.getCause();
      if (cause instanceof TimeoutException) {
        throw KafkaSetupException.noBroker(brokers, timeout, cause);
      }
      throw new KafkaSetupException(
          "cannot " + what + " on " + brokers + ": " + cause.getMessage(), cause);
    } catch (java.util.concurrent.TimeoutException e) {
      throw KafkaSetupException.noBroker(brokers, timeout, e);
    }
  }
}
