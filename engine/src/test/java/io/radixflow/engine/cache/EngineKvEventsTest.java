package io.radixflow.engine.cache;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Engines.letters;
import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.KvEventSink;
import io.radixflow.engine.KvEventStats;
import io.radixflow.engine.SessionRef;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.protocol.record.kv.KvEvent;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The events of an engine about its cache, against the cache itself. */
@Timeout(180)
class EngineKvEventsTest {

  /** Applies what it takes, and takes what the test says. */
  private static final class Sink implements KvEventSink {
    final Map<Long, KvEvent.Stored> view = new HashMap<>();
    Runnable onRoom;
    boolean ready = true;
    int snapshots;
    int room = Integer.MAX_VALUE;
    long taken;
    boolean closed;

    @Override
    public boolean wantsTokenIds() {
      return false;
    }

    @Override
    public synchronized boolean isReady() {
      return ready;
    }

    @Override
    public synchronized boolean offerSnapshot(List<KvEvent.Stored> content) {
      view.clear();
      content.forEach(stored -> view.put(stored.block(), stored));
      snapshots++;
      return true;
    }

    @Override
    public synchronized boolean offer(List<KvEvent> changes) {
      if (room < changes.size()) {
        ready = false;
        return false;
      }
      room -= changes.size();
      taken += changes.size();
      for (KvEvent change : changes) {
        if (change instanceof KvEvent.Stored stored) {
          view.put(stored.block(), stored);
        } else if (change instanceof KvEvent.Removed removed) {
          for (long block : removed.blocks()) {
            assertThat(view.remove(block)).isNotNull();
          }
        }
      }
      return true;
    }

    synchronized void makeRoom(int events) {
      room = events;
      ready = true;
      onRoom.run();
    }

    synchronized Set<Long> blocks() {
      return new HashSet<>(view.keySet());
    }

    @Override
    public synchronized long published() {
      return taken;
    }

    @Override
    public synchronized void close() {
      closed = true;
    }
  }

  private final Sink sink = new Sink();

  private ContinuousBatchingEngine open() {
    return ContinuousBatchingEngine.open(
        SimModel.open(SimOptions.DEFAULT.withPoison(true)),
        DeviceOptions.DEFAULT,
        EngineOptions.builder().kvPages(24).auditMillis(0).build(),
        (info, onRoom) -> {
          sink.onRoom = onRoom;
          return sink;
        },
        null);
  }

  private static Set<Long> content(ContinuousBatchingEngine engine) throws Exception {
    Set<Long> blocks = new HashSet<>();
    engine.cacheContent().get(60, TimeUnit.SECONDS).forEach(s -> blocks.add(s.block()));
    return blocks;
  }

  /** Turns that together need more pages than there are. */
  private static void converse(ContinuousBatchingEngine engine, int rounds) {
    try (EngineClient client = new EngineClient(engine)) {
      int[] system = letters(0, 40);
      for (int i = 0; i < rounds; i++) {
        List.of(
                client.submit(concat(system, letters(i % 7, 90)), 20),
                client.submit(concat(system, letters(7 + i % 5, 30)), 20))
            .forEach(client::await);
      }
    }
    Engines.awaitIdle(engine);
  }

  /** A turn that needs most of the pages, and shares none of them. */
  private static void fill(ContinuousBatchingEngine engine) {
    try (EngineClient client = new EngineClient(engine)) {
      client.await(client.submit(letters(20, 300), 20));
    }
    Engines.awaitIdle(engine);
  }

  @Test
  void aListenerKnowsTheExactContentThroughEvictions() throws Exception {
    try (ContinuousBatchingEngine engine = open()) {
      converse(engine, 10);
      assertThat(Engines.stats(engine).pool().evictedPages()).isPositive();
      assertThat(content(engine)).isNotEmpty().isEqualTo(sink.blocks());
      assertThat(sink.snapshots).isEqualTo(1);
      assertThat(Engines.stats(engine).kvEvents()).isEqualTo(new KvEventStats(sink.taken, 0, 0));
    }
    assertThat(sink.closed).isTrue();
  }

  @Test
  void eachBlockOfAClosedSessionIsReportedRemoved() throws Exception {
    try (ContinuousBatchingEngine engine = open();
        EngineClient client = new EngineClient(engine)) {
      client.run(turn("kept", letters(1, 60)));
      Engines.awaitIdle(engine);
      Set<Long> kept = sink.blocks();
      client.run(turn("erased", letters(2, 90)));
      Engines.awaitIdle(engine);
      assertThat(sink.blocks()).hasSizeGreaterThan(kept.size());
      engine.closeSession("erased");
      await().untilAsserted(() -> assertThat(sink.blocks()).isEqualTo(kept));
      assertThat(sink.snapshots).isEqualTo(1);
    }
  }

  private static EngineRequest turn(String session, int[] prompt) {
    return EngineRequest.builder(session, () -> prompt, 20)
        .session(new SessionRef("tenant", session, "main"))
        .build();
  }

  @Test
  void aSnapshotFollowsEventsThatTheSinkRefused() throws Exception {
    try (ContinuousBatchingEngine engine = open()) {
      converse(engine, 2);
      sink.makeRoom(3);
      converse(engine, 8);
      fill(engine);
      assertThat(sink.snapshots).isEqualTo(1);
      assertThat(Engines.stats(engine).kvEvents().dropped()).isPositive();
      assertThat(content(engine)).isNotEqualTo(sink.blocks());
      sink.makeRoom(Integer.MAX_VALUE);
      assertThat(content(engine)).as("an idle engine, too").isEqualTo(sink.blocks());
      assertThat(sink.snapshots).isEqualTo(2);
      converse(engine, 4);
      assertThat(content(engine)).isEqualTo(sink.blocks());
      assertThat(Engines.stats(engine).kvEvents().resyncs()).isEqualTo(1);
    }
  }

  @Test
  void anEngineRunsWithASinkThatIsNeverReady() {
    sink.ready = false;
    try (ContinuousBatchingEngine engine = open()) {
      converse(engine, 3);
      assertThat(sink.blocks()).isEmpty();
      assertThat(Engines.stats(engine).kvEvents()).isEqualTo(KvEventStats.NONE);
    }
  }
}
