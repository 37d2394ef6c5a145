package io.radixflow.engine.pages;

import io.radixflow.engine.KvEventSink;
import io.radixflow.engine.KvEventStats;
import io.radixflow.engine.cache.KvEventListener;
import io.radixflow.protocol.record.kv.KvEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * Passes the changes of the cache to a sink, once per iteration of the engine. Never waits: if the
 * sink has no room for changes, they are dropped, and a snapshot follows when the sink has room.
 *
 * <p>Engine thread only.
 */
final class KvEventFeed implements KvEventListener {
  private final KvEventSink sink;
  private final Supplier<List<KvEvent.Stored>> content;
  private List<KvEvent> changes = new ArrayList<>();
  private boolean inSync;
  private boolean started;
  private long dropped;
  private long resyncs;

  /**
   * @param content returns the contents of the cache
   */
  KvEventFeed(KvEventSink sink, Supplier<List<KvEvent.Stored>> content) {
    this.sink = sink;
    this.content = content;
  }

  boolean tokenIds() {
    return sink.wantsTokenIds();
  }

  @Override
  public void accept(KvEvent event) {
    if (inSync) {
      changes.add(event);
    } else if (started) {
      dropped++;
    }
  }

  /** Passes on the changes since the last call. */
  void flush() {
    if (!inSync) {
      resync();
    } else if (!changes.isEmpty()) {
      if (sink.offer(changes)) {
        changes = new ArrayList<>();
      } else {
        restart();
        resync();
      }
    }
  }

  /** Drops the changes since the last call of {@link #flush}; a snapshot follows. */
  void restart() {
    dropped += changes.size();
    changes.clear();
    inSync = false;
  }

  private void resync() {
    if (sink.isReady() && sink.offerSnapshot(content.get())) {
      inSync = true;
      resyncs += started ? 1 : 0;
      started = true;
    }
  }

  KvEventStats stats() {
    return new KvEventStats(sink.published(), dropped, resyncs);
  }

  void close() {
    sink.close();
  }
}
