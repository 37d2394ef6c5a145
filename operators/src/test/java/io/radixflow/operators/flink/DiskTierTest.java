package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.ModelLoader;
import io.radixflow.kernels.sim.SimModel;
import io.radixflow.kernels.sim.SimOptions;
import io.radixflow.operators.cache.NamespaceKey;
import io.radixflow.operators.engine.EngineOptions;
import io.radixflow.operators.session.EventKind;
import io.radixflow.operators.session.Reply;
import io.radixflow.operators.tier.PageStoreStats;
import io.radixflow.operators.tier.PrefetchPolicy;
import io.radixflow.operators.tier.TierOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What an engine wrote to disk serves the one that takes its place. */
@Timeout(120)
class DiskTierTest {
  private static final String LONG = "a question that fills a few pages of tokens ".repeat(20);

  @TempDir Path root;

  private final List<ServingEngine> engines = new ArrayList<>();

  private ServingHarness harness(Path directory) throws Exception {
    DiskTier disk =
        directory == null
            ? DiskTier.NONE
            : new DiskTier(64 << 20, directory.toString(), 0, null, NamespaceKey.of("secret"));
    EngineOptions options =
        EngineOptions.builder()
            .kvPages(256)
            .tiers(
                TierOptions.NONE
                    .withHostBytes(8 << 20)
                    .withLoadBackThreshold(1)
                    .withPrefetch(PrefetchPolicy.WAIT_COMPLETE, 1))
            .build();
    ModelEngineOpener opener =
        new ModelEngineOpener(
                name -> SimModel.open(SimOptions.DEFAULT.withEndOfTurn(0)),
                ModelLoader.SIM,
                DeviceOptions.DEFAULT,
                options)
            .onDisk(disk);
    TestOpener recorded =
        TestOpener.at(
            "disk" + engines.size(),
            home -> {
              try {
                engines.add(opener.open(home));
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
              return engines.get(engines.size() - 1);
            });
    return new ServingHarness(recorded, ServingOptions.DEFAULT, 1, 0);
  }

  private ServingEngine engine() {
    return engines.get(engines.size() - 1);
  }

  private Reply ask(ServingHarness h, String turn) throws Exception {
    h.send(Events.message("s", turn, LONG));
    while (h.replies().stream().noneMatch(reply -> turn.equals(reply.turn()))) {
      h.awaitMail();
    }
    return h.reply(turn);
  }

  private void awaitStored() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                engine().engine().stats().tiers().queuedPages() == 0
                    && engine().engine().stats().tiers().store() != null
                    && engine().engine().stats().tiers().store().pages() > 40);
  }

  @Test
  void aSessionGoesOnFromDiskOnTheEngineThatTakesTheOldOnesPlace() throws Exception {
    OperatorSubtaskState state;
    Reply undisturbed;
    try (ServingHarness h = harness(root)) {
      h.open();
      ask(h, "t1");
      state = h.snapshot();
      awaitStored();
    }
    String id = engine().tiers().local().home().engine();
    engine().close();
    try (ServingHarness h = harness(null).restore(state, 1)) {
      undisturbed = ask(h, "t2");
      assertThat(undisturbed.cachedTokens()).isZero();
    }
    engine().close();
    try (ServingHarness h = harness(root).restore(state, 1)) {
      assertThat(engine().tiers().local().home().engine()).isEqualTo(id);
      Reply warm = ask(h, "t2");
      assertThat(warm.text()).isEqualTo(undisturbed.text());
      assertThat(warm.cachedTokens()).isGreaterThan(800);
      assertThat(engine().engine().stats().tiers().fetchedPages()).isGreaterThan(40);
    }
    engine().close();
  }

  @Test
  void aTurnThatWasAnnouncedFindsInHostMemoryWhatWasOnDisk() throws Exception {
    OperatorSubtaskState state = stored();
    Reply announced;
    try (ServingHarness h = harness(root).restore(state, 1)) {
      h.send(Events.of(EventKind.PREFETCH, "s", null));
      Awaitility.await().until(() -> engine().engine().stats().tiers().prefetches().pages() > 40);
      announced = ask(h, "t2");
      assertThat(announced.tiers().hostTokens()).isGreaterThan(800);
      assertThat(announced.tiers().diskTokens()).isZero();
    }
    engine().close();
    try (ServingHarness h = harness(root).restore(state, 1)) {
      Reply unannounced = ask(h, "t2");
      assertThat(unannounced.tiers().hostTokens()).isZero();
      assertThat(unannounced.tiers().diskTokens()).isGreaterThan(800);
      assertThat(unannounced.text()).isEqualTo(announced.text());
    }
    engine().close();
  }

  @Test
  void anErasedSessionLeavesTheDiskAlsoIfTheEngineNeverServedIt() throws Exception {
    OperatorSubtaskState state = stored();
    try (ServingHarness h = harness(root).restore(state, 1)) {
      h.send(Events.of(EventKind.ERASE, "s", "e1"));
      awaitNothingStored();
    }
    engine().close();
  }

  @Test
  void aDirectoryThatWasAwayWhenASessionWasErasedIsEmptiedWhenItComesBack(@TempDir Path other)
      throws Exception {
    OperatorSubtaskState state = stored();
    try (ServingHarness h = harness(other).restore(state, 1)) {
      h.send(Events.of(EventKind.ERASE, "s", "e1"));
      state = h.snapshot();
    }
    engine().close();
    assertThat(new StoredRecords(root).ids()).isNotEmpty();
    try (ServingHarness h = harness(root).restore(state, 1)) {
      assertThat(new StoredRecords(root).ids()).isEmpty();
      assertThat(engine().tiers().local()).isNotNull();
    }
    engine().close();
  }

  @Test
  void anErasedTenantLeavesTheDisk() throws Exception {
    OperatorSubtaskState state = stored();
    try (ServingHarness h = harness(root).restore(state, 1)) {
      h.control("erase_tenant", "acme", null);
      h.runMails();
      awaitNothingStored();
    }
    engine().close();
  }

  /** A turn of the tenant acme, on disk. */
  private OperatorSubtaskState stored() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness(root)) {
      h.open();
      h.send(Events.message("s", "t1", LONG).of("acme"));
      while (h.replies().isEmpty()) {
        h.awaitMail();
      }
      state = h.snapshot();
      awaitStored();
    }
    engine().close();
    return state;
  }

  private void awaitNothingStored() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              PageStoreStats store = engine().engine().stats().tiers().store();
              return store != null && store.pages() == 0;
            });
  }

  @Test
  void anEngineWhoseDiskCannotBeUsedServesWithoutIt() throws Exception {
    Path file = Files.writeString(root.resolve("file"), "no directory");
    try (ServingHarness h = harness(file)) {
      h.open();
      assertThat(engine().tiers().local()).isNull();
      assertThat(ask(h, "t1").text()).isNotEmpty();
    }
    engine().close();
  }
}
