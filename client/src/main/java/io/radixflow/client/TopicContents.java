package io.radixflow.client;

import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.KafkaClient;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** Reads a topic from its beginning to its current end. */
public final class TopicContents {
  private static final Duration POLL = Duration.ofMillis(500);
  private static final Duration LIMIT = Duration.ofMinutes(3);

  private TopicContents() {}

  /** Receives the records. */
  @FunctionalInterface
  public interface Visitor {
    void record(ConsumerRecord<byte[], byte[]> record) throws IOException;
  }

  /**
   * Passes all committed records to a visitor, in order within each partition.
   *
   * @throws IOException if the end is not reached in time, for example because a transaction stays
   *     open
   */
  public static void read(Settings settings, String topic, Visitor visitor) throws IOException {
    try (KafkaConsumer<byte[], byte[]> consumer = KafkaClient.CONTENTS.consumer(settings)) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(topic).stream()
              .map(info -> new TopicPartition(topic, info.partition()))
              .toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      long deadline = System.nanoTime() + LIMIT.toNanos();
      while (partitions.stream().anyMatch(p -> consumer.position(p) < ends.get(p))) {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(POLL)) {
          visitor.record(record);
        }
        if (System.nanoTime() > deadline) {
          throw new IOException("the end of " + topic + " is not reached");
        }
      }
    }
  }
}
