package io.radixflow.engine.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineClient.Seen;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineRequestBuilder;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.Engines;
import io.radixflow.engine.GrammarStats;
import io.radixflow.engine.draft.SpeculationOptions;
import io.radixflow.engine.draft.SpeculationOptions.Mode;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.grammar.GrammarSpec.Kind;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.FinishReason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Replies that are held to grammars, next to others that are not. */
@Timeout(180)
class EngineGrammarTest {
  private static final GrammarSpec WORDS = new GrammarSpec(Kind.REGEX, "([a-z]{3,9} ){4,6}é!");
  private static final GrammarSpec JSON =
      new GrammarSpec(
          Kind.JSON_SCHEMA,
          "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"maximum\":99999,"
              + "\"minimum\":0},\"b\":{\"enum\":[\"x\",\"yy\"]}},\"required\":[\"a\",\"b\"],"
              + "\"additionalProperties\":false}");
  private static final SamplingParams PENALISED =
      new SamplingParams(0.9f, 0, 0.99f, 0f, 1.2f, 0.3f, 0.2f, Map.of((int) 'e', 5f), 5, 2);

  private static EngineRequestBuilder request(int seed, SamplingParams sampling) {
    return EngineRequest.builder("r" + seed, () -> EngineClient.prompt(seed, 40), 200)
        .sampling(sampling);
  }

  private static SamplingParams sampling(int seed) {
    return new SamplingParams(1f, 0, 1f, 0f, 1f, 0f, 0f, Map.of(), seed, -1);
  }

  private static EngineRequest held(int seed, GrammarSpec grammar) {
    return request(seed, sampling(seed)).grammar(prompt -> grammar).build();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2})
  void repliesFollowTheirGrammarAndEndWhereItEnds(int depth) {
    try (Engine engine =
            Engines.open(
                SimOptions.DEFAULT.withPipelineDepth(depth).withPoison(true),
                EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids = new ArrayList<>();
      for (int seed = 0; seed < 20; seed++) {
        ids.add(client.submit(held(seed, WORDS)));
      }
      for (long id : ids) {
        Seen seen = client.await(id);
        assertThat(seen.finish).isEqualTo(FinishReason.STOP);
        assertThat(seen.text.toString()).matches(WORDS.text());
      }
      Seen json = client.run(held(99, JSON));
      assertThat(json.text.toString())
          .matches("(?s)\\{\\s*\"a\"\\s*:\\s*\\d{1,5}\\s*,\\s*\"b\"\\s*:\\s*\"(x|yy)\"\\s*}");
      GrammarStats stats = Engines.awaitIdle(engine).grammars();
      assertThat(stats.compiled()).isBetween(2L, 21L);
      assertThat(stats.compiled() + stats.reused()).isEqualTo(21);
      assertThat(stats.masks()).isGreaterThan(21 * 10);
    }
  }

  @Test
  void whatAGrammarLeavesNoChoiceAboutIsVerifiedInFewSteps() {
    GrammarSpec names =
        new GrammarSpec(
            Kind.JSON_SCHEMA,
            "{\"type\":\"object\",\"properties\":{\"identifier\":{\"type\":\"boolean\"},"
                + "\"description\":{\"type\":\"null\"}},\"required\":[\"identifier\",\"description\"],"
                + "\"additionalProperties\":false}");
    SpeculationOptions always = new SpeculationOptions(Mode.ALWAYS, 16);
    List<Seen> replies = new ArrayList<>();
    List<Long> steps = new ArrayList<>();
    for (SpeculationOptions options : List.of(SpeculationOptions.OFF, always)) {
      try (Engine engine =
              Engines.open(
                  SimOptions.DEFAULT, EngineOptions.builder().speculation(options).build());
          EngineClient client = new EngineClient(engine)) {
        replies.add(client.run(held(7, names)));
        steps.add(Engines.awaitIdle(engine).steps().steps());
      }
    }
    assertThat(replies.get(1).tokens).isEqualTo(replies.get(0).tokens);
    assertThat(steps.get(1)).isLessThan(steps.get(0) / 2);
  }

  @Test
  void compiledGrammarsAreDroppedAsTenantsOrSessionsAreErased() {
    try (Engine engine = Engines.open(SimOptions.DEFAULT, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      client.run(held(1, JSON));
      client.run(held(2, JSON));
      assertThat(Engines.awaitIdle(engine).grammars().compiled()).isEqualTo(1);

      engine.eraseTenant("any");
      client.run(held(3, JSON));
      engine.eraseTexts();
      client.run(held(4, JSON));
      engine.eraseAll();
      client.run(held(5, JSON));

      assertThat(Engines.awaitIdle(engine).grammars().compiled()).isEqualTo(4);
    }
  }

  @Test
  void aGrammarThatIsCompiledWhileItsSessionIsErasedIsNotKept() {
    EngineOptions oneByOne = EngineOptions.builder().intakeThreads(1).build();
    try (Engine engine = Engines.open(SimOptions.DEFAULT, oneByOne);
        EngineClient client = new EngineClient(engine)) {
      long first = 0;
      EngineRequest erased =
          request(1, sampling(1))
              .grammar(
                  prompt -> {
                    client.cancel(first);
                    engine.eraseTexts();
                    return JSON;
                  })
              .build();
      assertThat(client.submit(erased)).isEqualTo(first);
      assertThat(client.await(first).finish).isEqualTo(FinishReason.CANCELLED);
      client.run(held(2, JSON));
      assertThat(Engines.awaitIdle(engine).grammars().compiled()).isEqualTo(2);
    }
  }

  @Test
  void penaltiesBiasesAndLogProbabilitiesGoTogetherWithAGrammar() {
    try (Engine engine = Engines.open(SimOptions.DEFAULT, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      Seen seen = client.run(request(1, PENALISED).grammar(prompt -> WORDS).build());
      assertThat(seen.text.toString()).matches(WORDS.text());
      assertThat(seen.logprobs).hasSameSizeAs(seen.tokens);
    }
  }

  @Test
  void theLimitOfTokensCutsAReply() {
    try (Engine engine = Engines.open(SimOptions.DEFAULT, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      EngineRequest request =
          EngineRequest.builder("cut", () -> EngineClient.prompt(1, 40), 7)
              .grammar(prompt -> WORDS)
              .build();
      Seen seen = client.run(request);
      assertThat(seen.finish).isEqualTo(FinishReason.LENGTH);
      assertThat(seen.tokens).hasSize(7);
    }
  }

  @Test
  void repliesWithoutAGrammarAreTheSameBesideOnesWithOne() {
    List<String> alone = new ArrayList<>();
    List<String> beside = new ArrayList<>();
    for (boolean mixed : new boolean[] {false, true}) {
      try (Engine engine = Engines.open(SimOptions.DEFAULT, EngineOptions.DEFAULT);
          EngineClient client = new EngineClient(engine)) {
        List<Long> free = new ArrayList<>();
        for (int seed = 0; seed < 8; seed++) {
          free.add(client.submit(request(seed, sampling(seed)).build()));
          if (mixed) {
            client.submit(held(100 + seed, seed % 2 == 0 ? WORDS : JSON));
          }
        }
        free.forEach(id -> (mixed ? beside : alone).add(client.await(id).text.toString()));
      }
    }
    assertThat(beside).isEqualTo(alone);
  }

  @Test
  void aReplyGoesOnFromEachOfItsTokens() {
    try (Engine engine = Engines.open(SimOptions.DEFAULT, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      for (GrammarSpec grammar : List.of(WORDS, JSON)) {
        EngineRequestBuilder reply = request(3, PENALISED).grammar(prompt -> grammar);
        int[] whole = client.run(reply.build()).ids();
        for (int cut = 0; cut <= whole.length; cut++) {
          int[] first = Arrays.copyOf(whole, cut);
          int[] rest = client.run(reply.resumed(first).build()).ids();
          assertThat(Engines.concat(first, rest)).as("cut at %d", cut).isEqualTo(whole);
        }
      }
    }
  }

  @Test
  void failedStepsAndPreemptionChangeNoReply() {
    List<String> undisturbed;
    try (Engine engine = Engines.open(SimOptions.DEFAULT, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      undisturbed = many(client);
    }
    AtomicInteger steps = new AtomicInteger();
    SimOptions faulty =
        SimOptions.DEFAULT
            .withPoison(true)
            .withFault(
                batch -> {
                  if (steps.incrementAndGet() % 7 == 3) {
                    throw new IllegalStateException("injected");
                  }
                });
    EngineOptions few = EngineOptions.builder().kvPages(20).auditMillis(0).build();
    try (Engine engine = Engines.open(faulty, few);
        EngineClient client = new EngineClient(engine)) {
      assertThat(many(client)).isEqualTo(undisturbed);
      EngineStats stats = Engines.awaitIdle(engine);
      assertThat(stats.steps().failedSteps()).isPositive();
      assertThat(stats.scheduler().preemptions()).isPositive();
    }
  }

  private static List<String> many(EngineClient client) {
    List<Long> ids = new ArrayList<>();
    for (int seed = 0; seed < 12; seed++) {
      ids.add(client.submit(held(seed, seed % 3 == 0 ? JSON : WORDS)));
    }
    return ids.stream().map(id -> client.await(id).text.toString()).toList();
  }

  @Test
  void aGrammarThatIsNotServedRefusesItsRequestAlone() {
    try (Engine engine = Engines.open(SimOptions.DEFAULT, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      long right = client.submit(held(1, WORDS));
      Seen refused =
          client.run(
              held(
                  2,
                  new GrammarSpec(Kind.JSON_SCHEMA, "{\"not\":{\"items\":{\"type\":\"null\"}}}")));
      assertThat(refused.finish).isEqualTo(FinishReason.REJECTED);
      assertThat(refused.error).contains("not");
      Seen odd = client.run(held(2, new GrammarSpec(Kind.REGEX, "(a")));
      assertThat(odd.finish).isEqualTo(FinishReason.REJECTED);
      assertThat(client.await(right).text.toString()).matches(WORDS.text());
    }
  }

  @Test
  void aGrammarThatGrowsBeyondItsLimitsEndsItsRequestAlone() {
    try (Engine engine = Engines.open(SimOptions.DEFAULT, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      long right = client.submit(held(1, WORDS));
      GrammarSpec growing = new GrammarSpec(Kind.REGEX, "((a{0,60}b?){0,60}c?){0,60}");
      EngineRequest request =
          EngineRequest.builder("grows", () -> EngineClient.prompt(1, 40), 3_000)
              .sampling(
                  new SamplingParams(0f, 0, 1f, 0f, 1f, 0f, 0f, Map.of((int) 'a', 100f), 1, -1))
              .grammar(prompt -> growing)
              .build();
      Seen seen = client.run(request);
      assertThat(seen.finish).isIn(FinishReason.REJECTED, FinishReason.ERROR);
      assertThat(seen.error).contains("too large");
      assertThat(client.await(right).text.toString()).matches(WORDS.text());
    }
  }

  @Test
  void idsThatTheGrammarDoesNotAllowAreRefused() {
    try (Engine engine = Engines.open(SimOptions.DEFAULT, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      EngineRequest request =
          request(1, sampling(1)).grammar(prompt -> WORDS).resumed(new int[] {'1'}).build();
      Seen seen = client.run(request);
      assertThat(seen.finish).isEqualTo(FinishReason.REJECTED);
      assertThat(seen.error).contains("does not allow token 49");
    }
  }

  @Test
  void whatComesBeforeAGrammarIsFreeAsItsExpressionSays() {
    GrammarSpec after = JSON.after("(<think>[a-z]{2,5}</think>)");
    try (Engine engine = Engines.open(SimOptions.DEFAULT, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      Seen seen = client.run(held(7, after));
      assertThat(seen.text.toString()).matches("(?s)<think>[a-z]{2,5}</think>\\{.*}");
    }
  }
}
