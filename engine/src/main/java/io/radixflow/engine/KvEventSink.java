package io.radixflow.engine;

import io.radixflow.protocol.PublicApi;
import io.radixflow.protocol.record.kv.KvEvent;
import java.io.Serializable;
import java.util.List;

/**
 * The destination of an engine's KV events. The engine first hands over a snapshot of its cache,
 * then each change in order. Changes that cannot be handed over are dropped, and a snapshot
 * follows.
 */
@PublicApi
public interface KvEventSink extends AutoCloseable {

  /** Opens a sink; serialized in the job graph. */
  @FunctionalInterface
  interface Factory extends Serializable {
    /**
     * Opens the sink of one engine; must not wait for other processes.
     *
     * @param onRoom callback for any thread: the sink calls it when it can accept a snapshot, once
     *     at the start and after each refusal
     */
    KvEventSink open(EngineInfo engine, Runnable onRoom);
  }

  /** Returns whether events contain the token ids of pages, and so the text of users. */
  boolean wantsTokenIds();

  /** Returns whether the sink would accept a snapshot now; cheap, engine thread. */
  boolean isReady();

  /**
   * Offers the content of the cache; never blocks. Engine thread.
   *
   * @param content a stored event for each page; parents come first
   * @return false if the sink is not ready
   */
  boolean offerSnapshot(List<KvEvent.Stored> content);

  /**
   * Offers the next changes; never blocks. Engine thread.
   *
   * @return false if the sink is full; it then accepts only a snapshot
   */
  boolean offer(List<KvEvent> changes);

  /** Returns the number of events that reached their destination. */
  long published();

  /** Publishes that the engine and its cache have ended. */
  @Override
  void close();
}
