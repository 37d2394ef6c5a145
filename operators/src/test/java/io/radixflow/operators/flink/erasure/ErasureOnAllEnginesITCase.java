package io.radixflow.operators.flink.erasure;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.Patience;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.GatedNumbers;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.StoredPages;
import io.radixflow.operators.flink.TestJob;
import io.radixflow.operators.flink.engine.EngineDirectory;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.flink.tiers.ModelEngineFactory;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** The pages of an erased session leave the disks of TaskManagers that do not have the session. */
@Timeout(180)
class ErasureOnAllEnginesITCase {
  private static final AtomicInteger RUNS = new AtomicInteger();
  private static final String TEXT =
      "what both sessions say, each on its own TaskManager ".repeat(9);

  private static final List<ServingEngine> ENGINES = new CopyOnWriteArrayList<>();
  private static final Set<String> ANSWERED = ConcurrentHashMap.newKeySet();

  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(2)
              .setNumberSlotsPerTaskManager(1)
              .build());

  @TempDir Path root;

  private ServingEngine open(ModelEngineFactory factory, EngineDirectory directory) {
    try {
      ServingEngine engine = factory.open(directory);
      ENGINES.add(engine);
      return engine;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static String session(int subtask) {
    return IntStream.range(0, 1_000)
        .mapToObj(i -> "s" + i)
        .filter(each -> ServingHarness.ownerOf(each, 2) == subtask)
        .findFirst()
        .orElseThrow();
  }

  /** Says the same in two sessions; when both are on disk, one is erased; then the job ends. */
  private static Events event(long n) {
    return switch ((int) n) {
      case 0 -> Events.message(session(0), "t0", TEXT).of("acme");
      case 1 -> Events.message(session(1), "t1", TEXT).of("acme");
      case 2 -> Events.of(EventKind.ERASE, session(0), "e0").of("acme");
      default -> Events.of(EventKind.QUERY, session(1), "q1").of("acme");
    };
  }

  @Test
  void theEngineThatDoesNotHaveTheSessionErasesItsPages() throws Exception {
    ModelEngineFactory factory =
        new ModelEngineFactory(
                name -> SimModel.open(SimOptions.DEFAULT),
                ModelLoader.SIM,
                DeviceOptions.DEFAULT,
                EngineOptions.builder()
                    .kvPages(256)
                    .tiers(TierOptions.NONE.withHostBytes(1 << 20))
                    .build())
            .onDisk(DiskTierOptions.of(64 << 20, root.toString(), NamespaceKey.of("secret")));
    ENGINES.clear();
    ANSWERED.clear();
    String gate = "erasure-everywhere-" + RUNS.incrementAndGet();
    Thread steps = new Thread(() -> steps(gate), "steps");
    steps.start();
    new TestJob(new GatedNumbers(gate, 4), n -> event(n).event())
        .onReply(ErasureOnAllEnginesITCase::note)
        .run(TestEngineFactory.at(gate, directory -> open(factory, directory)));
    steps.join();
    assertThat(ANSWERED).contains("t0", "t1", "e0", "q1");
    assertThat(ENGINES).hasSize(2);
    assertThat(StoredPages.in(root)).isEmpty();
  }

  private static String note(Reply reply) {
    ANSWERED.add(reply.turn());
    return reply.turn();
  }

  private void steps(String gate) {
    GatedNumbers.allow(gate, 2);
    until(() -> ANSWERED.containsAll(Set.of("t0", "t1")));
    until(() -> ENGINES.stream().allMatch(ErasureOnAllEnginesITCase::isStored));
    GatedNumbers.allow(gate, 1);
    until(() -> StoredPages.in(root).isEmpty());
    GatedNumbers.allow(gate, 2);
  }

  private static boolean isStored(ServingEngine engine) {
    var stats = engine.engine().stats().tiers();
    return stats.queuedPages() == 0 && stats.store() != null && stats.store().pages() > 20;
  }

  private static void until(java.util.concurrent.Callable<Boolean> condition) {
    Patience.await().until(condition);
  }
}
