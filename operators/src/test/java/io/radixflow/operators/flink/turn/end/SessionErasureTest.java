package io.radixflow.operators.flink.turn.end;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.Engines;
import io.radixflow.engine.Patience;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.TierStats;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.engine.tier.remote.RemoteTierOptions;
import io.radixflow.engine.tier.store.TenantKeys;
import io.radixflow.kernels.device.Uninterruptibly;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.StoredPages;
import io.radixflow.operators.flink.TieredEngines;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.flink.erasure.Erasures.Erasure;
import io.radixflow.operators.flink.erasure.Erasures.What;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.TenantNamespaces;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.text.template.Message;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.LongBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests that a session's pages leave the disk with it, whatever happens in between. */
@Timeout(180)
class SessionErasureTest {
  private static final String COMMON = "the beginning that both of them have in common ".repeat(6);

  /** Fewer than a reply has tokens, more than the steps of its prompt. */
  private static final int HELD_STEPS = 40;

  @TempDir Path temporary;

  @RegisterExtension final TieredEngines engines = new TieredEngines();

  private ServingOptions options = ServingHarness.LIMITED;
  private Path root;

  @BeforeEach
  void setRoot() {
    root = temporary.resolve("first");
  }

  private ServingHarness harness() throws Exception {
    return harness(1, 0);
  }

  private ServingHarness harness(int parallelism, int subtask) throws Exception {
    DiskTierOptions disk =
        DiskTierOptions.of(TieredEngines.DISK_BYTES, root.toString(), options.namespaces().key());
    TestEngineFactory factory =
        engines.factory(
            TieredEngines.options(TieredEngines.host(1 << 20)), disk, RemoteTierOptions.NONE);
    return new ServingHarness(factory, options, parallelism, subtask);
  }

  private TierStats stats() {
    return engines.stats();
  }

  private long historyBytes() {
    return Engines.stats(engines.engine()).drafts().historyBytes();
  }

  private static Events say(String session, String turn, String text) {
    return Events.message(session, turn, text).of("acme");
  }

  private static String longText(String word) {
    return (word + " is what fills a few pages of this session's own ").repeat(8);
  }

  private Set<String> pages() {
    return StoredPages.in(root);
  }

  /** Waits until the pages of all turns that have ended are on disk. */
  private void awaitStored() {
    Patience.await()
        .until(
            () -> {
              EngineStats stats = Engines.stats(engines.engine());
              return stats.tiers().queuedPages() == 0
                  && stats.tiers().store() != null
                  && (stats.scheduler().runningRequests() > 0 || Engines.isIdle(stats));
            });
  }

  private static void runMailsUntil(ServingHarness h, BooleanSupplier condition) {
    Patience.await()
        .pollInSameThread()
        .until(
            () -> {
              h.runMails();
              return condition.getAsBoolean();
            });
  }

  /** Waits until the subtask has nothing more to erase. */
  private static void awaitErased(ServingHarness h) {
    runMailsUntil(h, () -> h.erasuresPending() == 0);
  }

  /** Erases a session that has pages on disk beside {@code kept}, which stay. */
  private void eraseAndSearch(ServingHarness h, String session, Set<String> kept) throws Exception {
    awaitStored();
    assertThat(pages().size()).isGreaterThan(kept.size());
    h.ask(Events.of(EventKind.ERASE, session, "erase-" + session).of("acme"));
    awaitErased(h);
    assertThat(pages()).isEqualTo(kept);
  }

  @Test
  void anErasedSessionLeavesOnDiskOnlyPagesThatAnotherSessionBeginsWith() throws Exception {
    try (ServingHarness h = harness()) {
      h.open();
      h.ask(say("kept", "t1", COMMON + longText("kept")));
      awaitStored();
      Set<String> kept = pages();
      h.ask(say("gone", "t2", COMMON + longText("gone")));
      h.ask(say("gone", "t3", longText("more")));
      eraseAndSearch(h, "gone", kept);
    }
  }

  @Test
  void repliesThatWereRegeneratedOrCancelledAreErasedWithTheirSession() throws Exception {
    try (ServingHarness h = harness()) {
      h.open();
      h.ask(say("s", "t1", longText("first")));
      h.ask(say("s", "t2", longText("second")));
      h.ask(Events.of(EventKind.REGENERATE, "s", "r1").of("acme").at("t1"));
      h.ask(say("s", "t3", longText("third")));
      h.send(say("s", "t4", longText("fourth")));
      Patience.await().until(() -> engines.engine().stats().scheduler().runningRequests() > 0);
      h.runMails();
      h.ask(say("s", "t5", longText("fifth")).replacing());
      h.ask(Events.fork("s", "f1", "b", "t3").of("acme"));
      h.ask(say("s", "t6", longText("sixth")).on("b"));
      eraseAndSearch(h, "s", Set.of());
    }
  }

  @Test
  void aBranchThatMakesRoomLeavesTheDiskAndTheOthersStay() throws Exception {
    options = Options.with(o -> o.maxBranches = 2);
    try (ServingHarness h = harness()) {
      h.open();
      h.ask(say("s", "t1", longText("first")));
      awaitStored();
      Set<String> kept = pages();
      h.ask(say("s", "t2", longText("second")).with(e -> e.previousTurn("")));
      awaitStored();
      Set<String> dropped = new HashSet<>(pages());
      dropped.removeAll(kept);
      assertThat(dropped).isNotEmpty();
      h.ask(say("s", "t3", longText("third")).with(e -> e.previousTurn("")));
      awaitStored();
      awaitErased(h);
      assertThat(pages()).containsAll(kept).doesNotContainAnyElementsOf(dropped);
      eraseAndSearch(h, "s", Set.of());
    }
  }

  @Test
  void theLatestTurnLeavesTheDiskWhenItIsDeletedAndAHiddenOneWithItsSession() throws Exception {
    try (ServingHarness h = harness()) {
      h.open();
      h.ask(say("s", "t1", longText("first")));
      awaitStored();
      Set<String> kept = pages();
      h.ask(say("s", "t2", longText("second")));
      awaitStored();
      assertThat(pages().size()).isGreaterThan(kept.size());
      h.ask(Events.of(EventKind.DELETE_TURN, "s", "d1").of("acme").at("t2"));
      awaitErased(h);
      assertThat(pages()).isEqualTo(kept);
      h.ask(say("s", "t3", longText("third")));
      h.ask(Events.of(EventKind.DELETE_TURN, "s", "d2").of("acme").at("t1"));
      awaitStored();
      assertThat(pages()).containsAll(kept);
      eraseAndSearch(h, "s", Set.of());
    }
  }

  /** Returns one of two subtasks, whose coordinator passes nothing on. */
  private ServingHarness oneOfTwo() throws Exception {
    return harness(2, ServingHarness.ownerOf("s", 2));
  }

  @Test
  void theHistoryOfDraftsIsDroppedWithAnErasedSessionAndNotWithARegeneratedReply()
      throws Exception {
    try (ServingHarness h = harness()) {
      h.open();
      h.ask(say("a", "t1", longText("a")));
      h.ask(Events.of(EventKind.REGENERATE, "a", "t2").of("acme"));
      awaitErased(h);
      awaitStored();
      assertThat(historyBytes()).isPositive();

      h.ask(Events.of(EventKind.ERASE, "a", "erase-a").of("acme"));
      Patience.await().until(() -> historyBytes() == 0);
    }
  }

  @Test
  void pagesOfRegeneratedRepliesAreErasedOnAllEngines() throws Exception {
    try (ServingHarness h = oneOfTwo()) {
      h.open();
      h.ask(say("s", "t1", longText("first")));
      h.ask(Events.of(EventKind.REGENERATE, "s", "r1").of("acme").at("t1"));
      awaitSent(h, 1);
      assertThat(h.erasuresPending()).as("until it is passed on").isEqualTo(1);
    }
  }

  @Test
  void pagesOfATurnThatBeganBeforeARestoreAreErasedOnAllEngines() throws Exception {
    OperatorSubtaskState state;
    CountDownLatch go = holdSteps();
    try (ServingHarness h = harness()) {
      h.open();
      h.send(say("s", "t1", longText("first")));
      awaitTokens(h);
      state = h.snapshot();
      go.countDown();
    }
    go = holdSteps();
    try (ServingHarness h = oneOfTwo().restore(state, 1)) {
      awaitTokens(h);
      h.send(say("s", "t2", longText("second")).replacing());
      go.countDown();
      // a second one follows, perhaps in the same mails, if the step in flight fills a page
      runMailsUntil(h, () -> !h.erasuresSent().isEmpty());
      assertThat(h.erasuresPending()).as("until it is passed on").isPositive();
    }
  }

  @Test
  void aKeyUsedAfterTheErasureOfItsTenantIsDeletedOnAllEngines() throws Exception {
    try (ServingHarness h = oneOfTwo()) {
      h.open();
      h.ask(say("s", "t1", longText("first")));
      awaitStored();
      List<Long> keys = keys();
      assertThat(keys).hasSize(1);
      h.send(say("s", "t2", longText("second")));
      h.control("erase_tenant", "acme", null);
      Patience.await().until(() -> !keys().isEmpty());
      List<Long> second = keys();
      assertThat(second).hasSize(1).doesNotContainAnyElementsOf(keys);

      awaitSent(h, 1);
      assertThat(keys()).isEmpty();
      Erasure sent = h.erasuresSent().get(0);
      assertThat(sent.what()).isEqualTo(What.KEYS);
      assertThat(ids(sent)).contains(keys.get(0), second.get(0));
      // the pages of the turn that was cancelled may take a moment longer
      runMailsUntil(h, () -> h.erasuresPending() == 1);
      h.receive(sent);
      assertThat(h.erasuresPending()).isZero();
    }
  }

  /** Returns the ids of the keys that the engine has. */
  private List<Long> keys() {
    return engines.tiers().keys().toSave(0, 1).stream().map(TenantKeys.Key::id).toList();
  }

  private static List<Long> ids(Erasure keys) {
    LongBuffer ids = ByteBuffer.wrap(keys.names()).asLongBuffer();
    return LongStream.generate(ids::get).limit(ids.capacity()).boxed().toList();
  }

  @Test
  void pagesOfATurnThatRanOnOneEngineAreErasedThereOnly() throws Exception {
    try (ServingHarness h = oneOfTwo()) {
      h.open();
      h.send(say("s", "t1", longText("first")));
      awaitTokens(h);
      h.ask(say("s", "t2", longText("second")).replacing());
      awaitErased(h);
      assertThat(h.erasuresSent()).isEmpty();
    }
  }

  @Test
  void aTurnThatIsCancelledBeforeTheOperatorKnowsItsPromptLeavesNoPages() throws Exception {
    try (ServingHarness h = harness()) {
      h.open();
      h.send(say("s", "t1", longText("first")));
      awaitGenerated(EngineOptions.DEFAULT.ringTokens()); // no mail runs, so the engine waits
      h.send(Events.of(EventKind.CANCEL, "s", "t1").of("acme"));
      runMailsUntil(h, () -> !h.replies().isEmpty());
      awaitStored();
      h.runMails();
      awaitErased(h);
      assertThat(stats().backedUpPages()).isPositive();
      assertThat(pages()).isEmpty();
    }
  }

  @Test
  void aSessionIsErasedWithItsCompiledGrammarWhereItHasNoPagesBelowTheDevice() throws Exception {
    GenerationOptions held =
        GenerationOptions.builder()
            .responseFormat("{\"type\": \"json_object\"}")
            .maxTokens(20)
            .build();
    TestEngineFactory factory =
        engines.factory(EngineOptions.DEFAULT, DiskTierOptions.NONE, RemoteTierOptions.NONE);
    try (ServingHarness h = new ServingHarness(factory, options, 1, 0)) {
      h.open();
      h.ask(say("s", "t1", "first").with(held));
      h.ask(say("other", "t2", "second").with(held));
      assertThat(compiled()).isOne();
      h.ask(Events.of(EventKind.CLOSE, "other", "c").of("acme"));
      h.ask(say("third", "t3", "third").with(held));
      assertThat(compiled()).as("closing erases nothing").isOne();
      h.ask(Events.of(EventKind.ERASE, "s", "e").of("acme"));
      h.ask(say("third", "t4", "fourth").with(held));
      assertThat(compiled()).isEqualTo(2);
      awaitErased(h);
    }
  }

  private long compiled() {
    return Engines.stats(engines.engine()).grammars().compiled();
  }

  /** Has the next engine stop in the midst of its first turn, until it may go on. */
  private CountDownLatch holdSteps() {
    CountDownLatch go = new CountDownLatch(1);
    AtomicInteger steps = new AtomicInteger();
    engines.run(
        name ->
            SimModel.open(
                SimOptions.DEFAULT
                    .withEndOfTurn(0)
                    .withFault(
                        batch -> {
                          if (steps.incrementAndGet() > HELD_STEPS) {
                            Uninterruptibly.await(go::await);
                          }
                        })));
    return go;
  }

  /** Waits until the first turn of an engine has tokens, and the operator knows of them. */
  private void awaitTokens(ServingHarness h) throws Exception {
    awaitGenerated(2);
    runMailsUntil(h, () -> !h.deltas().isEmpty());
  }

  private void awaitGenerated(long tokens) {
    Patience.await().until(() -> engines.engine().stats().steps().generatedTokens() >= tokens);
  }

  @Test
  void pagesOfARunningTurnAreErasedWithItsSession() throws Exception {
    try (ServingHarness h = harness()) {
      h.open();
      h.ask(say("s", "t1", longText("first")));
      awaitStored();
      long before = Engines.stats(engines.engine()).steps().generatedTokens();
      h.send(say("s", "t2", longText("second")));
      awaitGenerated(before + 5);
      h.runMails();
      eraseAndSearch(h, "s", Set.of());
      assertThat(stats().usedHostPages()).isZero();
    }
  }

  @Test
  void anErasureInACheckpointIsDoneAfterACrash() throws Exception {
    OperatorSubtaskState state;
    Path crashed;
    Set<String> before;
    try (ServingHarness h = harness()) {
      h.open();
      h.ask(say("gone", "t1", longText("gone")));
      h.ask(say("kept", "t2", longText("kept")));
      awaitStored();
      before = pages();
      crashed = copyOfRoot(before);
      h.send(Events.of(EventKind.ERASE, "gone", "e1").of("acme"));
      state = h.snapshot();
    }
    engines.close();
    root = crashed;
    assertThat(pages()).isEqualTo(before);
    try (ServingHarness first = harness(2, 0).restore(state, 1);
        ServingHarness second = harness(2, 1).beside(first).restore(state, 1)) {
      assertThat(first.erasuresPending()).isEqualTo(second.erasuresPending()).isPositive();
      awaitErased(first);
      awaitErased(second);
      assertThat(before).containsAll(pages()).hasSizeGreaterThan(pages().size());
      assertThat(pages()).isNotEmpty();
    }
  }

  /** Returns a copy of the files, some of which may go while they are copied. */
  private Path copyOfRoot(Set<String> pages) {
    AtomicInteger copies = new AtomicInteger();
    return Patience.await()
        .ignoreExceptions()
        .until(
            () -> {
              Path copy = temporary.resolve("crashed" + copies.incrementAndGet());
              copy(root, copy);
              return copy;
            },
            copy -> StoredPages.in(copy).equals(pages));
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path path : all.toList()) {
        Path target = to.resolve(from.relativize(path).toString());
        if (Files.isDirectory(path)) {
          Files.createDirectories(target);
        } else {
          Files.copy(path, target);
        }
      }
    }
  }

  @Test
  void anErasureThatADetachedDiskMissedIsDoneWhenTheDiskIsAttached() throws Exception {
    OperatorSubtaskState state;
    Set<String> before;
    try (ServingHarness h = harness()) {
      h.open();
      h.ask(say("s", "t1", longText("detached")));
      awaitStored();
      before = pages();
      h.control("tiers", null, "detach disk");
      Patience.await().until(() -> engines.tiers().applied() == 1);
      h.ask(Events.of(EventKind.ERASE, "s", "e1").of("acme"));
      h.control("erase_tenant", "acme", null).runMails();
      state = h.snapshot();
      assertThat(h.erasuresPending()).isPositive();
    }
    engines.close();
    assertThat(pages()).isEqualTo(before).isNotEmpty();
    try (ServingHarness h = harness().restore(state, 1)) {
      h.runMails();
      assertThat(h.erasuresPending()).isPositive();
      h.control("tiers", null, "attach disk");
      awaitErased(h);
      assertThat(pages()).isEmpty();
    }
  }

  @Test
  void pagesOfASessionThatHasMovedAreErasedOnAllEngines() throws Exception {
    int owner = ServingHarness.ownerOf("idle", 2);
    List<String> sessions =
        IntStream.range(0, 100)
            .mapToObj(i -> "s" + i)
            .filter(each -> ServingHarness.ownerOf(each, 2) == owner)
            .toList();
    String served = sessions.get(0);
    String fresh = sessions.get(1);
    String begun = sessions.get(2);
    OperatorSubtaskState state;
    try (ServingHarness h = harness()) {
      h.open();
      h.ask(say("idle", "t1", longText("first")));
      h.ask(say(served, "t2", longText("second")));
      h.send(say(begun, "t6", longText("sixth")));
      state = AbstractStreamOperatorTestHarness.repackageState(h.snapshot());
    }
    engines.close();
    root = temporary.resolve("second");
    try (ServingHarness h = harness(2, owner).restore(state, 1)) {
      while (h.replies().stream().noneMatch(reply -> reply.turn().equals("t6"))) {
        h.awaitMail();
      }
      h.setProcessingTime(10_000);
      h.ask(say(fresh, "t3", longText("third")));
      h.ask(Events.of(EventKind.CLOSE, fresh, "c3").of("acme"));
      awaitErased(h);
      assertThat(h.erasuresSent()).as("no other engine had it").isEmpty();
      h.ask(Events.of(EventKind.CLOSE, "idle", "c1").of("acme"));
      awaitSent(h, 1);
      h.ask(say(served, "t4", longText("fourth")));
      h.ask(say(served, "t5", longText("fifth")));
      h.ask(Events.of(EventKind.REGENERATE, served, "r5").of("acme"));
      awaitSent(h, 2);
      h.ask(Events.of(EventKind.CLOSE, served, "c2").of("acme"));
      awaitSent(h, 3);
      h.ask(Events.of(EventKind.CLOSE, begun, "c6").of("acme"));
      awaitSent(h, 4);
    }
  }

  private static void awaitSent(ServingHarness h, int erasures) {
    runMailsUntil(h, () -> h.erasuresSent().size() == erasures);
    assertThat(h.erasuresSent().get(erasures - 1).names()).isNotEmpty();
  }

  @Test
  void onlyThePublicPagesOfASharedSystemPromptSurviveAnErasure() throws Exception {
    options =
        Options.with(
            o ->
                o.namespaces =
                    new TenantNamespaces(NamespaceKey.of("k"), Set.of(TenantNamespaces.ALL)));
    OperatorSubtaskState state;
    int before;
    try (ServingHarness h = harness()) {
      h.open();
      h.send(Events.of(EventKind.OPEN, "s", "o1").with(new Message("system", COMMON)).of("acme"));
      h.ask(Events.message("s", "t1", longText("own")).of("acme"));
      awaitStored();
      before = pages().size();
      state = h.snapshot();
    }
    engines.close();
    try (ServingHarness h = harness().restore(state, 1)) {
      h.ask(Events.of(EventKind.ERASE, "s", "e1").of("acme"));
      awaitErased(h);
      int publicPages = COMMON.length() / engines.engine().info().pageTokens();
      assertThat(pages()).hasSizeBetween(publicPages, publicPages + 1);
      assertThat(before).isGreaterThan(publicPages + 5);
    }
  }
}
