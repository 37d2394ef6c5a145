package io.radixflow.client.kafka;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.apache.flink.configuration.ConfigOption;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * All kinds of Kafka clients, with the properties of each kind. The table of docs/kafka.md gives
 * the reasons. {@code kafka.client.*} overrides the defaults of a kind, but not its fixed
 * properties. Only this class makes clients.
 */
public enum KafkaClient {
  EVENTS(
      Role.CONSUMER, Map.of(Limits.DISCOVERY_KEY, Limits.DISCOVERY_MILLIS), settings -> Map.of()),
  CONTROL(
      Role.CONSUMER, Map.of(Limits.DISCOVERY_KEY, Limits.DISCOVERY_MILLIS), settings -> Map.of()),
  REPLIES(
      Role.PRODUCER,
      Map.of(ProducerConfig.LINGER_MS_CONFIG, "1000"),
      settings ->
          Map.of(
              ProducerConfig.TRANSACTION_TIMEOUT_CONFIG,
              millis(settings, KafkaConfig.TRANSACTION_TIMEOUT),
              ProducerConfig.MAX_REQUEST_SIZE_CONFIG,
              recordBytes(settings.get(KafkaConfig.REPLY_MAX_BYTES)))),
  INDEX(
      Role.PRODUCER,
      Map.of(ProducerConfig.LINGER_MS_CONFIG, "1000"),
      settings ->
          Map.of(
              ProducerConfig.TRANSACTION_TIMEOUT_CONFIG,
              millis(settings, KafkaConfig.TRANSACTION_TIMEOUT))),
  DELTAS(
      Role.PRODUCER,
      Map.of(
          ProducerConfig.LINGER_MS_CONFIG,
          "0",
          ProducerConfig.MAX_IN_FLIGHT_REQUESTS_PER_CONNECTION,
          "1"),
      settings -> Map.of(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, recordBytes(Limits.DELTA_BYTES))),
  DEAD_LETTERS(
      Role.PRODUCER,
      Map.of(),
      settings ->
          Map.of(
              ProducerConfig.MAX_REQUEST_SIZE_CONFIG,
              recordBytes(settings.get(KafkaConfig.DEAD_LETTER_MAX_BYTES)))),
  KV_EVENTS(Role.PRODUCER, Map.of(ProducerConfig.LINGER_MS_CONFIG, "5"), settings -> Map.of()),
  EVENT_SENDER(
      Role.PRODUCER,
      Map.of(ProducerConfig.LINGER_MS_CONFIG, "0"),
      settings ->
          Map.of(
              ProducerConfig.MAX_REQUEST_SIZE_CONFIG,
              Integer.toString(Limits.SENT_BYTES),
              ProducerConfig.BUFFER_MEMORY_CONFIG,
              Integer.toString(2 * Limits.SENT_BYTES),
              ProducerConfig.MAX_BLOCK_MS_CONFIG,
              millis(settings, KafkaConfig.CONNECT_TIMEOUT))),
  FOLLOWER(Role.CONSUMER, Map.of(), KafkaClient::connectTimeout),
  CONTENTS(
      Role.CONSUMER, Map.of(), settings -> Map.of(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none")),
  KV_EVENTS_READER(Role.CONSUMER, Map.of(), KafkaClient::connectTimeout),
  COMMITTED_REPLIES(Role.CONSUMER, Map.of(), settings -> Map.of()),
  WRITTEN_REPLIES(
      Role.CONSUMER,
      Map.of(),
      settings ->
          Map.of(
              ConsumerConfig.ISOLATION_LEVEL_CONFIG, IsolationLevel.READ_UNCOMMITTED.toString())),
  ADMIN(
      Role.ADMIN,
      Map.of(),
      settings ->
          Map.of(
              CommonClientConfigs.REQUEST_TIMEOUT_MS_CONFIG,
              millis(settings, KafkaConfig.CONNECT_TIMEOUT),
              CommonClientConfigs.DEFAULT_API_TIMEOUT_MS_CONFIG,
              millis(settings, KafkaConfig.CONNECT_TIMEOUT))),
  PROBE(
      Role.ADMIN,
      Map.of(
          CommonClientConfigs.REQUEST_TIMEOUT_MS_CONFIG,
          "4000",
          CommonClientConfigs.DEFAULT_API_TIMEOUT_MS_CONFIG,
          "4000"),
      settings -> Map.of());

  private static final AtomicInteger CLIENTS = new AtomicInteger();

  /** Room for a record's key and headers and for its batch's header, in bytes. */
  public static final int RECORD_OVERHEAD = 64 * 1024;

  /** Limits without an option. */
  private static final class Limits {
    /** Of the sources in the job; Kafka ignores it. */
    static final String DISCOVERY_KEY = "partition.discovery.interval.ms";

    /** After this time every client knows new partitions. */
    static final String DISCOVERY_MILLIS = "10000";

    /** The most bytes of a delta. By default topics accept records of one megabyte. */
    static final int DELTA_BYTES = 900_000;

    /** The most bytes of a record from a client of conversations. */
    static final int SENT_BYTES = 32 << 20;
  }

  private enum Role {
    CONSUMER(
        Map.of(
            ConsumerConfig.ISOLATION_LEVEL_CONFIG,
            IsolationLevel.READ_COMMITTED.toString(),
            ConsumerConfig.AUTO_OFFSET_RESET_CONFIG,
            "earliest",
            ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
            "false",
            ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG,
            "false"),
        Map.of(
            ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG,
            "500",
            ConsumerConfig.FETCH_MAX_BYTES_CONFIG,
            "52428800",
            ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG,
            "60000")),
    PRODUCER(
        Map.of(ProducerConfig.ACKS_CONFIG, "all", ProducerConfig.ENABLE_IDEMPOTENCE_CONFIG, "true"),
        Map.of(ProducerConfig.DELIVERY_TIMEOUT_MS_CONFIG, "120000")),
    ADMIN(Map.of(), Map.of());

    final Map<String, String> fixed;
    final Map<String, String> defaults;

    Role(Map<String, String> fixed, Map<String, String> defaults) {
      this.fixed = fixed;
      this.defaults = defaults;
    }
  }

  private final Role role;
  private final Map<String, String> defaults;
  private final Function<Settings, Map<String, String>> fixed;

  KafkaClient(
      Role role, Map<String, String> defaults, Function<Settings, Map<String, String>> fixed) {
    this.role = role;
    this.defaults = defaults;
    this.fixed = fixed;
  }

  /**
   * Refuses options that would have no effect.
   *
   * @throws KafkaSetupException if {@code kafka.client.*} sets a property that is fixed for all
   *     clients
   */
  public static void check(Settings settings) {
    Properties given = settings.kafkaClient();
    for (Role role : Role.values()) {
      role.fixed.forEach(
          (key, value) -> {
            if (!value.equals(given.getProperty(key, value))) {
              throw new KafkaSetupException(
                  "kafka.client.%s is %s; Radixflow works only with %s: leave it out"
                      .formatted(key, given.getProperty(key), value),
                  null);
            }
          });
    }
  }

  /** Returns new properties: the given options, the brokers, and the properties of this kind. */
  public Properties properties(Settings settings) {
    Properties properties = settings.kafkaClient();
    properties.putAll(role.fixed);
    properties.putAll(fixed.apply(settings));
    defaults.forEach(properties::putIfAbsent);
    role.defaults.forEach(properties::putIfAbsent);
    properties.putIfAbsent(CommonClientConfigs.METADATA_MAX_AGE_CONFIG, Limits.DISCOVERY_MILLIS);
    properties.putIfAbsent(CommonClientConfigs.REQUEST_TIMEOUT_MS_CONFIG, "30000");
    return properties;
  }

  /** Makes a consumer of this kind. */
  public KafkaConsumer<byte[], byte[]> consumer(Settings settings) {
    return new KafkaConsumer<>(
        named(settings), new ByteArrayDeserializer(), new ByteArrayDeserializer());
  }

  /** Makes a producer of this kind. */
  public KafkaProducer<byte[], byte[]> producer(Settings settings) {
    return new KafkaProducer<>(
        named(settings), new ByteArraySerializer(), new ByteArraySerializer());
  }

  /** Makes an admin client of this kind. */
  public Admin admin(Settings settings) {
    return Admin.create(named(settings));
  }

  /**
   * Returns the properties with a client id, which distinguishes the clients of a process in the
   * brokers' logs and in thread dumps.
   */
  private Properties named(Settings settings) {
    Properties properties = properties(settings);
    String kind = name().toLowerCase(Locale.ROOT).replace('_', '-');
    properties.putIfAbsent(
        CommonClientConfigs.CLIENT_ID_CONFIG, kind + "-" + CLIENTS.incrementAndGet());
    return properties;
  }

  private static Map<String, String> connectTimeout(Settings settings) {
    return Map.of(
        CommonClientConfigs.DEFAULT_API_TIMEOUT_MS_CONFIG,
        millis(settings, KafkaConfig.CONNECT_TIMEOUT));
  }

  private static String millis(Settings settings, ConfigOption<Duration> option) {
    return Long.toString(settings.get(option).toMillis());
  }

  private static String recordBytes(int valueBytes) {
    return Integer.toString(valueBytes + RECORD_OVERHEAD);
  }
}
