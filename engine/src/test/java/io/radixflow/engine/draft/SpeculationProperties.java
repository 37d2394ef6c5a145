package io.radixflow.engine.draft;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineClient.Seen;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineProperties;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.EngineRequestBuilder;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.Engines;
import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.draft.SpeculationOptions.Mode;
import io.radixflow.engine.loop.StructuredReplyProperties;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.grammar.GrammarSpec;
import io.radixflow.grammar.GrammarSpec.Kind;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.FinishReason;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

/** A reply has the same tokens, text, log probabilities and end with speculation and without. */
class SpeculationProperties {
  private static final int CONTEXT = 160;

  /**
   * One request.
   *
   * @param wrongEvery of its predicted text, which is its reply, one token of so many is another
   * @param cancelAfter tokens after which it is cancelled; -1 for never
   * @param schema number of the random schema that it is held to; -1 for none
   */
  record Job(
      int[] prompt,
      SamplingParams sampling,
      int maxTokens,
      List<String> stop,
      int wrongEvery,
      int cancelAfter,
      int schema) {

    EngineRequestBuilder request() {
      EngineRequestBuilder request =
          EngineRequest.builder("test", () -> prompt, maxTokens)
              .namespace("tenant " + wrongEvery % 2)
              .sampling(sampling)
              .stop(stop);
      if (schema >= 0) {
        String text = StructuredReplyProperties.schema(schema).toString();
        GrammarSpec grammar = new GrammarSpec(Kind.JSON_SCHEMA, text);
        request.grammar(ids -> grammar);
      }
      return request;
    }

    EngineRequest predicting(Seen reply) {
      Random random = new Random(wrongEvery);
      int[] ids = reply.ids();
      for (int i = 0; i < ids.length; i++) {
        ids[i] = random.nextInt(wrongEvery) == 0 ? 'a' + random.nextInt(26) : ids[i];
      }
      return request().prediction(() -> ids).build();
    }

    @Override
    public String toString() {
      return "Job[%s, %s, maxTokens=%s, stop=%s, wrongEvery=%s, cancelAfter=%s, schema=%s]"
          .formatted(
              Arrays.toString(prompt), sampling, maxTokens, stop, wrongEvery, cancelAfter, schema);
    }
  }

  @Property(tries = 200)
  void repliesAreTheSameWithSpeculationAndWithout(
      @ForAll("setups") EngineProperties.Setup setup,
      @ForAll("speculations") SpeculationOptions speculation,
      @ForAll("jobs") List<Job> jobs) {
    List<Seen> alone = new ArrayList<>();
    EngineProperties.Setup plain =
        new EngineProperties.Setup(
                16, 0, 256, 1, 1, CacheOptions.DEFAULT.withCaching(PrefixCaching.NAIVE), 128, 0)
            .withWindow(setup.window(), 1);
    try (Engine engine =
            Engines.open(
                plain.sim(),
                plain.options().toBuilder().speculation(SpeculationOptions.OFF).build());
        EngineClient client = new EngineClient(engine)) {
      jobs.forEach(job -> alone.add(client.run(job.request().build())));
      assertThat(engine.stats().drafts()).isEqualTo(DraftStats.NONE);
    }
    try (Engine engine =
            Engines.open(
                setup.sim(), setup.options().toBuilder().speculation(speculation).build());
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids = new ArrayList<>();
      for (int i = 0; i < jobs.size(); i++) {
        ids.add(client.submit(jobs.get(i).predicting(alone.get(i))));
      }
      for (int i = 0; i < jobs.size(); i++) {
        if (jobs.get(i).cancelAfter >= 0) {
          client.awaitTokens(ids.get(i), jobs.get(i).cancelAfter);
          client.cancel(ids.get(i));
        }
      }
      for (int i = 0; i < jobs.size(); i++) {
        check(jobs.get(i), alone.get(i), client.await(ids.get(i)));
      }
      ids.clear();
      jobs.forEach(job -> ids.add(client.submit(job.request().build()))); // some are cached now
      for (int i = 0; i < jobs.size(); i++) {
        check(jobs.get(i), alone.get(i), client.await(ids.get(i)));
      }
      EngineStats stats = Engines.awaitIdle(engine);
      assertThat(stats.drafts().accepted()).isLessThanOrEqualTo(stats.drafts().drafted());
    }
  }

  @Test
  void draftsComeFromTheHistoryOfTheSameTenantAndOfNoOther() {
    EngineOptions options =
        EngineOptions.builder()
            .speculation(new SpeculationOptions(Mode.ALWAYS, 8))
            .cache(CacheOptions.DEFAULT.withCaching(PrefixCaching.NAIVE))
            .build();
    try (Engine engine = Engines.open(SimOptions.DEFAULT, options);
        EngineClient client = new EngineClient(engine)) {
      DraftStats alone = drafts(engine, client, "a");
      DraftStats other = drafts(engine, client, "b");
      DraftStats again = drafts(engine, client, "a");

      assertThat(other.drafted()).isEqualTo(alone.drafted());
      assertThat(other.accepted()).isEqualTo(alone.accepted());
      assertThat(again.accepted()).isGreaterThan(alone.accepted() + 20);
      engine.eraseTenant("a").join();
      assertThat(drafts(engine, client, "b").accepted()).isEqualTo(alone.accepted());
    }
  }

  @Test
  void aTurnWhosePagesAreNotStoredGivesNoDraftsToOthers() {
    EngineOptions options =
        EngineOptions.builder().speculation(new SpeculationOptions(Mode.ALWAYS, 8)).build();
    try (Engine engine = Engines.open(SimOptions.DEFAULT, options);
        EngineClient client = new EngineClient(engine)) {
      CacheHints noStore = new CacheHints(true, 0, List.of(), null);
      DraftStats alone = drafts(engine, client, "a", noStore);

      assertThat(drafts(engine, client, "a").accepted()).isEqualTo(alone.accepted());
    }
  }

  @Test
  void draftsComeFromCachedTurnsOfTheSameTenantAndOfNoOther() {
    EngineOptions options =
        EngineOptions.builder().speculation(new SpeculationOptions(Mode.ALWAYS, 8, 0)).build();
    try (Engine engine = Engines.open(SimOptions.DEFAULT, options);
        EngineClient client = new EngineClient(engine)) {
      DraftStats alone = drafts(engine, client, "a");
      DraftStats other = drafts(engine, client, "b");
      DraftStats again = drafts(engine, client, "a");

      assertThat(other.drafted()).isEqualTo(alone.drafted());
      assertThat(other.accepted()).isEqualTo(alone.accepted());
      assertThat(again.accepted()).isGreaterThan(alone.accepted() + 20);
      assertThat(again.historyBytes()).isZero();
    }
  }

  private static DraftStats drafts(Engine engine, EngineClient client, String tenant) {
    return drafts(engine, client, tenant, CacheHints.NONE);
  }

  /** Returns what a turn of a tenant, always the same one, adds to the drafts. */
  private static DraftStats drafts(
      Engine engine, EngineClient client, String tenant, CacheHints hints) {
    DraftStats before = Engines.stats(engine).drafts();
    client.run(
        EngineRequest.builder("test", () -> Engines.letters(1, 40), 60)
            .namespace(tenant)
            .hints(hints)
            .build());
    DraftStats after = Engines.stats(engine).drafts();
    return new DraftStats(
        after.drafted() - before.drafted(),
        after.accepted() - before.accepted(),
        after.chunks() - before.chunks(),
        after.historyBytes());
  }

  private static void check(Job job, Seen alone, Seen seen) {
    assertThat(seen.error).isNull();
    int tokens = seen.tokens.size();
    if (seen.finish == FinishReason.CANCELLED) {
      assertThat(job.cancelAfter).isNotNegative();
      assertThat(alone.text.toString()).startsWith(seen.text.toString());
    } else {
      assertThat(tokens).isEqualTo(alone.tokens.size());
      assertThat(seen.text.toString()).isEqualTo(alone.text.toString());
      assertThat(seen.finish).isEqualTo(alone.finish);
    }
    assertThat(seen.tokens).isEqualTo(alone.tokens.subList(0, tokens));
    assertThat(seen.usage.completionTokens()).isEqualTo(tokens);
    for (int i = 0; i < seen.logprobs.size(); i++) {
      assertThat(seen.logprobs.get(i)).usingRecursiveComparison().isEqualTo(alone.logprobs.get(i));
    }
  }

  @Provide
  Arbitrary<EngineProperties.Setup> setups() {
    return new EngineProperties().setups();
  }

  @Provide
  Arbitrary<SpeculationOptions> speculations() {
    return Combinators.combine(
            Arbitraries.of(Mode.ALWAYS, Mode.ALWAYS, Mode.AUTO),
            Arbitraries.of(1, 2, 5, 16, 64),
            Arbitraries.of(0L, SpeculationOptions.DEFAULT_HISTORY))
        .as(SpeculationOptions::new);
  }

  @Provide
  Arbitrary<List<Job>> jobs() {
    Arbitrary<Job> job =
        Combinators.combine(
                Arbitraries.integers().between(1, 80),
                Arbitraries.integers().between(0, 3),
                samplings(),
                Arbitraries.of(1, 2, 3, 17, 40, 200),
                Arbitraries.<List<String>>of(
                    List.of(), List.of(), List.of("e", "no "), List.of("a. ", "ion")),
                Arbitraries.of(1, 2, 5, 20, 1000),
                Arbitraries.of(-1, -1, -1, -1, 0, 1, 9),
                Arbitraries.integers().between(0, 99).injectNull(0.5))
            .as(
                (length, seed, sampling, maxTokens, stop, wrongEvery, cancelAfter, schema) ->
                    new Job(
                        Engines.letters(seed, length),
                        sampling,
                        maxTokens,
                        stop,
                        wrongEvery,
                        cancelAfter,
                        schema == null ? -1 : schema));
    return job.list().ofMinSize(1).ofMaxSize(10);
  }

  private static Arbitrary<SamplingParams> samplings() {
    return Arbitraries.of(
        SamplingParams.GREEDY,
        new SamplingParams(0f, 0, 1f, 0f, 1.3f, 0.4f, 0.3f, Map.of(), 0, 3),
        new SamplingParams(1f, 0, 0.95f, 0f, 1f, 0f, 0f, Map.of(), 7, -1),
        new SamplingParams(1f, 0, 1f, 0f, 1f, -0.5f, 0.6f, Map.of(), 8, 0),
        new SamplingParams(0.8f, 8, 1f, 0f, 1.2f, 0.4f, 0.3f, Map.of((int) 'e', 3f), 99, 2));
  }
}
