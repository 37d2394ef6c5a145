package io.radixflow.client.kafka;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Assigns all partitions of a topic to a consumer without a group. Partitions that are added later
 * are read from their beginning. The consumer's thread calls it.
 */
public final class AssignedPartitions {
  private static final Logger LOG = LoggerFactory.getLogger(AssignedPartitions.class);
  private static final long REFRESH_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Consumer<byte[], byte[]> consumer;
  private final String topic;
  private volatile Set<TopicPartition> partitions;
  private long refreshed = System.nanoTime();

  /**
   * Assigns all existing partitions. The caller sets their positions.
   *
   * @param hint what to do if the topic does not exist
   * @throws KafkaException if the topic does not exist or cannot be read
   */
  public static AssignedPartitions of(
      Consumer<byte[], byte[]> consumer, String topic, String hint) {
    Set<TopicPartition> found = partitions(consumer, topic);
    if (found.isEmpty()) {
      throw new KafkaException("there is no such topic; " + hint);
    }
    consumer.assign(found);
    return new AssignedPartitions(consumer, topic);
  }

  /** Continues with the partitions that the consumer already has. */
  public AssignedPartitions(Consumer<byte[], byte[]> consumer, String topic) {
    this.consumer = consumer;
    this.topic = topic;
    this.partitions = Set.copyOf(consumer.assignment());
  }

  /** Returns the assigned partitions. Any thread may call it. */
  public Set<TopicPartition> current() {
    return partitions;
  }

  /**
   * Assigns partitions that were added to the topic, if the consumer's metadata has them. It looks
   * at most once per second, because without metadata of the topic it waits for the brokers.
   */
  public void refresh() {
    long now = System.nanoTime();
    if (now - refreshed < REFRESH_NANOS) {
      return;
    }
    refreshed = now;
    try {
      assign(partitions(consumer, topic));
    } catch (TimeoutException e) {
      LOG.debug("no metadata of {}", topic, e);
    }
  }

  private void assign(Set<TopicPartition> found) {
    if (found.isEmpty() || found.equals(partitions)) {
      return;
    }
    Set<TopicPartition> added = new HashSet<>(found);
    added.removeAll(partitions);
    LOG.info("Topic {} has {} partitions now, {} before", topic, found.size(), partitions.size());
    consumer.assign(found);
    consumer.seekToBeginning(added);
    partitions = Set.copyOf(found);
  }

  private static Set<TopicPartition> partitions(Consumer<byte[], byte[]> consumer, String topic) {
    List<PartitionInfo> infos = consumer.partitionsFor(topic);
    return infos == null
        ? Set.of()
        : infos.stream()
            .map(info -> new TopicPartition(topic, info.partition()))
            .collect(Collectors.toSet());
  }
}
