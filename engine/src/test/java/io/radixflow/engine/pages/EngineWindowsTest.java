package io.radixflow.engine.pages;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.RepliesAlone;
import io.radixflow.engine.WindowStats;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.CacheHints;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A model with a layer whose queries see 64 tokens, and a pool with few parts for it. */
@Timeout(300)
class EngineWindowsTest {
  private static final SimOptions SIM =
      SimOptions.DEFAULT.withPoison(true).withWindow(64).withEndOfTurn(0);

  private static EngineOptions.Builder options(double share) {
    return EngineOptions.builder()
        .kvPages(256)
        .stepRows(32)
        .prefillChunk(16)
        .maxRunning(16)
        .auditMillis(0)
        .cache(CacheOptions.DEFAULT.withWindowShare(share));
  }

  private static Engine open(EngineOptions.Builder options) {
    return Engines.open(SIM, options.build());
  }

  private static EngineRequest request(int maxTokens, int[]... prompt) {
    return EngineClient.request(concat(prompt), SamplingParams.GREEDY, maxTokens);
  }

  @Test
  void aLongPromptNeedsPartsForItsWindowAndItsChunks() {
    List<EngineRequest> requests = List.of(request(40, letters(1, 3000)));
    RepliesAlone alone = RepliesAlone.of(requests, plain -> Engines.open(SIM, plain.build()));
    try (Engine engine = open(options(0.01))) {
      WindowStats windows = alone.assertSameOn(engine).pool().windows();
      assertThat(windows.total()).as("3 for the window, 6 for two steps").isEqualTo(9);
      assertThat(windows.window()).isEqualTo(64);
      assertThat(windows.free()).as("the one of the page that was not filled").isEqualTo(1);
      assertThat(windows.taken()).as("3,039 tokens fill 190 pages").isEqualTo(190 - 9);
    }
  }

  @Test
  void theNextTurnFindsWhatTheLastOneHasLeft() {
    try (Engine engine = open(options(0.05));
        EngineClient client = new EngineClient(engine)) {
      int[] conversation = letters(1, 500);
      for (int turn = 0; turn < 3; turn++) {
        int before = turn == 0 ? 0 : (conversation.length - 20 - 1) / 16 * 16;
        EngineClient.Seen seen = client.run(request(100, conversation));
        assertThat(seen.usage.cachedTokens()).as("turn %d", turn).isEqualTo(before);
        conversation = concat(conversation, seen.ids(), letters(turn + 2, 20));
      }
      assertThat(Engines.awaitIdle(engine).pool().windows().shortenedMatches()).isZero();
    }
  }

  @Test
  void aReplyCanBeGeneratedAgainFromTheEndOfItsPrompt() {
    try (Engine engine = open(options(0.1));
        EngineClient client = new EngineClient(engine)) {
      client.run(request(300, letters(1, 480)));
      EngineClient.Seen again = client.run(request(10, letters(1, 480), letters(2, 5)));
      assertThat(again.usage.cachedTokens()).isEqualTo(480);
    }
  }

  @Test
  void aSharedBeginningIsComputedTwiceAndThenFound() {
    int[] shared = letters(1, 320);
    try (Engine engine = open(options(0.08));
        EngineClient client = new EngineClient(engine)) {
      EngineClient.Seen first = client.run(request(5, shared, letters(2, 500)));
      EngineClient.Seen second = client.run(request(5, shared, letters(3, 500)));
      EngineClient.Seen third = client.run(request(5, shared, letters(4, 500)));
      assertThat(first.usage.cachedTokens()).isZero();
      assertThat(second.usage.cachedTokens()).as("the parts at its end are gone").isZero();
      assertThat(third.usage.cachedTokens()).as("the second kept them").isEqualTo(320);
      WindowStats windows = Engines.awaitIdle(engine).pool().windows();
      assertThat(windows.shortenedMatches()).isEqualTo(1);
      assertThat(windows.lostTokens()).isEqualTo(320);
    }
  }

  @Test
  void aPinnedPrefixKeepsItsWindowWhenOthersTakeParts() {
    for (boolean pinned : new boolean[] {true, false}) {
      CacheHints hints = new CacheHints(false, pinned ? 3_600_000 : 0, List.of(), null);
      try (Engine engine = open(options(0.06));
          EngineClient client = new EngineClient(engine)) {
        int[] prompt = letters(1, 320);
        client.run(
            EngineRequest.builder("test", () -> prompt, 5)
                .sampling(SamplingParams.GREEDY)
                .hints(hints)
                .build());
        for (int other = 2; other < 8; other++) {
          client.run(request(5, letters(other, 300)));
        }
        EngineClient.Seen next = client.run(request(5, prompt, letters(9, 20)));
        assertThat(next.usage.cachedTokens()).isEqualTo(pinned ? 320 : 0);
      }
    }
  }

  @Test
  void manyRequestsShareFewParts() {
    List<EngineRequest> requests = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      requests.add(request(30 + i, letters(i % 3, 100 + 10 * (i % 7)), letters(i, 40)));
    }
    RepliesAlone alone = RepliesAlone.of(requests, plain -> Engines.open(SIM, plain.build()));
    for (double share : new double[] {0.01, 0.1, 0.3}) {
      try (Engine engine = open(options(share))) {
        alone.assertSameOn(engine);
      }
    }
  }
}
