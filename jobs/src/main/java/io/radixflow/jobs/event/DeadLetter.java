package io.radixflow.jobs.event;

import java.util.Arrays;

/**
 * A record that could not be read, kept for people; a Flink POJO.
 *
 * @param topic where it was read
 * @param partition its partition there
 * @param offset its offset there
 * @param timestamp milliseconds since the epoch, as the log has it
 * @param key its key, or null
 * @param value its value, or null; possibly cut
 * @param originalBytes length of the value before it was cut, -1 if there was none
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
   * This letter with key and value cut to fit, the key to half of it at most; {@code originalBytes}
   * stays.
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
