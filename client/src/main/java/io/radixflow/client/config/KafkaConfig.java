package io.radixflow.client.config;

import java.time.Duration;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;

/** The options of topics, their records and Kafka clients. */
public final class KafkaConfig {

  private static final OptionGroup ALL = new OptionGroup();

  public static final ConfigOption<Integer> EVENT_MAX_BYTES =
      ALL.integer("events.max-bytes", 4 << 20, 1024, 64 << 20)
          .describe("Largest event that is read; a larger one is rejected.");

  public static final ConfigOption<Integer> REPLY_MAX_BYTES =
      ALL.integer("replies.max-bytes", 900_000, 16 * 1024, 64 << 20)
          .describe(
              "Largest reply; below the topic's max.message.bytes. See 'truncated' in the reply.");

  public static final ConfigOption<Integer> DEAD_LETTER_MAX_BYTES =
      ALL.integer("dead-letters.max-bytes", 900_000, 1, 64 << 20)
          .describe(
              "Bytes of an unreadable record that are kept; below the topic's max.message.bytes.");

  public static final ConfigOption<String> BOOTSTRAP_SERVERS =
      ALL.text("kafka.bootstrap-servers", "localhost:9092")
          .describe("Bootstrap brokers, HOST:PORT[,HOST:PORT…].");

  public static final ConfigOption<String> EVENTS_TOPIC =
      ALL.text("kafka.topic.events", "conversation-events")
          .describe("Topic of conversation events, which the job reads.");

  public static final ConfigOption<String> REPLIES_TOPIC =
      ALL.text("kafka.topic.replies", "replies")
          .describe(
              "Topic of replies, written exactly once; read it with isolation level"
                  + " read_committed.");

  public static final ConfigOption<String> DELTAS_TOPIC =
      ALL.text("kafka.topic.deltas", "reply-deltas")
          .describe("Topic of pieces of replies that are being generated, written at least once.");

  public static final ConfigOption<String> DEAD_LETTERS_TOPIC =
      ALL.text("kafka.topic.dead-letters", "conversation-dead-letters")
          .describe("Topic of records that cannot be read, written at least once.");

  public static final ConfigOption<String> CONTROL_TOPIC =
      ALL.text("kafka.topic.control", "conversation-control")
          .describe("Topic of control events, read by every subtask.");

  public static final ConfigOption<String> KV_EVENTS_TOPIC =
      ALL.text("kafka.topic.kv-events", "kv-events")
          .describe(
              "Compacted topic of the contents of the engines' caches; used only with"
                  + " kv-events.enabled.");

  public static final ConfigOption<String> INDEX_TOPIC =
      ALL.text("kafka.topic.index", "conversation-index")
          .describe(
              "Compacted topic with a record for each session, written exactly once; used only with"
                  + " session.index.");

  public static final ConfigOption<Boolean> REQUIRE_SESSION_KEY =
      ALL.flag("kafka.require-session-key", true)
          .describe(
              "Whether an event becomes a dead letter if its record's key is not its session. With"
                  + " 'false' other keys are allowed, and the sender is responsible for the order"
                  + " of a session's events.");

  public static final ConfigOption<Boolean> CREATE_TOPICS =
      ALL.flag("kafka.create-topics", false)
          .describe("Whether missing topics are created at start.");

  public static final ConfigOption<Integer> PARTITIONS =
      ALL.integer("kafka.partitions", 4, 1, 10_000)
          .describe("Partitions of topics that are created.");

  public static final ConfigOption<Integer> REPLICATION =
      ALL.integer("kafka.replication", 1, 1, 100)
          .describe("Replication factor of topics that are created.");

  public static final ConfigOption<String> GROUP_ID =
      ALL.text("kafka.group-id", "radixflow")
          .describe("Consumer group under which read offsets are published.");

  public static final ConfigOption<StartFrom> START_FROM =
      ALL.choice("kafka.start-from", StartFrom.COMMITTED)
          .describe(
              "Where a job without a checkpoint starts to read; 'committed' is the group's offset, "
                  + "or the earliest event.");

  public static final ConfigOption<String> TRANSACTIONAL_ID_PREFIX =
      ALL.text("kafka.transactional-id-prefix", "radixflow")
          .describe("Prefix of the transactional ids; unique for each job on a Kafka cluster.");

  public static final ConfigOption<Duration> TRANSACTION_TIMEOUT =
      ALL.duration("kafka.transaction-timeout", Duration.ofMinutes(15))
          .describe(
              "After this time without a commit the broker aborts replies, and the job must write"
                  + " them again. At least a minute more than job.checkpoint-interval, and at most"
                  + " the broker's transaction.max.timeout.ms.");

  public static final ConfigOption<Duration> CONNECT_TIMEOUT =
      ALL.duration("kafka.connect-timeout", Duration.ofSeconds(30))
          .describe("How long the start waits for a broker.");

  private KafkaConfig() {}

  static List<OptionSpec<?>> specs() {
    return ALL.specs();
  }

  /** The position from which a job without a checkpoint reads. */
  public enum StartFrom {
    COMMITTED,
    EARLIEST,
    LATEST
  }
}
