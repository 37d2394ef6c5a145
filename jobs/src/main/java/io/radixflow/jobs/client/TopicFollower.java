package io.radixflow.jobs.client;

import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.Settings;
import io.radixflow.jobs.kafka.KafkaSetupException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads a topic on a thread of its own, committed records only, and commits no offsets: any number
 * can follow.
 */
public final class TopicFollower implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(TopicFollower.class);
  private static final Duration POLL = Duration.ofSeconds(1);

  private final org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer;
  private final String topic;
  private final Consumer<ConsumerRecord<byte[], byte[]>> handler;
  private final Consumer<KafkaSetupException> failed;
  private final Thread thread;

  private TopicFollower(
      org.apache.kafka.clients.consumer.Consumer<byte[], byte[]> consumer,
      String topic,
      Consumer<ConsumerRecord<byte[], byte[]>> handler,
      Consumer<KafkaSetupException> failed) {
    this.consumer = consumer;
    this.topic = topic;
    this.handler = handler;
    this.failed = failed;
    this.thread = new Thread(this::run, "follow-" + topic);
    this.thread.setDaemon(true);
  }

  /**
   * Starts to follow: what is written after this returns is read.
   *
   * @param earliest whether to begin with what the topic already has
   * @param handler takes each record on the follower's thread; one on which it throws is logged and
   *     passed over
   * @param failed hears on the follower's thread that no more records will come, and what to do
   * @throws KafkaSetupException if the topic cannot be read
   */
  public static TopicFollower start(
      Settings settings,
      String topic,
      boolean earliest,
      Consumer<ConsumerRecord<byte[], byte[]>> handler,
      Consumer<KafkaSetupException> failed) {
    Properties properties = settings.kafkaClient();
    properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    properties.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "500");
    long timeout = settings.get(RadixflowOptions.CONNECT_TIMEOUT).toMillis();
    properties.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Long.toString(timeout));
    KafkaConsumer<byte[], byte[]> consumer = null;
    try {
      consumer =
          new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
      List<TopicPartition> partitions = new ArrayList<>();
      List<PartitionInfo> infos = consumer.partitionsFor(topic);
      if (infos == null || infos.isEmpty()) {
        throw new KafkaException("there is no such topic; start the job, or create it");
      }
      for (PartitionInfo info : infos) {
        partitions.add(new TopicPartition(topic, info.partition()));
      }
      consumer.assign(partitions);
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
      String brokers = settings.get(RadixflowOptions.BOOTSTRAP_SERVERS);
      if (e instanceof TimeoutException) {
        throw KafkaSetupException.noBroker(brokers, Duration.ofMillis(timeout), e);
      }
      throw new KafkaSetupException(
          "cannot read the topic " + topic + " on " + brokers + ": " + e.getMessage(), e);
    }
    return start(consumer, topic, handler, failed);
  }

  /** Follows with a consumer that has its partitions and its position; closes it. */
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
