package io.radixflow.lab.traffic;

import java.util.concurrent.CompletableFuture;

/**
 * A place that answers turns, such as a job behind Kafka, a gateway behind HTTP, or an engine.
 *
 * @param <T> a turn
 * @param <R> its reply
 */
public interface Target<T, R> extends AutoCloseable {
  /**
   * Sends a turn without waiting. Returns a future of its reply; the future fails if no reply
   * comes.
   */
  CompletableFuture<R> send(T turn);

  @Override
  default void close() {}
}
