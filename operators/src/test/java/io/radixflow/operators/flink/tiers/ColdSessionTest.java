package io.radixflow.operators.flink.tiers;

import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.Engines;
import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.tier.Tiers;
import io.radixflow.engine.tier.remote.RemoteTierOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.TieredEngines;
import io.radixflow.operators.session.SessionPages;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.kv.SlotState;
import io.radixflow.protocol.record.kv.TierTokens;
import io.radixflow.text.template.Message;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A session's pages move through the tiers; queries and the state say where they are. */
@Timeout(180)
class ColdSessionTest {
  private static final EngineOptions ENGINE =
      EngineOptions.builder()
          .kvPages(128)
          .cache(new CacheOptions(PrefixCaching.RADIX, "lru", 0.5))
          .tiers(TieredEngines.host(8 << 20))
          .build();

  @TempDir Path root;

  @RegisterExtension final TieredEngines engines = new TieredEngines();

  private int asked;

  /** A subtask on an engine of its own. */
  private ServingHarness harness(Path directory, int parallelism, int subtask) throws Exception {
    return harness(directory, RemoteTierOptions.NONE, parallelism, subtask);
  }

  private ServingHarness harness(
      Path directory, RemoteTierOptions remote, int parallelism, int subtask) throws Exception {
    return engines.harness(ENGINE, TieredEngines.disk(directory), remote, parallelism, subtask);
  }

  private static Events message(String session, String turn) {
    return Events.message(session, turn)
        .with(new Message("user", session + TieredEngines.LONG))
        .with(Events.maxTokens(8));
  }

  private Reply query(ServingHarness h, String session) throws Exception {
    return h.ask(Events.of(EventKind.QUERY, session, "q" + asked++));
  }

  /** Pushes what no turn uses off the device. */
  private void fillTheDevice(ServingHarness h) throws Exception {
    for (int i = 0; i < 3; i++) {
      h.ask(message("filler" + asked, "f" + asked++));
    }
    awaitStored();
  }

  /** Waits until no page is on its way to host or disk. */
  private void awaitStored() {
    await()
        .until(
            () -> {
              EngineStats stats = Engines.stats(engines.engine());
              return stats.pool().inFlightPages() == 0
                  && stats.pool().protectedPages() == 0
                  && stats.tiers().queuedPages() == 0
                  && !onTiers(Tiers::isMoving);
            });
  }

  private boolean onTiers(Function<Tiers, Boolean> task) {
    return engines.engine().onTiers(task).join();
  }

  private static void assertIs(Reply answer, String status, TierTokens tokens) {
    assertThat(answer.status()).isEqualTo(status);
    assertThat(answer.pages().tokens()).isEqualTo(tokens);
    assertThat(answer.pages().committedTokens()).isGreaterThan(800);
  }

  @Test
  void aSessionIsHotThenWarmThenColdAndComesBackAndIsGoneInTheEnd() throws Exception {
    try (ServingHarness h = harness(root, 1, 0)) {
      h.open();
      h.send(message("s", "t1"), Events.of(EventKind.QUERY, "s", "hot"));
      assertThat(h.reply("hot").status()).isEqualTo("hot");
      while (h.replies().size() < 2) {
        h.awaitMail();
      }
      awaitStored();
      Reply warm = query(h, "s");
      int committed = warm.pages().committedTokens();
      assertIs(warm, "warm", new TierTokens(committed, 0, 0, 0));

      fillTheDevice(h);
      assertIs(query(h, "s"), "cold", new TierTokens(0, committed, 0, 0));
      assertThat(h.pages("s").tokens()).isEqualTo(new TierTokens(0, committed, 0, 0));

      assertThat(onTiers(tiers -> tiers.switches().flush())).isTrue();
      assertIs(query(h, "s"), "cold", new TierTokens(0, 0, committed, 0));
      assertThat(h.pages("s").tokens()).isEqualTo(new TierTokens(0, 0, committed, 0));

      Reply loaded = h.ask(message("s", "t2"));
      assertThat(loaded.usage().tiers().diskTokens()).isEqualTo(committed);
      awaitStored();
      Reply again = query(h, "s");
      int grown = again.pages().committedTokens();
      assertThat(grown).isGreaterThan(committed + 800);
      assertIs(again, "warm", new TierTokens(grown, 0, 0, 0));

      fillTheDevice(h);
      assertThat(engines.engine().eraseAll().join()).isTrue();
      await().until(() -> engines.stats().store().pages() == 0);
      assertIs(query(h, "s"), "gone", TierTokens.NONE);
      assertThat(h.pages("s").tokens()).isEqualTo(TierTokens.NONE);
      assertThat(h.pages("s").committedTokens()).isEqualTo(grown);
    }
  }

  /** State after a turn whose pages are on the disk, and how many of its tokens they have. */
  private record Stored(OperatorSubtaskState state, int committed) {}

  /** Runs a turn, waits until its pages are on the disk, and ends the process's engine. */
  private Stored storeAndEnd() throws Exception {
    Stored stored;
    try (ServingHarness h = harness(root, 1, 0)) {
      h.open();
      h.ask(message("s", "t1"));
      awaitStored();
      int committed = h.pages("s").committedTokens();
      stored = new Stored(h.snapshot(), committed);
    }
    engines.close();
    return stored;
  }

  @Test
  void afterARestartASessionIsColdWhereItsPagesAreOnTheDiskAndElsewhereGone() throws Exception {
    Stored stored = storeAndEnd();
    int committed = stored.committed();
    try (ServingHarness h = harness(root, 1, 0).restore(stored.state(), 1)) {
      SessionPages hint = h.pages("s");
      assertThat(hint.tokens()).as("before anybody looks").isEqualTo(onDevice(committed));
      assertThat(h.sessions(SlotState.GONE)).as("last seen in the memory of another").isEqualTo(1);
      assertIs(query(h, "s"), "cold", new TierTokens(0, 0, committed, 0));
      assertThat(h.sessions(SlotState.COLD)).isEqualTo(1);
      assertThat(h.pages("s"))
          .isEqualTo(hint.found(new TierTokens(0, 0, committed, 0), 1_000, hint.disk(), null));
      assertThat(h.ask(message("s", "t2")).usage().tiers().diskTokens()).isEqualTo(committed);
      assertThat(query(h, "s").status()).isEqualTo("warm");
    }
    engines.close();
    try (ServingHarness h = harness(root.resolve("another"), 1, 0).restore(stored.state(), 1)) {
      assertIs(query(h, "s"), "gone", TierTokens.NONE);
    }
  }

  @Test
  void aHintThatIsWrongChangesNoReply() throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness(root, 1, 0)) {
      h.open();
      h.ask(message("s", "t1"));
      state = h.snapshot();
    }
    engines.close();
    List<String> texts = new ArrayList<>();
    for (boolean wrong : new boolean[] {false, true}) {
      try (ServingHarness h = harness(root.resolve("empty" + wrong), 1, 0).restore(state, 1)) {
        if (wrong) {
          h.putPages(
              "s", new SessionPages("main", 1 << 20, onDevice(1 << 20), 1, 1, "x", "y", "z"));
          assertThat(query(h, "s").status()).isEqualTo("gone");
        }
        texts.add(h.ask(message("s", "t2")).text());
      }
      engines.close();
    }
    assertThat(texts.get(1)).isEqualTo(texts.get(0));
  }

  /** Both subtasks have engines of their own; one finds the directory that was there before. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void afterARescaleASessionIsColdOnTheTaskManagerThatHasItsPages(boolean rocksDb)
      throws Exception {
    OperatorSubtaskState state;
    try (ServingHarness h = harness(root, 1, 0).setBackend(rocksDb)) {
      h.open();
      for (int s = 0; s < 4; s++) {
        h.ask(message("s" + s, "t" + s));
      }
      awaitStored();
      state = AbstractStreamOperatorTestHarness.repackageState(h.snapshot());
    }
    engines.close();
    for (int subtask = 0; subtask < 2; subtask++) {
      Path disks = subtask == 0 ? root : root.resolve("new");
      try (ServingHarness h = harness(disks, 2, subtask).setBackend(rocksDb).restore(state, 1)) {
        for (int s = 0; s < 4; s++) {
          if (ServingHarness.ownerOf("s" + s, 2) == subtask) {
            int committed = h.pages("s" + s).committedTokens();
            assertIs(
                query(h, "s" + s),
                subtask == 0 ? "cold" : "gone",
                subtask == 0 ? new TierTokens(0, 0, committed, 0) : TierTokens.NONE);
          }
        }
      }
    }
  }

  @Test
  void aSessionThatMovedIsColdWhereTheRemoteFolderHasItsPages() throws Exception {
    String folder = root.resolve("remote").toUri().toString();
    RemoteTierOptions remote = TieredEngines.remote(folder);
    OperatorSubtaskState state;
    int committed;
    try (ServingHarness h = harness(root.resolve("old"), remote, 1, 0)) {
      h.open();
      h.ask(message("s", "t1"));
      committed = h.pages("s").committedTokens();
      assertThat(h.pages("s").remote()).isEqualTo(folder);
      // the tenant's key is drawn by then, so that the checkpoint has it
      await().until(() -> engines.stats().remote().writtenPages() * 16 >= committed);
      state = h.snapshot();
    }
    engines.close();
    int owner = ServingHarness.ownerOf("s", 2);
    try (ServingHarness h = harness(root.resolve("new"), remote, 2, owner).restore(state, 1)) {
      assertIs(query(h, "s"), "cold", new TierTokens(0, 0, 0, committed));
      SessionPages found = h.pages("s");
      assertThat(found.tokens().remote()).isEqualTo(committed);
      assertThat(found.remote()).isEqualTo(folder);
      assertThat(found.disk()).as("the disk that is looked at now").isEqualTo(engines.diskId());
      assertThat(h.ask(message("s", "t2")).usage().tiers().remoteTokens()).isEqualTo(committed);
    }
  }

  private static TierTokens onDevice(int tokens) {
    return new TierTokens(tokens, 0, 0, 0);
  }
}
