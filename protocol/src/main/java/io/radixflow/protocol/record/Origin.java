package io.radixflow.protocol.record;

/**
 * Where an event was read; a Flink POJO.
 *
 * @param partition partition of the input topic, -1 if there is none
 * @param offset offset in the partition
 * @param timestamp timestamp in the log, milliseconds since the epoch
 * @param trace the trace that the event belongs to, or null
 */
public record Origin(int partition, long offset, long timestamp, TraceContext trace) {
  /** The origin of an event that is not in a log. */
  public static final Origin NONE = new Origin(-1, -1, 0);

  /** The origin of an event that belongs to no trace. */
  public Origin(int partition, long offset, long timestamp) {
    this(partition, offset, timestamp, null);
  }
}
