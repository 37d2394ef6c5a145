package io.radixflow.jobs.kafka;

import io.radixflow.protocol.topic.DeadLetter;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Makes dead letters of Kafka records, within the size limit of the dead-letter topic. */
final class DeadLetters {

  private DeadLetters() {}

  static DeadLetter of(ConsumerRecord<byte[], byte[]> record, String reason, int maxBytes) {
    byte[] value = record.value();
    return new DeadLetter(
            record.topic(),
            record.partition(),
            record.offset(),
            record.timestamp(),
            record.key(),
            value,
            value == null ? -1 : value.length,
            reason)
        .within(maxBytes);
  }
}
