package io.radixflow.engine.pages;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.KvEventSink;
import io.radixflow.engine.KvEventStats;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class KvEventFeedTest {
  private static final KvEvent CHANGE = new KvEvent.Removed(KvTier.DEVICE, new long[] {1});

  private final List<String> taken = new ArrayList<>();
  private boolean ready = true;
  private boolean room = true;

  private final KvEventSink sink =
      new KvEventSink() {
        @Override
        public boolean wantsTokenIds() {
          return false;
        }

        @Override
        public boolean isReady() {
          return ready;
        }

        @Override
        public boolean offerSnapshot(List<KvEvent.Stored> content) {
          taken.add("snapshot");
          return true;
        }

        @Override
        public boolean offer(List<KvEvent> changes) {
          if (room) {
            taken.add(changes.size() + " changes");
          }
          return room;
        }

        @Override
        public long published() {
          return 42;
        }

        @Override
        public void close() {
          taken.add("close");
        }
      };

  private final KvEventFeed feed = new KvEventFeed(sink, List::of);

  private void change(int count) {
    for (int i = 0; i < count; i++) {
      feed.accept(CHANGE);
    }
    feed.flush();
  }

  @Test
  void aSnapshotComesFirstThenTheChangesOfEachTurnTogether() {
    feed.flush();
    feed.flush();
    change(3);
    change(1);
    feed.close();
    assertThat(taken).containsExactly("snapshot", "3 changes", "1 changes", "close");
    assertThat(feed.stats()).isEqualTo(new KvEventStats(42, 0, 0));
  }

  @Test
  void eventsWithoutRoomAreDroppedUntilASnapshotIsTaken() {
    feed.flush();
    room = false;
    ready = false;
    change(3);
    change(2);
    assertThat(feed.stats()).isEqualTo(new KvEventStats(42, 5, 0));
    room = true;
    ready = true;
    feed.flush();
    change(1);
    assertThat(taken).containsExactly("snapshot", "snapshot", "1 changes");
    assertThat(feed.stats()).isEqualTo(new KvEventStats(42, 5, 1));
  }

  @Test
  void anotherCacheBeginsWithASnapshotOfItsOwn() {
    feed.flush();
    feed.accept(CHANGE);
    feed.restart();
    change(0);
    change(1);
    assertThat(taken).containsExactly("snapshot", "snapshot", "1 changes");
  }
}
