package io.radixflow.engine.cache;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.Engines;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.FinishReason;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what is computed, and what is found in the radix cache. Pages have 16 tokens. */
@Timeout(180)
class EngineSharingTest {

  private static EngineRequest request(int[] prompt, int maxTokens) {
    return EngineClient.request(prompt, SamplingParams.GREEDY, maxTokens);
  }

  @ParameterizedTest
  @ValueSource(ints = {16, 50, 256})
  void sessionsThatStartTogetherComputeTheirSystemPromptOnce(int chunk) {
    int[] system = letters(0, 160);
    try (Engine engine = Engines.open(EngineOptions.builder().prefillChunk(chunk));
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids =
          client.submitTogether(
              Stream.of(1, 2, 3)
                  .map(session -> request(concat(system, letters(session, 20)), 30))
                  .toList());
      int cached = ids.stream().mapToInt(id -> client.await(id).usage.cachedTokens()).sum();
      assertThat(cached).isEqualTo(2 * 160);
      assertThat(Engines.awaitIdle(engine).steps().prefilledTokens()).isEqualTo(3 * 180 - cached);
    }
  }

  @Test
  void fiveRequestsInATreeReuseExactlyWhatTheyShare() {
    int[] trunk = letters(0, 64);
    int[] left = concat(trunk, letters(1, 32));
    int[] right = concat(trunk, letters(2, 32));
    List<int[]> prompts =
        List.of(
            concat(left, letters(3, 10)),
            concat(left, letters(4, 10)),
            concat(right, letters(5, 10)),
            concat(right, letters(6, 10)),
            concat(trunk, letters(7, 10)));
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      client
          .submitTogether(prompts.stream().map(prompt -> request(prompt, 12)).toList())
          .forEach(client::await);
      EngineStats stats = Engines.awaitIdle(engine);
      assertThat(stats.steps().prefilledTokens()).isEqualTo(64 + 32 + 32 + 5 * 10);
      assertThat(stats.steps().cachedTokens())
          .isEqualTo(prompts.stream().mapToInt(prompt -> prompt.length).sum() - 178);
    }
  }

  /** The window of one request alone has nearly all pages. */
  @Test
  void requestsWithoutALimitReserveNoWindowAndLetOthersRun() {
    try (Engine engine = Engines.open(EngineOptions.builder().kvPages(64).contextLength(900));
        EngineClient client = new EngineClient(engine)) {
      List<Long> endless =
          Stream.of(1, 2, 3)
              .map(
                  each ->
                      client.submit(
                          EngineRequest.builder(
                                  "endless", () -> letters(each, 20), Integer.MAX_VALUE)
                              .sampling(SamplingParams.GREEDY)
                              .ignoreEndOfTurn(true)
                              .build()))
              .toList();
      endless.forEach(each -> client.awaitTokens(each, 1));
      EngineClient.Seen small = client.await(client.submit(letters(4, 20), 10));
      assertThat(small.finishOrder).as("ends before the others").isZero();
      for (long each : endless) {
        assertThat(client.await(each).finish).isEqualTo(FinishReason.LENGTH);
        assertThat(client.await(each).tokens).hasSize(900 - 20);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {64, 70, 16, 1})
  void aFullyCachedPromptComputesItsLastTokenOrPartialPage(int length) {
    int[] prompt = letters(0, length);
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      EngineClient.Seen first = client.run(EngineClient.request(prompt, SamplingParams.GREEDY, 40));
      assertThat(first.usage.cachedTokens()).isZero();
      EngineClient.Seen second =
          client.run(EngineClient.request(prompt, SamplingParams.GREEDY, 40));
      int computed = length % 16 == 0 ? 1 : length % 16;
      assertThat(second.usage.cachedTokens()).isEqualTo(length - computed);
      assertThat(Engines.awaitIdle(engine).steps().prefilledTokens()).isEqualTo(length + computed);
      assertThat(second.tokens).isEqualTo(first.tokens);
    }
  }

  @Test
  void theNextTurnComputesOnlyItsNewTokens() {
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      int[] conversation = letters(0, 50);
      int known = 0;
      for (int turn = 1; turn <= 4; turn++) {
        EngineClient.Seen seen =
            client.run(EngineClient.request(conversation, SamplingParams.GREEDY, 60));
        assertThat(seen.usage.cachedTokens()).isEqualTo(known);
        conversation = concat(conversation, seen.ids());
        known = (conversation.length - 1) / 16 * 16;
        conversation = concat(conversation, letters(turn, 23));
      }
    }
  }

  @Test
  void namespacesShareNothing() {
    int[] prompt = letters(0, 64);
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      EngineClient.Seen a = client.run(inNamespace("a", prompt));
      EngineClient.Seen b = client.run(inNamespace("b", prompt));
      EngineClient.Seen again = client.run(inNamespace("a", prompt));
      assertThat(b.usage.cachedTokens()).isZero();
      assertThat(again.usage.cachedTokens()).isEqualTo(63);
      assertThat(b.tokens).isEqualTo(a.tokens);
    }
  }

  private static EngineRequest inNamespace(String namespace, int[] prompt) {
    return EngineRequest.builder("test", () -> prompt, 20).namespace(namespace).build();
  }

  @Test
  void withoutTheCacheEveryPromptIsComputed() {
    int[] prompt = letters(0, 64);
    try (Engine engine =
            Engines.open(
                EngineOptions.builder()
                    .cache(CacheOptions.DEFAULT.withCaching(PrefixCaching.NAIVE)));
        EngineClient client = new EngineClient(engine)) {
      client.run(EngineClient.request(prompt, SamplingParams.GREEDY, 20));
      client.run(EngineClient.request(prompt, SamplingParams.GREEDY, 20));
      EngineStats stats = Engines.awaitIdle(engine);
      assertThat(stats.steps().prefilledTokens()).isEqualTo(128);
      assertThat(stats.pool().freePages()).isEqualTo(stats.pool().totalPages());
    }
  }
}
