package io.radixflow.engine.tier;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Engines.letters;
import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.SessionRef;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.store.MemoryPageStore;
import io.radixflow.kernels.sampling.SamplingParams;
import java.io.IOException;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A model with a layer whose queries see 64 tokens, four pages: the tiers below the device keep
 * window parts where a later query reaches them, and a prefix is loaded with those before its end.
 */
@Timeout(180)
class TieredWindowsTest {
  private static final SimOptions SIM =
      SimOptions.DEFAULT.withPoison(true).withWindow(64).withEndOfTurn(0);

  private static final int[] PROMPT = letters(0, 480);

  private final MemoryPageStore store = new MemoryPageStore();

  private static EngineOptions.Builder options(int pages, double share, TierOptions tiers) {
    return EngineOptions.builder()
        .kvPages(pages)
        .stepRows(32)
        .prefillChunk(16)
        .maxRunning(4)
        .auditMillis(0)
        .cache(CacheOptions.DEFAULT.withWindowShare(share))
        .tiers(tiers);
  }

  private static Engine open(EngineOptions.Builder options) {
    return Engines.open(SIM, options.build());
  }

  private static TierOptions host(WritePolicy policy) {
    return TierOptions.NONE
        .withHostBytes(1 << 16)
        .withLoadBackThreshold(1)
        .withWritePolicy(policy)
        .withPrefetch(PrefetchPolicy.WAIT_COMPLETE, 1);
  }

  private TierOptions stored() {
    return host(WritePolicy.WRITE_THROUGH)
        .withStore((epoch, sizes) -> store, NamespaceKey.of("secret"));
  }

  private static EngineRequest request(int maxTokens, int[]... prompt) {
    return EngineClient.request(concat(prompt), SamplingParams.GREEDY, maxTokens);
  }

  private static int[] alone(int maxTokens, int[]... prompt) {
    try (Engine engine = Engines.open(SIM, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      return client.run(request(maxTokens, prompt)).ids();
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = WritePolicy.class,
      names = {"WRITE_THROUGH", "WRITE_BACK"})
  void aConversationThatTheDeviceHasLostGoesOnFromHostMemory(WritePolicy policy) {
    int[] question = letters(5, 20);
    try (Engine engine = open(options(60, 0.4, host(policy)));
        EngineClient client = new EngineClient(engine)) {
      int[] reply = client.run(request(100, PROMPT)).ids();
      for (int other = 1; other < 4; other++) {
        client.run(request(20, letters(other, 600)));
      }
      TieredEngineTest.awaitSettled(engine);
      EngineClient.Seen next = client.run(request(20, PROMPT, reply, question));
      assertThat(next.ids()).isEqualTo(alone(20, PROMPT, reply, question));
      assertThat(next.usage.tiers().hostTokens()).as("of 579 computed ones").isEqualTo(576);
    }
  }

  @Test
  void onlyTheWindowsBeforeEndsAreCopied() {
    try (Engine engine = open(options(200, 0.5, host(WritePolicy.WRITE_THROUGH)));
        EngineClient client = new EngineClient(engine)) {
      client.run(request(300, PROMPT));
      TierStats stats = TieredEngineTest.awaitSettled(engine);
      assertThat(stats.usedHostPages()).isEqualTo(48);
      assertThat(stats.usedHostParts()).as("of the prompt's end and the reply's").isEqualTo(8);
    }
  }

  @Test
  void pagesThatTheDeviceStillHasAreLoadedForTheirWindow() {
    try (Engine engine = open(options(200, 0.1, host(WritePolicy.WRITE_THROUGH)));
        EngineClient client = new EngineClient(engine)) {
      int[] reply = client.run(request(100, PROMPT)).ids();
      for (int other = 1; other < 9; other++) {
        client.run(request(20, letters(other, 200)));
      }
      TieredEngineTest.awaitSettled(engine);
      int[] question = letters(5, 20);
      EngineClient.Seen next = client.run(request(20, PROMPT, reply, question));
      assertThat(next.ids()).isEqualTo(alone(20, PROMPT, reply, question));
      assertThat(next.usage.cachedTokens()).isEqualTo(576);
      assertThat(next.usage.tiers().hostTokens()).as("its parts were taken").isEqualTo(576);
      EngineClient.Seen again = client.run(request(20, PROMPT, reply, question));
      assertThat(again.usage.tiers().hostTokens()).as("now the device has them").isZero();
      assertThat(again.usage.cachedTokens()).isGreaterThanOrEqualTo(576);
    }
  }

  private int[] storeConversation() {
    try (Engine engine = open(options(200, 0.5, stored()));
        EngineClient client = new EngineClient(engine)) {
      int[] reply = client.run(request(100, PROMPT)).ids();
      TieredEngineTest.awaitSettled(engine);
      return concat(PROMPT, reply);
    }
  }

  /** Runs a next turn on a new engine; returns the tokens that came from the store. */
  private int tokensFromStore(int[] conversation) {
    int[] question = letters(5, 20);
    try (Engine engine = open(options(200, 0.5, stored()));
        EngineClient client = new EngineClient(engine)) {
      EngineClient.Seen next = client.run(request(20, conversation, question));
      assertThat(next.ids()).isEqualTo(alone(20, conversation, question));
      TieredEngineTest.awaitSettled(engine);
      return next.usage.tiers().diskTokens();
    }
  }

  private static PageId[] windows(int[] tokens, int from, int to) {
    PageChain chain = PageChain.of(RadixKey.of(tokens), 16, 0);
    return IntStream.range(from, to).mapToObj(i -> chain.id(i).window()).toArray(PageId[]::new);
  }

  @Test
  void anotherEngineGoesOnFromTheStoreAndReadsOneWindow() {
    int[] conversation = storeConversation();
    assertThat(tokensFromStore(conversation)).isEqualTo(576);
    assertThat(store.reads()).as("36 pages and the parts of four").isEqualTo(40);
  }

  @Test
  void aPrefixIsUsedAsFarAsItsWindowIsStored() {
    int[] conversation = storeConversation();
    store.remove(windows(conversation, 35, 36), 1);
    assertThat(tokensFromStore(conversation)).as("to the end of the prompt").isEqualTo(480);
  }

  @Test
  void aWindowThatIsDamagedIsAMissAndAShorterPrefixIsUsed() {
    int[] conversation = storeConversation();
    store.damage(windows(conversation, 33, 34)[0]);
    assertThat(tokensFromStore(conversation)).as("to the end of the prompt").isEqualTo(480);
  }

  @Test
  void pagesWithoutAnyWindowAreOfNoUse() {
    int[] conversation = storeConversation();
    PageId[] all = windows(conversation, 0, 36);
    store.remove(all, all.length);
    assertThat(tokensFromStore(conversation)).isZero();
  }

  /** Runs a conversation on an engine over files; returns the pages that it reads from them. */
  private static long pagesRead(StoredFiles files, int contextLength) {
    TierOptions tiers = files.below(host(WritePolicy.WRITE_THROUGH), true, true);
    try (Engine engine = open(options(200, 0.5, tiers).contextLength(contextLength));
        EngineClient client = new EngineClient(engine)) {
      assertThat(client.run(request(20, letters(0, 100))).ids())
          .isEqualTo(alone(20, letters(0, 100)));
      TierStats stats = TieredEngineTest.awaitSettled(engine);
      return stats.store().readPages() + stats.remote().readPages();
    }
  }

  @Test
  void pagesOfAllLayersFromBeforeAreNotMixedWithPagesThatHaveParts() throws IOException {
    int wholePages = 127;
    int parted = 200;
    try (StoredFiles files = new StoredFiles()) {
      assertThat(pagesRead(files, wholePages)).isZero();
      assertThat(pagesRead(files, wholePages)).as("6 pages, of all layers").isEqualTo(6);
      assertThat(pagesRead(files, parted)).as("these have another layout").isZero();
      assertThat(pagesRead(files, parted)).as("6 pages and 4 parts").isEqualTo(10);
      files.loseDisk();
      assertThat(pagesRead(files, parted)).as("the same from the remote store").isEqualTo(10);
    }
  }

  @Test
  void aSessionThatIsClosedLeavesNoPartBelowTheDevice() {
    try (Engine engine = open(options(200, 0.5, stored()));
        EngineClient client = new EngineClient(engine)) {
      client.run(
          EngineRequest.builder("test", () -> PROMPT, 100)
              .sampling(SamplingParams.GREEDY)
              .session(new SessionRef("tenant", "session", "main"))
              .build());
      TierStats before = TieredEngineTest.awaitSettled(engine);
      assertThat(before.usedHostParts()).isPositive();
      assertThat(store.size()).isEqualTo(before.usedHostPages() + before.usedHostParts());
      engine.closeSession("session");
      await().until(() -> store.size() == 0);
      TierStats after = TieredEngineTest.awaitSettled(engine);
      assertThat(List.of(after.usedHostPages(), after.usedHostParts())).containsOnly(0);
    }
  }
}
