package io.radixflow.operators.cache;

import io.radixflow.operators.record.KvEvent;

/** Hears what changes in a cache, on the thread that owns it; must neither block nor throw. */
@FunctionalInterface
public interface KvEventListener {
  void accept(KvEvent event);
}
