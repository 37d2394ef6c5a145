package io.radixflow.jobs.kafka.replies;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.TraceHeaders;
import io.radixflow.jobs.kafka.RecordRoom;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.topic.ReplyLimiter;
import java.util.List;
import java.util.Optional;
import org.apache.flink.api.common.serialization.SerializationSchema.InitializationContext;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.DefaultKafkaDatasetIdentifier;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacet;
import org.apache.flink.connector.kafka.lineage.KafkaDatasetFacetProvider;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes replies, within the limits of the option and the topic. A reply that is too large for the
 * topic is cut, or replaced by an error. If not even the error fits, no record is written.
 */
final class ReplyRecords
    implements KafkaRecordSerializationSchema<Reply>, KafkaDatasetFacetProvider {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(ReplyRecords.class);

  private final Settings settings;
  private final String topic;
  private final int maxBytes;
  private final ReplyLimiter limiter;
  private transient RecordRoom room;

  ReplyRecords(Settings settings) {
    this.settings = settings;
    this.topic = settings.get(KafkaConfig.REPLIES_TOPIC);
    this.maxBytes = settings.get(KafkaConfig.REPLY_MAX_BYTES);
    this.limiter = new ReplyLimiter(maxBytes);
  }

  @Override
  public void open(InitializationContext context, KafkaSinkContext sink) {
    begin(RecordRoom.ask(settings, topic).warnBelow(KafkaConfig.REPLY_MAX_BYTES.key(), maxBytes));
  }

  /** Returns the topic; Flink's sink needs it to find its transactions. */
  @Override
  public Optional<KafkaDatasetFacet> getKafkaDatasetFacet() {
    return Optional.of(
        new DefaultKafkaDatasetFacet(DefaultKafkaDatasetIdentifier.ofTopics(List.of(topic))));
  }

  /** Sets the topic's limit before the first record. */
  void begin(RecordRoom found) {
    room = found;
  }

  /** Returns the record, or null if not even an error fits. */
  @Override
  public ProducerRecord<byte[], byte[]> serialize(
      Reply reply, KafkaSinkContext sink, Long timestamp) {
    byte[] key = reply.session().getBytes(UTF_8);
    Headers headers = TraceHeaders.of(reply.trace());
    int most = room.forValue(key, headers);
    byte[] value = limiter.write(reply);
    if (value.length > most) {
      value = smaller(reply, value.length, most);
    }
    return value == null ? null : new ProducerRecord<>(topic, null, null, key, value, headers);
  }

  private byte[] smaller(Reply reply, int bytes, int most) {
    String why =
        "the reply has %d bytes, and max.message.bytes of the topic %s is %d: raise it, or lower %s"
            .formatted(bytes, topic, room.maxBytes(), KafkaConfig.REPLY_MAX_BYTES.key());
    byte[] value = ReplyLimiter.writeWithin(reply, most, why);
    if (value == null) {
      LOG.error(
          "Turn {} of session {} has no reply, since not even an error fits: {}",
          reply.turn(),
          reply.session(),
          why);
    } else {
      LOG.warn(
          "The reply to turn {} of session {} is cut to {} bytes: {}",
          reply.turn(),
          reply.session(),
          value.length,
          why);
    }
    return value;
  }
}
