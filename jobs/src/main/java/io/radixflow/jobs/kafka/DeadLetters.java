package io.radixflow.jobs.kafka;

import io.radixflow.jobs.event.DeadLetter;
import java.util.Arrays;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Makes dead letters of Kafka records, within the size that the dead-letter topic takes. */
final class DeadLetters {

  private DeadLetters() {}

  static DeadLetter of(ConsumerRecord<byte[], byte[]> record, String reason, int maxBytes) {
    byte[] key = cut(record.key(), maxBytes / 2);
    byte[] value = record.value();
    int room = maxBytes - (key == null ? 0 : key.length);
    return new DeadLetter(
        record.topic(),
        record.partition(),
        record.offset(),
        record.timestamp(),
        key,
        cut(value, room),
        value == null ? -1 : value.length,
        reason);
  }

  private static byte[] cut(byte[] bytes, int max) {
    return bytes == null || bytes.length <= max ? bytes : Arrays.copyOf(bytes, max);
  }
}
