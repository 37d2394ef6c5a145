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

  /** Opens a sink; travels in the job graph. */
  @FunctionalInterface
  interface Factory extends Serializable {
    /**
     * Opens the sink of one engine; must not wait for anything outside the process.
     *
     * @param onRoom to be called, on any thread, when the sink takes a snapshot: once it is ready,
     *     and after each time that it refused something
     */
    KvEventSink open(EngineInfo engine, Runnable onRoom);
  }

  /** Returns whether events carry the token ids of pages: what users wrote. */
  boolean wantsTokenIds();

  /** Returns whether a snapshot would be taken now; cheap, engine thread. */
  boolean isReady();

  /**
   * Takes the content of the cache; never blocks. Engine thread.
   *
   * @param content a stored event for each page, no page before its parent
   * @return false if the sink is not ready
   */
  boolean offerSnapshot(List<KvEvent.Stored> content);

  /**
   * Takes the changes after the last ones it took; never blocks. Engine thread.
   *
   * @return false if the sink is full; it then takes only a snapshot
   */
  boolean offer(List<KvEvent> changes);

  /** Returns the number of events that reached their destination. */
  long published();

  /** Publishes that the engine has ended and its cache with it. */
  @Override
  void close();
}
