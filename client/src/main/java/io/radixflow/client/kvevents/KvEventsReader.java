package io.radixflow.client.kvevents;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.AssignedPartitions;
import io.radixflow.client.kafka.KafkaClient;
import java.time.Duration;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;

/**
 * Reads the KV event topic from its beginning into a {@link KvEventsView}, and then continues. Only
 * one thread may use this.
 */
public final class KvEventsReader implements AutoCloseable {

  /** The header of a record without a value: the greatest epoch that it voids, in decimal. */
  public static final String EPOCH_HEADER = "epoch";

  private static final Duration POLL = Duration.ofMillis(100);

  private final Consumer<byte[], byte[]> consumer;
  private final AssignedPartitions partitions;
  private final KvEventsView view;

  /**
   * @throws KafkaException if the topic cannot be read
   */
  public KvEventsReader(Settings settings) {
    this(settings, Integer.MAX_VALUE);
  }

  /**
   * @param maxBlocks the most blocks to keep, see {@link KvEventsView#KvEventsView(int)}
   * @throws KafkaException if the topic cannot be read
   */
  public KvEventsReader(Settings settings, int maxBlocks) {
    view = new KvEventsView(maxBlocks);
    consumer = KafkaClient.KV_EVENTS_READER.consumer(settings);
    try {
      partitions =
          AssignedPartitions.of(
              consumer,
              settings.get(KafkaConfig.KV_EVENTS_TOPIC),
              "start the job with kv-events.enabled=true");
      consumer.seekToBeginning(partitions.current());
    } catch (KafkaException e) {
      consumer.close();
      throw e;
    }
  }

  /**
   * Reads all records that the topic has at this moment.
   *
   * @param stopped checked repeatedly; if true, this method returns early
   * @return the view at that moment; the same object each time
   * @throws KafkaException if the topic cannot be read
   */
  public KvEventsView readToEnd(BooleanSupplier stopped) {
    partitions.refresh();
    Map<TopicPartition, Long> ends = consumer.endOffsets(partitions.current());
    while (!stopped.getAsBoolean() && !hasReached(ends)) {
      consumer.poll(POLL).forEach(this::apply);
    }
    return view;
  }

  /** Partitions of the topic. */
  public int partitions() {
    return partitions.current().size();
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

  /**
   * Returns the greatest voided epoch. A record without the header comes from another program and
   * voids every epoch.
   */
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
