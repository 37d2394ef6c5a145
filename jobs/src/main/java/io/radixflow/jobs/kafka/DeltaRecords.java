package io.radixflow.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.client.kafka.TraceHeaders;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.topic.DeltaWriter;
import org.apache.flink.api.common.serialization.SerializationSchema.InitializationContext;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes deltas. A delta that is too large for the topic is written without its text. A reader that
 * joins deltas sees a gap and asks the job; it also gets the reply.
 */
final class DeltaRecords implements KafkaRecordSerializationSchema<ReplyDelta> {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(DeltaRecords.class);

  private final Settings settings;
  private final String topic;
  private transient RecordRoom room;

  DeltaRecords(Settings settings) {
    this.settings = settings;
    this.topic = settings.get(KafkaConfig.DELTAS_TOPIC);
  }

  @Override
  public void open(InitializationContext context, KafkaSinkContext sink) {
    begin(RecordRoom.ask(settings, topic));
  }

  /** Sets the topic's limit before the first record. */
  void begin(RecordRoom found) {
    int most =
        Integer.parseInt(KafkaClient.DELTAS.properties(settings).getProperty("max.request.size"));
    room = new RecordRoom(topic, Math.min(found.maxBytes(), most));
  }

  /** Returns the record, or null if not even an empty delta fits. */
  @Override
  public ProducerRecord<byte[], byte[]> serialize(
      ReplyDelta delta, KafkaSinkContext sink, Long timestamp) {
    byte[] key = delta.session().getBytes(UTF_8);
    Headers headers = TraceHeaders.of(delta.trace());
    int most = room.forValue(key, headers);
    byte[] value = DeltaWriter.write(delta);
    if (value.length > most) {
      LOG.warn(
          "A delta of turn {} of session {} has {} bytes, and max.message.bytes of topic {} is {}:"
              + " it is written without its content",
          delta.turn(),
          delta.session(),
          value.length,
          topic,
          room.maxBytes());
      value = DeltaWriter.writeWithin(delta, most);
    }
    return value == null ? null : new ProducerRecord<>(topic, null, null, key, value, headers);
  }
}
