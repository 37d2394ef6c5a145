package io.radixflow.jobs.kafka;

import io.radixflow.client.kafka.KafkaSetupException;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.flink.api.connector.source.ReaderOutput;
import org.apache.flink.api.connector.source.SourceEvent;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.core.io.InputStatus;
import org.apache.flink.metrics.Counter;
import org.apache.kafka.common.Uuid;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Flink's reader of a topic, with the topic's id in its state. Its partitions continue at the
 * offsets of {@link TopicOffsets#fit}. The task's thread waits for the brokers when it gets
 * partitions: at a start, and when partitions are added.
 */
final class TopicReader<T> implements SourceReader<T, KafkaPartitionSplit> {
  private static final Logger LOG = LoggerFactory.getLogger(TopicReader.class);

  private final SourceReader<T, KafkaPartitionSplit> kafka;
  private final Supplier<TopicOffsets> topic;
  private final Counter deleted;
  private final Map<Integer, Long> offsets = new HashMap<>();
  private Uuid topicId = Uuid.ZERO_UUID;

  /**
   * @param topic asks the brokers
   * @param deleted counts records that were deleted before they were read
   */
  TopicReader(
      SourceReader<T, KafkaPartitionSplit> kafka, Supplier<TopicOffsets> topic, Counter deleted) {
    this.kafka = kafka;
    this.topic = topic;
    this.deleted = deleted;
  }

  @Override
  public void addSplits(List<KafkaPartitionSplit> splits) {
    TopicOffsets now = topic.get();
    topicId = now.id();
    kafka.addSplits(now.fit(splits, deleted::inc));
  }

  @Override
  public List<KafkaPartitionSplit> snapshotState(long checkpoint) {
    List<KafkaPartitionSplit> splits = kafka.snapshotState(checkpoint);
    if (splits.stream().anyMatch(this::isEarlierThanBefore)) {
      topicId = askAgain();
    }
    splits.forEach(split -> offsets.put(split.getPartition(), split.getStartingOffset()));
    return splits.stream()
        .<KafkaPartitionSplit>map(split -> new TopicSplit(split, topicId))
        .toList();
  }

  /**
   * Returns whether a split is before an earlier position. A reader goes back if the topic is
   * created again while it reads.
   */
  private boolean isEarlierThanBefore(KafkaPartitionSplit split) {
    return split.getStartingOffset() < offsets.getOrDefault(split.getPartition(), Long.MIN_VALUE);
  }

  private Uuid askAgain() {
    try {
      return topic.get().id();
    } catch (KafkaSetupException e) {
      LOG.warn("The id of the topic is not known; a restore does not compare it", e);
      return Uuid.ZERO_UUID;
    }
  }

  @Override
  public void start() {
    kafka.start();
  }

  @Override
  public InputStatus pollNext(ReaderOutput<T> output) throws Exception {
    return kafka.pollNext(output);
  }

  @Override
  public CompletableFuture<Void> isAvailable() {
    return kafka.isAvailable();
  }

  @Override
  public void notifyNoMoreSplits() {
    kafka.notifyNoMoreSplits();
  }

  @Override
  public void handleSourceEvents(SourceEvent event) {
    kafka.handleSourceEvents(event);
  }

  @Override
  public void pauseOrResumeSplits(Collection<String> pause, Collection<String> resume) {
    kafka.pauseOrResumeSplits(pause, resume);
  }

  @Override
  public void notifyCheckpointComplete(long checkpoint) throws Exception {
    kafka.notifyCheckpointComplete(checkpoint);
  }

  @Override
  public void notifyCheckpointAborted(long checkpoint) throws Exception {
    kafka.notifyCheckpointAborted(checkpoint);
  }

  @Override
  public void close() throws Exception {
    kafka.close();
  }
}
