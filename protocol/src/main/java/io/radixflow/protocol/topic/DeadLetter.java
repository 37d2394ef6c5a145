package io.radixflow.protocol.topic;

import java.util.Arrays;

/**
 * A record that could not be read, kept for operators; a Flink POJO.
 *
 * @param topic the topic of the record
 * @param partition the partition of the record
 * @param offset the offset of the record
 * @param timestamp the record's timestamp, in milliseconds since the epoch
 * @param key its key, or null
 * @param value its value, or null; possibly cut
 * @param originalBytes length of the value before it was cut; -1 for a record without a value
 * @param reason why it could not be read
 */
public record DeadLetter(
    String topic,
    int partition,
    long offset,
    long timestamp,
    byte[] key,
    byte[] value,
    int originalBytes,
    String reason) {

  /**
   * Returns this letter with key and value cut to fit, the key to at most half the limit. {@code
   * originalBytes} stays.
   *
   * @param maxBytes most bytes of key and value together
   */
  public DeadLetter within(int maxBytes) {
    byte[] shortKey = cut(key, maxBytes / 2);
    int room = maxBytes - (shortKey == null ? 0 : shortKey.length);
    return new DeadLetter(
        topic, partition, offset, timestamp, shortKey, cut(value, room), originalBytes, reason);
  }

  private static byte[] cut(byte[] bytes, int max) {
    return bytes == null || bytes.length <= max ? bytes : Arrays.copyOf(bytes, max);
  }
}
