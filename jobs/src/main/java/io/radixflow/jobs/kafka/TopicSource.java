package io.radixflow.jobs.kafka;

import io.radixflow.client.config.Settings;
import java.util.Collection;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.api.connector.source.SourceReader;
import org.apache.flink.api.connector.source.SourceReaderContext;
import org.apache.flink.api.connector.source.SplitEnumerator;
import org.apache.flink.api.connector.source.SplitEnumeratorContext;
import org.apache.flink.api.java.typeutils.ResultTypeQueryable;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.KafkaSourceEnumState;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.kafka.common.IsolationLevel;

/**
 * Flink's source of one topic. At a restore it notices that the topic no longer matches the state:
 * the topic was created again, or unread records were deleted. Flink's own source would use the old
 * offsets and silently lose records.
 */
final class TopicSource<T>
    implements Source<T, KafkaPartitionSplit, KafkaSourceEnumState>, ResultTypeQueryable<T> {
  private static final long serialVersionUID = 1L;

  /** The metric of records that were deleted before they were read. */
  static final String DELETED_UNREAD = "recordsDeletedUnread";

  private final KafkaSource<T> kafka;
  private final Settings settings;
  private final String topic;

  TopicSource(KafkaSource<T> kafka, Settings settings, String topic) {
    this.kafka = kafka;
    this.settings = settings;
    this.topic = topic;
  }

  @Override
  public Boundedness getBoundedness() {
    return kafka.getBoundedness();
  }

  @Override
  public SourceReader<T, KafkaPartitionSplit> createReader(SourceReaderContext context)
      throws Exception {
    return new TopicReader<>(
        kafka.createReader(context), this::ask, context.metricGroup().counter(DELETED_UNREAD));
  }

  @Override
  public SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> createEnumerator(
      SplitEnumeratorContext<KafkaPartitionSplit> context) {
    return kafka.createEnumerator(context);
  }

  /**
   * Forgets partitions that no longer exist. If they appear again, they are new and are read from
   * their beginning.
   */
  @Override
  public SplitEnumerator<KafkaPartitionSplit, KafkaSourceEnumState> restoreEnumerator(
      SplitEnumeratorContext<KafkaPartitionSplit> context, KafkaSourceEnumState state)
      throws Exception {
    TopicOffsets now = ask();
    return kafka.restoreEnumerator(
        context,
        new KafkaSourceEnumState(
            there(state.assignedSplits(), now),
            there(state.unassignedSplits(), now),
            state.initialDiscoveryFinished()));
  }

  private TopicOffsets ask() {
    return TopicOffsets.ask(settings, topic, IsolationLevel.READ_UNCOMMITTED);
  }

  private static List<KafkaPartitionSplit> there(
      Collection<KafkaPartitionSplit> splits, TopicOffsets now) {
    return splits.stream().filter(each -> now.ends().containsKey(each.getPartition())).toList();
  }

  @Override
  public SimpleVersionedSerializer<KafkaPartitionSplit> getSplitSerializer() {
    return new TopicSplit.Serializer();
  }

  @Override
  public SimpleVersionedSerializer<KafkaSourceEnumState> getEnumeratorCheckpointSerializer() {
    return kafka.getEnumeratorCheckpointSerializer();
  }

  @Override
  public TypeInformation<T> getProducedType() {
    return kafka.getProducedType();
  }
}
