package io.radixflow.jobs.kvevents;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads the KV event topic from its beginning into a {@link KvEventsView} and goes on from there.
 * One thread.
 */
public final class KvEventsReader implements AutoCloseable {

  /** The header of a record without a value: the greatest epoch that it voids, in decimal. */
  static final String EPOCH_HEADER = "epoch";

  private static final Duration POLL = Duration.ofMillis(100);

  private final Consumer<byte[], byte[]> consumer;
  private final List<TopicPartition> partitions = new ArrayList<>();
  private final KvEventsView view;

  /**
   * @param client how to reach the brokers
   * @throws KafkaException if the topic cannot be read
   */
  public KvEventsReader(Properties client, String topic) {
    this(client, topic, Integer.MAX_VALUE);
  }

  /**
   * @param client how to reach the brokers
   * @param maxBlocks most blocks that are kept, see {@link KvEventsView#KvEventsView(int)}
   * @throws KafkaException if the topic cannot be read
   */
  public KvEventsReader(Properties client, String topic, int maxBlocks) {
    view = new KvEventsView(maxBlocks);
    Properties properties = new Properties();
    properties.putAll(client);
    properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
    properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
    properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "earliest");
    consumer =
        new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    try {
      List<PartitionInfo> infos = consumer.partitionsFor(topic);
      if (infos == null || infos.isEmpty()) {
        throw new KafkaException(
            "there is no such topic; start the job with kv-events.enabled=true");
      }
      for (PartitionInfo info : infos) {
        partitions.add(new TopicPartition(topic, info.partition()));
      }
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
    } catch (KafkaException e) {
      consumer.close();
      throw e;
    }
  }

  /**
   * Reads all that the topic has at this moment.
   *
   * @param stopped asked now and then; if true, this returns early
   * @return what is known then; the same object each time
   * @throws KafkaException if the topic cannot be read
   */
  public KvEventsView readToEnd(BooleanSupplier stopped) {
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
    while (!stopped.getAsBoolean() && !hasReached(ends)) {
      consumer.poll(POLL).forEach(this::apply);
    }
    return view;
  }

  /** Partitions of the topic. */
  int partitions() {
    return partitions.size();
  }

  private boolean hasReached(Map<TopicPartition, Long> ends) {
    for (Map.Entry<TopicPartition, Long> end : ends.entrySet()) {
      if (consumer.position(end.getKey()) < end.getValue()) {
        return false;
      }
    }
    return true;
  }

  private void apply(ConsumerRecord<byte[], byte[]> record) {
    if (record.key() != null) {
      view.apply(
          record.partition(),
          new String(record.key(), UTF_8),
          record.value(),
          voided(record.headers().lastHeader(EPOCH_HEADER)),
          record.timestamp());
    }
  }

  /** A record without the header, which another program wrote, voids whatever it names. */
  private static long voided(Header header) {
    try {
      return header == null || header.value() == null
          ? Long.MAX_VALUE
          : Long.parseLong(new String(header.value(), UTF_8));
    } catch (NumberFormatException e) {
      return Long.MAX_VALUE;
    }
  }

  @Override
  public void close() {
    consumer.close();
  }
}
