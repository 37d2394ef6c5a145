package io.radixflow.jobs.local;

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

  private final KafkaConsumer<byte[], byte[]> consumer;
  private final Consumer<ConsumerRecord<byte[], byte[]>> handler;
  private final Thread thread;

  private TopicFollower(
      KafkaConsumer<byte[], byte[]> consumer,
      String topic,
      Consumer<ConsumerRecord<byte[], byte[]>> handler) {
    this.consumer = consumer;
    this.handler = handler;
    this.thread = new Thread(this::run, "follow-" + topic);
    this.thread.setDaemon(true);
  }

  /**
   * Starts to follow: what is written after this returns is read.
   *
   * @param earliest whether to begin with what the topic already has
   * @param handler takes each record on the follower's thread
   * @throws KafkaSetupException if the topic cannot be read
   */
  public static TopicFollower start(
      Settings settings,
      String topic,
      boolean earliest,
      Consumer<ConsumerRecord<byte[], byte[]>> handler) {
    Properties properties = settings.kafkaClient();
    properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    properties.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "100");
    long timeout = settings.get(RadixflowOptions.CONNECT_TIMEOUT).toMillis();
    properties.put(ConsumerConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Long.toString(timeout));
    KafkaConsumer<byte[], byte[]> consumer = null;
    try {
      consumer =
          new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
      List<TopicPartition> partitions = new ArrayList<>();
      for (PartitionInfo info : consumer.partitionsFor(topic)) {
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
      throw new KafkaSetupException(
          "cannot read the topic "
              + topic
              + " on "
              + settings.get(RadixflowOptions.BOOTSTRAP_SERVERS)
              + ": "
              + e.getMessage(),
          e);
    }
    TopicFollower follower = new TopicFollower(consumer, topic, handler);
    follower.thread.start();
    return follower;
  }

  private void run() {
    try (consumer) {
      while (true) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          handler.accept(record);
        }
      }
    } catch (WakeupException e) {
      LOG.debug("stopped");
    } catch (RuntimeException e) {
      LOG.error("following ended", e);
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
