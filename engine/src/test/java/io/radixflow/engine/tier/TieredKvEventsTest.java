package io.radixflow.engine.tier;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.KvEventSink;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The events of an engine about its pages in host memory. */
@Timeout(180)
class TieredKvEventsTest {
  private static final SimOptions SIM = SimOptions.DEFAULT.withEndOfTurn(0).withPoison(true);

  /** Keeps all events, and what follows from them. */
  private static final class Sink implements KvEventSink {
    final List<KvEvent> events = new ArrayList<>();
    final Map<KvTier, Map<Long, KvEvent.Stored>> view = new EnumMap<>(KvTier.class);

    Sink() {
      for (KvTier tier : KvTier.values()) {
        view.put(tier, new LinkedHashMap<>());
      }
    }

    @Override
    public boolean wantsTokenIds() {
      return false;
    }

    @Override
    public boolean isReady() {
      return true;
    }

    @Override
    public synchronized boolean offerSnapshot(List<KvEvent.Stored> content) {
      return offer(List.copyOf(content));
    }

    @Override
    public synchronized boolean offer(List<KvEvent> changes) {
      events.addAll(changes);
      for (KvEvent change : changes) {
        if (change instanceof KvEvent.Stored stored) {
          Map<Long, KvEvent.Stored> tier = view.get(stored.tier());
          assertThat(tier.put(stored.block(), stored)).as("reported once").isNull();
        } else if (change instanceof KvEvent.Removed removed) {
          for (long block : removed.blocks()) {
            assertThat(view.get(removed.tier()).remove(block)).isNotNull();
          }
        }
      }
      return true;
    }

    synchronized List<Long> blocks(KvTier tier) {
      return List.copyOf(view.get(tier).keySet());
    }

    synchronized List<Long> parents(KvTier tier) {
      List<Long> parents = new ArrayList<>();
      view.get(tier).values().forEach(stored -> parents.add(stored.parent()));
      return parents;
    }

    @Override
    public long published() {
      return 0;
    }

    @Override
    public void close() {}
  }

  private final Sink sink = new Sink();
  private final FaultyMemory memory =
      new FaultyMemory(SimModel.open(SIM).openBackend(DeviceOptions.DEFAULT));

  private ContinuousBatchingEngine open(int hostPages) {
    return ContinuousBatchingEngine.open(
        memory.served(SimModel.open(SIM)),
        DeviceOptions.DEFAULT,
        EngineOptions.builder()
            .kvPages(30)
            .auditMillis(0)
            .tiers(TierOptions.NONE.withHostBytes(hostPages * 128L).withLoadBackThreshold(1))
            .build(),
        (info, onRoom) -> sink,
        null);
  }

  /** U24 and U26: a page has the same name in both tiers, and comes and goes in each. */
  @Test
  void pagesHaveTheSameNamesInBothTiers() throws Exception {
    try (ContinuousBatchingEngine engine = open(40);
        EngineClient client = new EngineClient(engine)) {
      int[] prompt = letters(0, 64);
      client.await(client.submit(prompt, 2));
      TieredEngineTest.awaitSettled(engine);
      List<Long> blocks = sink.blocks(KvTier.DEVICE);
      assertThat(blocks).hasSize(4);
      assertThat(sink.blocks(KvTier.HOST)).isEqualTo(blocks);
      assertThat(sink.parents(KvTier.HOST))
          .containsExactly(null, blocks.get(0), blocks.get(1), blocks.get(2));
      client.await(client.submit(letters(1, 470), 2));
      TieredEngineTest.awaitSettled(engine);
      assertThat(sink.blocks(KvTier.DEVICE)).doesNotContainAnyElementsOf(blocks);
      assertThat(sink.blocks(KvTier.HOST)).containsAll(blocks);
      client.await(client.submit(concat(prompt, letters(2, 3)), 2));
      TieredEngineTest.awaitSettled(engine);
      assertThat(sink.blocks(KvTier.DEVICE)).containsAll(blocks);
      for (int i = 3; i < 7; i++) {
        client.await(client.submit(letters(i, 470), 2));
        TieredEngineTest.awaitSettled(engine);
      }
      assertThat(sink.blocks(KvTier.HOST)).doesNotContainAnyElementsOf(blocks);
      assertThat(sink.blocks(KvTier.DEVICE)).doesNotContainAnyElementsOf(blocks);
      assertThat(engine.cacheContent().get().size())
          .isEqualTo(sink.blocks(KvTier.HOST).size() + sink.blocks(KvTier.DEVICE).size());
    }
  }

  /** U25: a copy is not reported before it is there, however the tree changes meanwhile. */
  @Test
  void aCopyInFlightIsReportedWhenItHasArrived() {
    try (ContinuousBatchingEngine engine = open(100);
        EngineClient client = new EngineClient(engine)) {
      memory.hold(true);
      int[] prompt = letters(0, 64);
      client.await(client.submit(prompt, 2));
      int[] other = concat(letters(0, 64), letters(5, 32));
      other[40]++;
      client.await(client.submit(other, 2));
      assertThat(sink.blocks(KvTier.DEVICE)).hasSize(8);
      assertThat(sink.blocks(KvTier.HOST)).isEmpty();
      memory.hold(false);
      client.await(client.submit(letters(1, 5), 2));
      TieredEngineTest.awaitSettled(engine);
      assertThat(sink.blocks(KvTier.HOST)).hasSize(8);
      List<Long> seen = new ArrayList<>();
      for (KvEvent event : sink.events) {
        if (event instanceof KvEvent.Stored stored && stored.tier() == KvTier.HOST) {
          assertThat(stored.parent() == null || seen.contains(stored.parent())).isTrue();
          seen.add(stored.block());
        }
      }
    }
  }
}
