package io.radixflow.jobs.kafka;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.client.kafka.KafkaSetupException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongConsumer;
import java.util.stream.Collectors;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The offsets of a topic at one moment.
 *
 * @param id id of the topic; zero if the brokers have no topic ids
 * @param beginnings the first offset of each partition
 * @param ends the next offset of each partition
 * @param committed the next offset to read of each partition when the job's last checkpoint was
 *     complete
 */
record TopicOffsets(
    String topic,
    Uuid id,
    Map<Integer, Long> beginnings,
    Map<Integer, Long> ends,
    Map<Integer, Long> committed) {
  private static final Logger LOG = LoggerFactory.getLogger(TopicOffsets.class);

  /**
   * Asks the brokers and waits for their answer.
   *
   * @param isolation whether the ends are before or after open transactions
   * @throws KafkaSetupException if they do not answer, or if the topic does not exist
   */
  static TopicOffsets ask(Settings settings, String topic, IsolationLevel isolation) {
    long millis = settings.get(KafkaConfig.CONNECT_TIMEOUT).toMillis();
    try (Admin admin = KafkaClient.ADMIN.admin(settings)) {
      TopicDescription description =
          admin
              .describeTopics(List.of(topic))
              .topicNameValues()
              .get(topic)
              .get(millis, TimeUnit.MILLISECONDS);
      List<TopicPartition> partitions =
          description.partitions().stream()
              .map(each -> new TopicPartition(topic, each.partition()))
              .toList();
      return new TopicOffsets(
          topic,
          description.topicId(),
          offsets(admin, partitions, OffsetSpec.earliest(), isolation, millis),
          offsets(admin, partitions, OffsetSpec.latest(), isolation, millis),
          committed(admin, settings, topic, millis));
    } catch (ExecutionException e) {
      throw unknown(settings, topic, e.getCause());
    } catch (KafkaException | TimeoutException e) {
      throw unknown(settings, topic, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw unknown(settings, topic, e);
    }
  }

  private static Map<Integer, Long> offsets(
      Admin admin,
      List<TopicPartition> partitions,
      OffsetSpec spec,
      IsolationLevel isolation,
      long millis)
      throws InterruptedException, ExecutionException, TimeoutException {
    Map<Integer, Long> offsets = new HashMap<>();
    admin
        .listOffsets(
            partitions.stream().collect(Collectors.toMap(each -> each, each -> spec)),
            new ListOffsetsOptions(isolation))
        .all()
        .get(millis, TimeUnit.MILLISECONDS)
        .forEach((partition, found) -> offsets.put(partition.partition(), found.offset()));
    return offsets;
  }

  /** Returns the group's offsets; empty if this client may not see them. */
  private static Map<Integer, Long> committed(
      Admin admin, Settings settings, String topic, long millis)
      throws InterruptedException, TimeoutException {
    Map<Integer, Long> committed = new HashMap<>();
    try {
      admin
          .listConsumerGroupOffsets(settings.get(KafkaConfig.GROUP_ID))
          .partitionsToOffsetAndMetadata()
          .get(millis, TimeUnit.MILLISECONDS)
          .forEach(
              (partition, offset) -> {
                if (partition.topic().equals(topic) && offset != null) {
                  committed.put(partition.partition(), offset.offset());
                }
              });
    } catch (ExecutionException e) {
      LOG.debug("the group's offsets are not known", e);
    }
    return committed;
  }

  private static KafkaSetupException unknown(Settings settings, String topic, Throwable cause) {
    return new KafkaSetupException(
        "cannot ask for the offsets of the topic %s on %s: %s"
            .formatted(topic, settings.get(KafkaConfig.BOOTSTRAP_SERVERS), cause.getMessage()),
        cause);
  }

  Map<TopicPartition, Long> endsByPartition() {
    Map<TopicPartition, Long> all = new HashMap<>();
    ends.forEach((partition, end) -> all.put(new TopicPartition(topic, partition), end));
    return all;
  }

  /**
   * Returns the offset to continue from for each split, and warns if it differs from the split's
   * offset. If the topic was created again, or if the split's offset is after the end of the
   * partition, the new offset is the first record. If the split's offset is before the beginning,
   * the new offset is the beginning. A split of a missing partition is left out.
   *
   * @param deleted receives the number of offsets between a split and the later beginning of its
   *     partition
   */
  List<KafkaPartitionSplit> fit(List<KafkaPartitionSplit> splits, LongConsumer deleted) {
    List<KafkaPartitionSplit> fitting = new ArrayList<>();
    for (KafkaPartitionSplit split : splits) {
      if (ends.containsKey(split.getPartition())) {
        fitting.add(new TopicSplit(fit(split, deleted), id));
      } else {
        LOG.warn(
            "Topic {} no longer has partition {}, which was read up to offset {}",
            topic,
            split.getPartition(),
            split.getStartingOffset());
      }
    }
    return fitting;
  }

  private KafkaPartitionSplit fit(KafkaPartitionSplit split, LongConsumer deleted) {
    int partition = split.getPartition();
    long offset = split.getStartingOffset();
    long beginning = beginnings.get(partition);
    long end = ends.get(partition);
    if (offset < 0) {
      return split;
    }
    if (isOther(TopicSplit.topicId(split))) {
      LOG.warn(
          "Topic {} was deleted and created again since the state was written: its id was {} and is"
              + " {}. Partition {} was read up to offset {} of the old topic; the new one is read"
              + " from its beginning, offsets {} to {}. Events of the old topic that were not read"
              + " are lost",
          topic,
          TopicSplit.topicId(split),
          id,
          partition,
          offset,
          beginning,
          end);
      return at(split, beginning);
    }
    if (offset > end) {
      LOG.warn(
          "Partition {} of topic {} ends at offset {}, before offset {}, up to which it was read:"
              + " it lost records. It is read from its beginning, offset {}; turns that are known"
              + " are not answered again",
          partition,
          topic,
          end,
          offset,
          beginning);
      return at(split, beginning);
    }
    if (offset < beginning) {
      LOG.error(
          "{} records of partition {} of topic {} were deleted before they were read, offsets {} to"
              + " {}: raise the topic's retention.ms and retention.bytes above the longest time"
              + " that the job may be down",
          beginning - offset,
          partition,
          topic,
          offset,
          beginning - 1);
      deleted.accept(beginning - offset);
      return at(split, beginning);
    }
    long read = committed.getOrDefault(partition, offset);
    if (read > offset) {
      LOG.warn(
          "The job is restored from a state that is older than its last checkpoint: partition {} of"
              + " topic {} was read up to offset {} already and is read again from {} on. Its {}"
              + " records are answered once more",
          partition,
          topic,
          read,
          offset,
          read - offset);
    }
    return split;
  }

  private boolean isOther(Uuid known) {
    return !known.equals(Uuid.ZERO_UUID) && !id.equals(Uuid.ZERO_UUID) && !known.equals(id);
  }

  private static KafkaPartitionSplit at(KafkaPartitionSplit split, long offset) {
    return new KafkaPartitionSplit(split.getTopicPartition(), offset);
  }
}
