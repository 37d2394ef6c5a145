package io.radixflow.engine.cache;

import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.Engines;
import io.radixflow.engine.Patience;
import io.radixflow.engine.cache.session.SessionBounds;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.RetentionRange;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests what requests say about their pages. A page has 16 tokens, the pool 32 pages. */
@Timeout(180)
class EngineHintsTest {
  private static final EngineOptions.Builder SMALL =
      EngineOptions.builder().kvPages(32).contextLength(512).auditMillis(0);

  @Test
  void aTurnThatIsNotStoredLeavesNoPages() {
    try (Engine engine = Engines.open(SMALL);
        EngineClient client = new EngineClient(engine)) {
      CacheHints hints = new CacheHints(true, 1000, List.of(), null);
      client.run(request(letters(0, 64), 20, hints));
      EngineStats stats = Engines.awaitIdle(engine);
      assertThat(stats.pool().freePages()).isEqualTo(32);
      client.run(request(letters(0, 64), 20, CacheHints.NONE));
      assertThat(Engines.awaitIdle(engine).steps().cachedTokens()).isZero();
    }
  }

  @Test
  void aPinnedPrefixOutlastsWhatOthersStore() {
    try (Engine engine = Engines.open(SMALL);
        EngineClient client = new EngineClient(engine)) {
      client.run(request(letters(0, 48), 1, new CacheHints(false, 3_600_000, List.of(), null)));
      client.run(request(letters(1, 160), 100, CacheHints.NONE));
      client.run(request(letters(2, 160), 100, CacheHints.NONE));
      EngineStats stats = Engines.awaitIdle(engine);
      assertThat(stats.sessions().pinnedPages()).isEqualTo(3);
      assertThat(stats.pool().protectedPages()).isEqualTo(3);
      assertThat(stats.pool().evictedPages()).isPositive();
      client.run(request(letters(0, 64), 1, CacheHints.NONE));
      assertThat(Engines.awaitIdle(engine).steps().cachedTokens()).isEqualTo(48);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"CANCELLED", "REPLACED"})
  void aTurnThatIsCutShortPinsWhatItHasUnlessAnotherReplacesIt(FinishReason reason) {
    try (Engine engine = Engines.open(SMALL.build().toBuilder().ringTokens(8));
        EngineClient client = new EngineClient(engine)) {
      CacheHints pin = new CacheHints(false, 3_600_000, List.of(), null);
      long turn = client.submit(request(letters(0, 48), 400, pin));
      Patience.await().until(() -> engine.stats().steps().generatedTokens() == 8);
      client.cancel(turn, reason);
      assertThat(client.await(turn).finish).isEqualTo(reason);
      assertThat(Engines.awaitIdle(engine).sessions().pinnedPages() > 0)
          .isEqualTo(reason == FinishReason.CANCELLED);
    }
  }

  @Test
  void pinsAreDroppedForARequestThatCouldNotRunOtherwise() {
    try (Engine engine = Engines.open(SMALL);
        EngineClient client = new EngineClient(engine)) {
      client.run(request(letters(0, 48), 1, new CacheHints(false, 3_600_000, List.of(), null)));
      assertThat(Engines.awaitIdle(engine).pool().protectedPages()).isEqualTo(3);
      EngineClient.Seen seen = client.run(request(letters(1, 500), 10, CacheHints.NONE));
      assertThat(seen.finish).isIn(FinishReason.LENGTH, FinishReason.STOP);
      assertThat(Engines.awaitIdle(engine).pool().protectedPages()).isZero();
    }
  }

  @Test
  void aRangeOfHighPriorityOutlastsWhatOthersStore() {
    CacheOptions byPriority =
        new CacheOptions(PrefixCaching.RADIX, "priority", 1, SessionBounds.DEFAULT, false, 1);
    try (Engine engine = Engines.open(SMALL.build().toBuilder().cache(byPriority));
        EngineClient client = new EngineClient(engine)) {
      RetentionRange system = new RetentionRange(0, 40, 50, Long.MAX_VALUE);
      client.run(request(letters(0, 160), 1, new CacheHints(false, 0, List.of(system), null)));
      client.run(request(letters(1, 160), 100, CacheHints.NONE));
      client.run(request(letters(2, 160), 100, CacheHints.NONE));
      client.run(request(letters(0, 160), 1, CacheHints.NONE));
      assertThat(Engines.awaitIdle(engine).steps().cachedTokens()).isEqualTo(48);
    }
  }

  private static EngineRequest request(int[] prompt, int maxTokens, CacheHints hints) {
    return EngineRequest.builder("test", () -> prompt, maxTokens)
        .ignoreEndOfTurn(true)
        .hints(hints)
        .build();
  }
}
