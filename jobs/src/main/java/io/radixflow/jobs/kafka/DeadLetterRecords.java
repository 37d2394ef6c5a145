package io.radixflow.jobs.kafka;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.protocol.topic.DeadLetter;
import io.radixflow.protocol.topic.DeadLetterWriter;
import org.apache.flink.api.common.serialization.SerializationSchema.InitializationContext;
import org.apache.flink.connector.kafka.sink.KafkaRecordSerializationSchema;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Writes dead letters, cut to the size limit of their topic. */
final class DeadLetterRecords implements KafkaRecordSerializationSchema<DeadLetter> {
  private static final long serialVersionUID = 1L;
  private static final Logger LOG = LoggerFactory.getLogger(DeadLetterRecords.class);

  private final Settings settings;
  private final String topic;
  private transient RecordRoom room;

  DeadLetterRecords(Settings settings) {
    this.settings = settings;
    this.topic = settings.get(KafkaConfig.DEAD_LETTERS_TOPIC);
  }

  @Override
  public void open(InitializationContext context, KafkaSinkContext sink) {
    begin(
        RecordRoom.ask(settings, topic)
            .warnBelow(
                KafkaConfig.DEAD_LETTER_MAX_BYTES.key(),
                settings.get(KafkaConfig.DEAD_LETTER_MAX_BYTES)));
  }

  /** Sets the topic's limit before the first record. */
  void begin(RecordRoom found) {
    room = found;
  }

  /**
   * Returns the record of a dead letter, or null if not even its headers fit.
   *
   * @param timestamp the timestamp of the original record; null or negative if it had none
   */
  @Override
  public ProducerRecord<byte[], byte[]> serialize(
      DeadLetter letter, KafkaSinkContext sink, Long timestamp) {
    RecordHeaders headers = new RecordHeaders();
    DeadLetterWriter.headers(letter).forEach(headers::add);
    int most = room.forValue(null, headers);
    if (most < 0) {
      LOG.error(
          "A dead letter of {}-{}@{} is not written: max.message.bytes of topic {} is {}. {}",
          letter.topic(),
          letter.partition(),
          letter.offset(),
          topic,
          room.maxBytes(),
          letter.reason());
      return null;
    }
    DeadLetter fitting = letter.within(most);
    Long time = timestamp == null || timestamp < 0 ? null : timestamp;
    return new ProducerRecord<>(topic, null, time, fitting.key(), fitting.value(), headers);
  }
}
