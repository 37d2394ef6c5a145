package io.radixflow.operators.engine;

/**
 * What became of the changes of an engine's cache.
 *
 * @param published events that reached their destination
 * @param dropped changes that could not be handed over in time
 * @param resyncs snapshots that made up for dropped changes
 */
public record KvEventStats(long published, long dropped, long resyncs) {

  /** Of an engine whose events nobody wants. */
  public static final KvEventStats NONE = new KvEventStats(0, 0, 0);
}
