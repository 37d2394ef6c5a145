package io.radixflow.jobs.kafka;

import org.apache.flink.api.common.serialization.SerializationSchema;
import org.apache.flink.util.function.SerializableFunction;

/** A key or a value made by a function; null for a record without. */
final class RecordBytes<T> implements SerializationSchema<T> {
  private static final long serialVersionUID = 1L;

  private final SerializableFunction<T, byte[]> function;

  RecordBytes(SerializableFunction<T, byte[]> function) {
    this.function = function;
  }

  @Override
  public byte[] serialize(T element) {
    return function.apply(element);
  }
}
