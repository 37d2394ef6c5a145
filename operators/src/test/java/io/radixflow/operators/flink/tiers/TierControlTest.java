package io.radixflow.operators.flink.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Patience;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.TierStats;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.engine.tier.remote.RemoteTierOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.TieredEngines;
import io.radixflow.protocol.record.Reply;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Control events change the tiers of one engine, also after a restart. */
@Timeout(180)
class TierControlTest {
  private static final int HOST_BYTES = 1 << 20;
  private static final TierOptions TIERS = TieredEngines.host(HOST_BYTES);

  @TempDir Path root;

  @RegisterExtension final TieredEngines engines = new TieredEngines();

  private DiskTierOptions disk() {
    return TieredEngines.disk(root);
  }

  private ServingHarness harness(TierOptions tiers, DiskTierOptions disk) throws Exception {
    return harness(tiers, disk, 1, 0);
  }

  private ServingHarness harness(
      TierOptions tiers, DiskTierOptions disk, int parallelism, int subtask) throws Exception {
    return engines.harness(
        TieredEngines.options(tiers), disk, RemoteTierOptions.NONE, parallelism, subtask);
  }

  private SwitchableTiers tiers() {
    return engines.tiers();
  }

  private TierStats stats() {
    return engines.stats();
  }

  private static Reply ask(ServingHarness h, String turn) throws Exception {
    return h.ask(Events.message("s", turn, TieredEngines.LONG));
  }

  private static void await(Callable<Boolean> condition) {
    Patience.await().until(condition);
  }

  /** Sends a command and waits until it is done. */
  private void done(ServingHarness h, String command) throws Exception {
    long before = tiers().applied();
    h.control("tiers", null, command);
    await(() -> tiers().applied() == before + 1);
  }

  /** Sends a command and waits until it is refused. */
  private void refused(ServingHarness h, String command) throws Exception {
    long before = tiers().refused();
    long applied = tiers().applied();
    h.control("tiers", null, command);
    await(() -> tiers().refused() == before + 1);
    assertThat(tiers().applied()).isEqualTo(applied);
  }

  private void awaitStored() {
    engines.awaitSettled();
    assertThat(stats().store().pages()).isGreaterThan(40);
  }

  @Test
  void aDiskThatWasDetachedStaysSoOnTheNextEngineUntilItIsAttached() throws Exception {
    OperatorSubtaskState state;
    String diskId;
    try (ServingHarness h = harness(TIERS, disk())) {
      h.open();
      ask(h, "t1");
      awaitStored();
      diskId = engines.diskId();
      done(h, "detach disk");
      assertThat(tiers().attachedDiskId()).isNull();
      assertThat(stats().store()).isNull();
      assertThat(ask(h, "t2").text()).isNotEmpty();
      refused(h, "detach disk");
      refused(h, "flush disk");
      done(h, "resize disk 33554432");
      state = h.snapshot();
    }
    engines.close();
    try (ServingHarness h = harness(TIERS, disk()).restore(state, 1)) {
      assertThat(tiers().diskId()).isNull();
      assertThat(ask(h, "t3").usage().cachedTokens()).isZero();
      done(h, "attach disk");
      assertThat(engines.diskId()).isEqualTo(diskId);
      await(() -> stats().store() != null && stats().store().limitBytes() == 33554432);
      assertThat(stats().store().pages()).isGreaterThan(40);
      refused(h, "attach disk");
      done(h, "resize disk");
      done(h, "flush disk");
      await(() -> stats().store().pages() == 0);
      state = h.snapshot();
    }
    engines.close();
    try (ServingHarness h = harness(TIERS, disk()).restore(state, 1)) {
      ask(h, "t4");
      awaitStored();
      assertThat(stats().store().limitBytes()).isEqualTo(TieredEngines.DISK_BYTES);
    }
  }

  @Test
  void hostMemoryKeepsWhatFitsAndItsSizeIsThatOfTheNextEngine() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness(TIERS, DiskTierOptions.NONE)) {
      h.open();
      ask(h, "t1");
      engines.awaitSettled();
      int used = stats().usedHostPages();
      assertThat(used).isGreaterThan(40);
      int total = stats().hostPages();
      long page = HOST_BYTES / total;
      done(h, "resize host " + 2 * HOST_BYTES);
      await(() -> stats().hostPages() == 2 * total && stats().usedHostPages() == used);
      done(h, "resize host " + 20 * page);
      await(() -> stats().hostPages() == 20 && stats().usedHostPages() == 20);
      refused(h, "resize host 7");
      done(h, "flush host");
      await(() -> stats().usedHostPages() == 0);
      done(h, "detach host");
      refused(h, "detach host");
      refused(h, "attach disk 1000000");
      await(() -> stats().hostPages() == 1);
      done(h, "attach host " + 30 * page);
      refused(h, "attach host");
      await(() -> stats().hostPages() == 30);
      done(h, "detach host");
      state = h.snapshot();
    }
    engines.close();
    try (ServingHarness h = harness(TIERS, DiskTierOptions.NONE).restore(state, 1)) {
      await(() -> tiers().applied() == 1 && stats().hostPages() == 1);
      assertThat(ask(h, "t2").text()).isNotEmpty();
      done(h, "attach host");
      await(() -> stats().hostPages() == 30);
    }
  }

  @Test
  void aDiskThatTheJobWasNotConfiguredWithNeedsASize() throws Exception {
    try (ServingHarness h = harness(TIERS, TieredEngines.disk(root, 0))) {
      h.open();
      refused(h, "attach disk");
      refused(h, "attach disk 4096");
      done(h, "attach disk " + TieredEngines.DISK_BYTES);
      ask(h, "t1");
      awaitStored();
    }
  }

  @Test
  void anEngineWithoutHostMemoryRefusesAllCommands() throws Exception {
    try (ServingHarness h = harness(TierOptions.NONE, DiskTierOptions.NONE)) {
      h.open();
      refused(h, "attach disk 100000000");
      refused(h, "resize host 100000000");
      refused(h, "flush host");
      h.control("tiers", null, "polish disk").control("tiers", null, null);
      assertThat(ask(h, "t1").text()).isNotEmpty();
      assertThat(tiers().refused()).isEqualTo(3);
    }
  }

  @Test
  void aCommandIsDoneOnceForAllSubtasksOfAnEngine() throws Exception {
    try (ServingHarness first = harness(TIERS, disk(), 2, 0);
        ServingHarness second = harness(TIERS, disk(), 2, 1).beside(first)) {
      first.open();
      second.open();
      assertThat(engines.opened()).isOne();
      done(first, "detach disk");
      second.control("tiers", null, "detach disk");
      first.control("tiers", null, "attach disk");
      second.control("tiers", null, "attach disk");
      await(() -> tiers().applied() == 2);
      done(second, "flush disk");
      assertThat(tiers().applied()).isEqualTo(3);
      assertThat(tiers().refused()).isZero();
    }
  }
}
