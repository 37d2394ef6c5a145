package io.radixflow.operators.record;

/**
 * Where an event was read; a Flink POJO.
 *
 * @param partition partition of the input topic, -1 if there is none
 * @param offset offset in the partition
 * @param timestamp milliseconds since the epoch, as the log has it
 */
public record Origin(int partition, long offset, long timestamp) {
  /** The origin of an event that no log holds. */
  public static final Origin NONE = new Origin(-1, -1, 0);
}
