package io.radixflow.engine.cache;

import io.radixflow.protocol.record.kv.KvEvent;

/**
 * Receives the changes of a cache, on the thread that owns the cache; must neither block nor throw.
 */
@FunctionalInterface
public interface KvEventListener {
  void accept(KvEvent event);
}
