package io.radixflow.engine.request;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineClient.Seen;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineRequestBuilder;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.Engines;
import io.radixflow.engine.ReplyProgress.TokenLogprob;
import io.radixflow.engine.draft.SpeculationOptions;
import io.radixflow.engine.draft.SpeculationOptions.Mode;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.FinishReason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Log probabilities of a prompt's tokens. */
@Timeout(180)
class PromptScoresTest {
  private static final int TOPS = 3;
  private static final int LENGTH = 70;
  private static final SamplingParams WITH_LOGPROBS =
      new SamplingParams(0, 0, 1, 0, 1, 0, 0, Map.of(), 0, TOPS);

  private static EngineRequestBuilder scored(int seed, int maxTokens) {
    return EngineRequest.builder("r" + seed, () -> Engines.letters(seed, LENGTH), maxTokens)
        .tokens(TokenOptionsOnEngineTest.options("prompt_logprobs", TOPS));
  }

  private static List<String> texts(List<TokenLogprob> scores) {
    return scores.stream()
        .map(
            each ->
                "%s %s %s %s"
                    .formatted(
                        each.id(),
                        each.logprob(),
                        Arrays.toString(each.topIds()),
                        Arrays.toString(each.topLogprobs())))
        .toList();
  }

  private static List<List<String>> run(Engine engine, int requests, int maxTokens) {
    try (EngineClient client = new EngineClient(engine)) {
      List<EngineRequest> all =
          IntStream.range(0, requests)
              .mapToObj(seed -> scored(seed, maxTokens).ignoreEndOfTurn(true).build())
              .toList();
      return client.submitTogether(all).stream().map(id -> texts(client.await(id).prompt)).toList();
    }
  }

  @Test
  void eachTokenHasTheScoreThatItWouldHaveIfItWereGenerated() {
    int[] prompt = Engines.letters(1, 20);
    try (Engine engine = Engines.open(EngineOptions.builder().prefillChunk(8));
        EngineClient client = new EngineClient(engine)) {
      List<String> expected = new ArrayList<>();
      for (int i = 1; i < prompt.length; i++) {
        int[] before = Arrays.copyOf(prompt, i);
        EngineRequest one =
            EngineRequest.builder("one", () -> before, 1)
                .sampling(WITH_LOGPROBS)
                .tokens(TokenOptionsOnEngineTest.options("allowed_token_ids", prompt[i]))
                .build();
        expected.addAll(texts(client.run(one).logprobs));
      }
      EngineRequest whole =
          EngineRequest.builder("whole", () -> prompt, 2)
              .tokens(TokenOptionsOnEngineTest.options("prompt_logprobs", TOPS))
              .build();
      assertThat(texts(client.run(whole).prompt)).isEqualTo(expected);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 7, 16, 512})
  void scoresAreTheSameInChunksOfAnySize(int chunk) {
    List<List<String>> whole;
    try (Engine engine = Engines.open(EngineOptions.builder())) {
      whole = run(engine, 1, 1);
    }
    for (int depth = 1; depth <= 2; depth++) {
      SpeculationOptions always = new SpeculationOptions(Mode.ALWAYS, 4);
      EngineOptions options =
          EngineOptions.builder().prefillChunk(chunk).speculation(always).auditMillis(0).build();
      try (Engine engine =
          Engines.open(SimOptions.DEFAULT.withPoison(true).withPipelineDepth(depth), options)) {
        assertThat(run(engine, 6, 5).get(0)).hasSize(LENGTH - 1).isEqualTo(whole.get(0));
      }
    }
  }

  @Test
  void aCachedPromptIsScoredAgainAndAScoredOneIsCached() {
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      Seen first = client.run(scored(3, 4).build());
      Seen plain =
          client.run(EngineRequest.builder("p", () -> Engines.letters(3, LENGTH), 4).build());
      Seen again = client.run(scored(3, 4).build());

      assertThat(first.usage.cachedTokens()).isZero();
      assertThat(plain.usage.cachedTokens()).as("its pages are in the cache").isEqualTo(64);
      assertThat(plain.prompt).isEmpty();
      assertThat(again.usage.cachedTokens()).isZero();
      assertThat(texts(again.prompt)).isEqualTo(texts(first.prompt));
      assertThat(again.tokens).isEqualTo(plain.tokens).isEqualTo(first.tokens);
      Engines.awaitIdle(engine);
    }
  }

  /** Steps fail only after a preemption: requests of failed steps run alone and fill no pool. */
  @Test
  void failedStepsAndPreemptionChangeNoScore() {
    List<List<String>> undisturbed;
    try (Engine engine = Engines.open(EngineOptions.builder())) {
      undisturbed = run(engine, 12, 120);
    }
    AtomicReference<Engine> opened = new AtomicReference<>();
    AtomicInteger steps = new AtomicInteger();
    SimOptions faulty =
        SimOptions.DEFAULT
            .withPoison(true)
            .withPipelineDepth(2)
            .withFault(
                batch -> {
                  boolean preempted = opened.get().stats().scheduler().preemptions() > 0;
                  if (preempted && steps.incrementAndGet() % 7 == 3) {
                    throw new IllegalStateException("injected");
                  }
                });
    EngineOptions few = EngineOptions.builder().kvPages(20).prefillChunk(9).auditMillis(0).build();
    try (Engine engine = Engines.open(faulty, few)) {
      opened.set(engine);
      assertThat(run(engine, 12, 120)).isEqualTo(undisturbed);
      EngineStats stats = Engines.awaitIdle(engine);
      assertThat(stats.steps().failedSteps()).isPositive();
      assertThat(stats.scheduler().preemptions()).isPositive();
    }
  }

  @Test
  void aRequestForNoTokensEndsWithItsPrompt() {
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      Seen seen = client.run(scored(5, 0).build());
      assertThat(seen.finish).isEqualTo(FinishReason.LENGTH);
      assertThat(seen.tokens).isEmpty();
      assertThat(seen.text.toString()).isEmpty();
      assertThat(texts(seen.prompt)).isEqualTo(texts(client.run(scored(5, 3).build()).prompt));
      Seen one =
          client.run(
              EngineRequest.builder("one", () -> new int[] {'a'}, 1)
                  .tokens(TokenOptionsOnEngineTest.options("prompt_logprobs", 0))
                  .build());
      assertThat(one.prompt).as("a single token has no score").isEmpty();
      assertThat(one.tokens).hasSize(1);
      Engines.awaitIdle(engine);
    }
  }

  @Test
  void moreScoresThanAReplyCanHaveAreRefused() {
    assertThatThrownBy(() -> new PromptScores(20, 30_000, 260))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("prompt_logprobs is 20")
        .hasMessageContaining("629979");
  }
}
