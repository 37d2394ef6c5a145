package io.radixflow.operators.flink.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Patience;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.engine.tier.remote.RemoteTierOptions;
import io.radixflow.engine.tier.store.PageStoreStats;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.StoredPages;
import io.radixflow.operators.flink.TieredEngines;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** An engine finds the pages that its predecessor wrote to disk. */
@Timeout(180)
class DiskTierTest {
  @TempDir Path root;

  @RegisterExtension final TieredEngines engines = new TieredEngines();

  private ServingHarness harness(Path directory) throws Exception {
    return engines.harness(
        TieredEngines.options(TieredEngines.host(8 << 20)),
        directory == null ? DiskTierOptions.NONE : TieredEngines.disk(directory),
        RemoteTierOptions.NONE,
        1,
        0);
  }

  private static Reply ask(ServingHarness h, String turn) throws Exception {
    return h.ask(Events.message("s", turn, TieredEngines.LONG).of("acme"));
  }

  private void awaitStored() {
    engines.awaitSettled();
    assertThat(engines.stats().store().pages()).isGreaterThan(40);
  }

  @Test
  void aSessionContinuesFromTheDiskOnTheEngineThatReplacesTheOldOne() throws Exception {
    OperatorSubtaskState state;
    Reply undisturbed;
    try (ServingHarness h = harness(root)) {
      h.open();
      ask(h, "t1");
      awaitStored(); // the tenant's key is drawn by then, so that the checkpoint has it
      state = h.snapshot();
    }
    String id = engines.diskId();
    engines.close();
    try (ServingHarness h = harness(null).restore(state, 1)) {
      undisturbed = ask(h, "t2");
      assertThat(undisturbed.usage().cachedTokens()).isZero();
    }
    engines.close();
    try (ServingHarness h = harness(root).restore(state, 1)) {
      assertThat(engines.diskId()).isEqualTo(id);
      Reply warm = ask(h, "t2");
      assertThat(warm.text()).isEqualTo(undisturbed.text());
      assertThat(warm.usage().cachedTokens()).isGreaterThan(800);
      assertThat(engines.stats().fetchedPages()).isGreaterThan(40);
    }
    engines.close();
  }

  @Test
  void anAnnouncedTurnFindsItsPagesInHostMemory() throws Exception {
    OperatorSubtaskState state = stored();
    Reply announced;
    try (ServingHarness h = harness(root).restore(state, 1)) {
      h.send(Events.of(EventKind.PREFETCH, "s", null).of("acme"));
      Patience.await().until(() -> engines.stats().announcements().pages() > 40);
      announced = ask(h, "t2");
      assertThat(announced.usage().tiers().hostTokens()).isGreaterThan(800);
      assertThat(announced.usage().tiers().diskTokens()).isZero();
    }
    engines.close();
    try (ServingHarness h = harness(root).restore(state, 1)) {
      Reply unannounced = ask(h, "t2");
      assertThat(unannounced.usage().tiers().hostTokens()).isZero();
      assertThat(unannounced.usage().tiers().diskTokens()).isGreaterThan(800);
      assertThat(unannounced.text()).isEqualTo(announced.text());
    }
    engines.close();
  }

  @Test
  void anErasedSessionLeavesTheDiskOfAnEngineThatNeverServedIt() throws Exception {
    OperatorSubtaskState state = stored();
    try (ServingHarness h = harness(root).restore(state, 1)) {
      h.send(Events.of(EventKind.ERASE, "s", "e1").of("acme"));
      awaitNothingStored();
    }
    engines.close();
  }

  @Test
  void aDirectoryThatMissedAnErasureIsEmptiedWhenItComesBack(@TempDir Path other) throws Exception {
    OperatorSubtaskState state = stored();
    try (ServingHarness h = harness(other).restore(state, 1)) {
      h.send(Events.of(EventKind.ERASE, "s", "e1").of("acme"));
      state = h.snapshot();
    }
    engines.close();
    assertThat(StoredPages.in(root)).isNotEmpty();
    try (ServingHarness h = harness(root).restore(state, 1)) {
      assertThat(StoredPages.in(root)).isEmpty();
      assertThat(engines.tiers().diskId()).isNotNull();
    }
    engines.close();
  }

  @Test
  void anErasedTenantLeavesTheDisk() throws Exception {
    OperatorSubtaskState state = stored();
    try (ServingHarness h = harness(root).restore(state, 1)) {
      h.control("erase_tenant", "acme", null);
      h.runMails();
      awaitNothingStored();
    }
    engines.close();
  }

  @Test
  void pagesOfAnErasedTenantAreUnreadableBeforeItsSessionsAreErased() throws Exception {
    OperatorSubtaskState state = stored();
    try (ServingHarness h = harness(root).restore(state, 1)) {
      h.control("erase_tenant", "acme", null);
      h.send(Events.message("since", "t2", TieredEngines.LONG).of("acme"));
      Patience.await().until(() -> engines.engine().stats().steps().generatedTokens() > 0);
      assertThat(engines.stats().fetchedPages()).isZero();
      assertThat(h.turnsKept("s")).as("no mail has run yet").isEqualTo(1);
      assertThat(h.erasuresPending()).isEqualTo(1);
    }
    engines.close();
  }

  /** Stores a turn of the tenant acme on disk. */
  private OperatorSubtaskState stored() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness(root)) {
      h.open();
      h.ask(Events.message("s", "t1", TieredEngines.LONG).of("acme"));
      awaitStored(); // the tenant's key is drawn by then, so that the checkpoint has it
      state = h.snapshot();
    }
    engines.close();
    return state;
  }

  private void awaitNothingStored() {
    Patience.await()
        .until(
            () -> {
              PageStoreStats store = engines.stats().store();
              return store != null && store.pages() == 0;
            });
  }

  @Test
  void anEngineWhoseDiskCannotBeUsedServesWithoutIt() throws Exception {
    Path file = Files.writeString(root.resolve("file"), "no directory");
    try (ServingHarness h = harness(file)) {
      h.open();
      assertThat(engines.tiers().diskId()).isNull();
      assertThat(ask(h, "t1").text()).isNotEmpty();
    }
    engines.close();
  }
}
