package io.radixflow.jobs.event;

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
    String reason) {}
