package io.radixflow.engine.request;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineClient.Seen;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineRequestBuilder;
import io.radixflow.engine.Engines;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.grammar.GrammarSpec.Kind;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.text.reply.ReasoningTokens;
import io.radixflow.text.reply.ReasoningTracker;
import io.radixflow.text.reply.ReplyFormat;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Replies whose reasoning the engine ends, next to others; a token is a byte. */
@Timeout(180)
class ReasoningBudgetTest {
  private static final ReplyFormat FORMAT = ReplyFormat.of("<think></think>");
  private static final ReasoningTokens TOKENS =
      ReasoningTokens.of(SimModel.open(SimOptions.DEFAULT).tokenizer(), FORMAT);
  private static final GrammarSpec WORDS =
      new GrammarSpec(Kind.REGEX, "([a-z]{3,9} ){4,6}é!").after(FORMAT.reasoningBefore("<think>"));

  private static SamplingParams sampling(int seed) {
    return new SamplingParams(1f, 0, 1f, 0f, 1.2f, 0.1f, 0f, Map.of(), seed, 0);
  }

  private static EngineRequestBuilder free(int seed) {
    return EngineRequest.builder("r" + seed, () -> EngineClient.prompt(seed, 40), 120)
        .sampling(sampling(seed))
        .ignoreEndOfTurn(true);
  }

  private static EngineRequestBuilder held(int seed, int budget) {
    return free(seed).reasoning(prompt -> TOKENS.tracker("<think>", budget));
  }

  private static int reasoning(int[] ids) {
    ReasoningTracker tracker = TOKENS.tracker("<think>", ReasoningTracker.UNLIMITED);
    Arrays.stream(ids).forEach(tracker::accept);
    return tracker.count();
  }

  private static Engine open(SimOptions options) {
    return Engines.open(options.withPoison(true), EngineOptions.DEFAULT);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void reasoningEndsWithItsBudgetAndTheReplyGoesOn(int depth) {
    try (Engine engine = open(SimOptions.DEFAULT.withPipelineDepth(depth));
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids = new ArrayList<>();
      for (int seed = 0; seed < 20; seed++) {
        ids.add(client.submit(held(seed, 2 * seed).build()));
      }
      for (int seed = 0; seed < 20; seed++) {
        Seen seen = client.await(ids.get(seed));
        assertThat(seen.finish).isEqualTo(FinishReason.LENGTH);
        assertThat(seen.tokens).hasSize(120);
        assertThat(reasoning(seen.ids())).isBetween(2 * seed, 2 * seed + 3);
        assertThat(seen.text.toString()).containsOnlyOnce("</think>");
      }
    }
  }

  @Test
  void tokensBeforeTheEndAreThoseOfAReplyWithoutABudget() {
    try (Engine engine = open(SimOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      int[] without = client.run(free(1).build()).ids();
      int[] with = client.run(held(1, 40).build()).ids();
      int[] unused = client.run(held(1, 1_000).build()).ids();
      assertThat(Arrays.mismatch(without, with)).isBetween(40, 43);
      assertThat(unused).isEqualTo(without);
    }
  }

  @Test
  void aReplyGoesOnFromEachOfItsTokens() {
    try (Engine engine = open(SimOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      int[] whole = client.run(held(3, 20).build()).ids();
      for (int cut = 0; cut <= 40; cut++) {
        int[] first = Arrays.copyOf(whole, cut);
        int[] rest = client.run(held(3, 20).resumed(first).build()).ids();
        assertThat(Engines.concat(first, rest)).as("cut at %d", cut).isEqualTo(whole);
      }
    }
  }

  @Test
  void aGrammarHoldsForWhatFollowsTheReasoning() {
    try (Engine engine = open(SimOptions.DEFAULT.withPipelineDepth(2));
        EngineClient client = new EngineClient(engine)) {
      for (int seed = 0; seed < 10; seed++) {
        EngineRequestBuilder request =
            EngineRequest.builder("g" + seed, () -> EngineClient.prompt(3, 40), 200)
                .sampling(sampling(seed))
                .grammar(prompt -> WORDS)
                .reasoning(prompt -> TOKENS.tracker("<think>", 15));
        Seen seen = client.run(request.build());
        assertThat(seen.finish).isEqualTo(FinishReason.STOP);
        assertThat(seen.text.toString()).matches("(?s).*</think>\\n*([a-z]{3,9} ){4,6}é!");
        assertThat(reasoning(seen.ids())).isBetween(0, 18);
        int[] whole = seen.ids();
        for (int cut : new int[] {14, 15, 17, 20, 24}) {
          int[] first = Arrays.copyOf(whole, cut);
          int[] rest = client.run(request.resumed(first).build()).ids();
          assertThat(Engines.concat(first, rest)).as("cut at %d", cut).isEqualTo(whole);
        }
      }
    }
  }

  @Test
  void aStopTextEndsAReplyBeforeItsBudgetDoes() {
    try (Engine engine = open(SimOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      Seen seen = client.run(held(1, 10).stop(List.of("</thi")).build());
      assertThat(seen.finish).isEqualTo(FinishReason.STOP);
      assertThat(seen.tokens.size()).isBetween(15, 18);
    }
  }

  @Test
  void failedStepsChangeNoReply() {
    AtomicInteger steps = new AtomicInteger();
    SimOptions faulty =
        SimOptions.DEFAULT
            .withPipelineDepth(2)
            .withFault(
                batch -> {
                  if (steps.incrementAndGet() % 7 == 3) {
                    throw new IllegalStateException("injected");
                  }
                });
    List<String> replies = new ArrayList<>();
    for (SimOptions options : List.of(SimOptions.DEFAULT, faulty)) {
      try (Engine engine = open(options);
          EngineClient client = new EngineClient(engine)) {
        StringBuilder all = new StringBuilder();
        for (int seed = 0; seed < 5; seed++) {
          all.append(Arrays.toString(client.run(held(seed, 12).build()).ids()));
        }
        replies.add(all.toString());
      }
    }
    assertThat(replies.get(1)).isEqualTo(replies.get(0));
  }
}
