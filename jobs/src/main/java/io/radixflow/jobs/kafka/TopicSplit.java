package io.radixflow.jobs.kafka;

import java.io.IOException;
import java.nio.ByteBuffer;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplit;
import org.apache.flink.connector.kafka.source.split.KafkaPartitionSplitSerializer;
import org.apache.flink.core.io.SimpleVersionedSerializer;
import org.apache.kafka.common.Uuid;

/**
 * The position of a reader in a partition, with the id of the topic. In another topic of the same
 * name the offset has no meaning.
 */
final class TopicSplit extends KafkaPartitionSplit {
  private final Uuid topicId;

  TopicSplit(KafkaPartitionSplit split, Uuid topicId) {
    super(
        split.getTopicPartition(),
        split.getStartingOffset(),
        split.getStoppingOffset().orElse(NO_STOPPING_OFFSET));
    this.topicId = topicId;
  }

  /** Returns the id of a split's topic; zero if it is unknown. */
  static Uuid topicId(KafkaPartitionSplit split) {
    return split instanceof TopicSplit known ? known.topicId : Uuid.ZERO_UUID;
  }

  @Override
  public boolean equals(Object other) {
    return super.equals(other) && topicId.equals(topicId((KafkaPartitionSplit) other));
  }

  @Override
  public int hashCode() {
    return super.hashCode();
  }

  /**
   * Writes the id in front of the connector's own form. Also reads splits that the connector wrote
   * without an id.
   */
  static final class Serializer implements SimpleVersionedSerializer<KafkaPartitionSplit> {
    /** A number that the connector's versions do not reach. */
    private static final int VERSION = 1000;

    private static final int HEAD_BYTES = 2 * Long.BYTES + Integer.BYTES;

    private final KafkaPartitionSplitSerializer kafka = new KafkaPartitionSplitSerializer();

    @Override
    public int getVersion() {
      return VERSION;
    }

    @Override
    public byte[] serialize(KafkaPartitionSplit split) throws IOException {
      byte[] rest = kafka.serialize(split);
      Uuid id = topicId(split);
      return ByteBuffer.allocate(HEAD_BYTES + rest.length)
          .putLong(id.getMostSignificantBits())
          .putLong(id.getLeastSignificantBits())
          .putInt(kafka.getVersion())
          .put(rest)
          .array();
    }

    @Override
    public KafkaPartitionSplit deserialize(int version, byte[] bytes) throws IOException {
      if (version < VERSION) {
        return kafka.deserialize(version, bytes);
      }
      if (version > VERSION || bytes.length < HEAD_BYTES) {
        throw new IOException(
            "the state has a topic's offset in the form %d with %d bytes, which this version cannot read"
                .formatted(version, bytes.length));
      }
      ByteBuffer from = ByteBuffer.wrap(bytes);
      Uuid id = new Uuid(from.getLong(), from.getLong());
      int kafkas = from.getInt();
      byte[] rest = new byte[from.remaining()];
      from.get(rest);
      return new TopicSplit(kafka.deserialize(kafkas, rest), id);
    }
  }
}
