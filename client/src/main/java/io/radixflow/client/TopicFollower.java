package io.radixflow.client;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.AssignedPartitions;
import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.client.kafka.KafkaSetupException;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads the committed records of a topic on its own thread. It commits no offsets, so any number of
 * followers can read a topic. Partitions that are added to the topic are read from their beginning.
 */
public final class TopicFollower implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(TopicFollower.class);
  private static final Duration POLL = Duration.ofSeconds(1);

  private final org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer;
  private final String topic;
  private final Consumer<ConsumerRecord<byte[], byte[]>> handler;
  private final Consumer<KafkaSetupException> failed;
  private final Thread thread;
  private final AssignedPartitions partitions;
  private volatile long polled = System.nanoTime();

  private TopicFollower(
      org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer,
      String topic,
      Consumer<ConsumerRecord<byte[], byte[]>> handler,
      Consumer<KafkaSetupException> failed) {
    this.consumer = consumer;
    this.topic = topic;
    this.handler = handler;
    this.failed = failed;
    this.partitions = new AssignedPartitions(consumer, topic);
    this.thread = new Thread(this::run, "follow-" + topic);
    this.thread.setDaemon(true);
  }

  /**
   * Starts following. It reads all records that are written after this method returns.
   *
   * @param earliest whether to begin with the records that the topic already has
   * @param handler receives each record on the follower's thread; if it throws, the record is
   *     logged and skipped
   * @param failed called on the follower's thread if no more records will come; the message says
   *     what to do
   * @throws KafkaSetupException if the topic cannot be read
   */
  public static TopicFollower start(
      Settings settings,
      String topic,
      boolean earliest,
      Consumer<ConsumerRecord<byte[], byte[]>> handler,
      Consumer<KafkaSetupException> failed) {
    long timeout = settings.get(KafkaConfig.CONNECT_TIMEOUT).toMillis();
    KafkaConsumer<byte[], byte[]> consumer = null;
    try {
      consumer = KafkaClient.FOLLOWER.consumer(settings);
      Set<TopicPartition> partitions =
          AssignedPartitions.of(consumer, topic, "start the job, or create it").current();
      if (earliest) {
        consumer.seekToBeginning(partitions);
      } else {
        consumer.seekToEnd(partitions);
      }
      partitions.forEach(consumer::position);
    } catch (KafkaException e) {
      if (consumer != null) {
        consumer.close();
      }
      String brokers = settings.get(KafkaConfig.BOOTSTRAP_SERVERS);
      if (e instanceof TimeoutException) {
        throw KafkaSetupException.noBroker(brokers, Duration.ofMillis(timeout), e);
      }
      throw new KafkaSetupException(
          "cannot read the topic " + topic + " on " + brokers + ": " + e.getMessage(), e);
    }
    return start(consumer, topic, handler, failed);
  }

  /**
   * Follows with a consumer that has its partitions and its position. The follower closes the
   * consumer.
   */
  static TopicFollower start(
      org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer,
      String topic,
      Consumer<ConsumerRecord<byte[], byte[]>> handler,
      Consumer<KafkaSetupException> failed) {
    TopicFollower follower = new TopicFollower(consumer, topic, handler, failed);
    follower.thread.start();
    return follower;
  }

  private void run() {
    try (consumer) {
      while (true) {
        consumer.poll(POLL).forEach(this::handle);
        partitions.refresh();
        polled = System.nanoTime();
      }
    } catch (WakeupException e) {
      LOG.debug("stopped");
    } catch (RuntimeException | Error e) {
      LOG.error("following {} ended", topic, e);
      failed.accept(
          new KafkaSetupException(
              "the topic "
                  + topic
                  + " can no longer be read: "
                  + e.getMessage()
                  + "; check the brokers and start this command again",
              e));
    }
  }

  private void handle(ConsumerRecord<byte[], byte[]> record) {
    try {
      handler.accept(record);
    } catch (RuntimeException e) {
      LOG.warn("passed over {}-{}@{}", record.topic(), record.partition(), record.offset(), e);
    }
  }

  /** Returns the number of partitions. Any thread may call it. */
  public int partitions() {
    return partitions.current().size();
  }

  /**
   * Returns the time since the last call to the brokers ended or the last record was handled; a few
   * seconds are usual.
   */
  public Duration still() {
    return Duration.ofNanos(System.nanoTime() - polled);
  }

  /** Stops reading and waits for the thread. */
  @Override
  public void close() {
    consumer.wakeup();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
