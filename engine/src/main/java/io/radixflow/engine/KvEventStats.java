package io.radixflow.engine;

/**
 * Counters of the changes of an engine's cache.
 *
 * @param published events that reached their destination
 * @param dropped changes that the sink did not accept in time
 * @param resyncs snapshots sent because changes were dropped
 */
public record KvEventStats(long published, long dropped, long resyncs) {

  /** The counters of an engine with KV events disabled. */
  public static final KvEventStats NONE = new KvEventStats(0, 0, 0);
}
