package io.radixflow.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.engine.model.SimFault;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ServiceClass;
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
import net.jqwik.api.Tuple;

/** Whatever else happens in the engine, a request's reply is that of a lone run. */
public class EngineProperties {
  private static final int CONTEXT = 160;

  /** How the engine under test is set up. */
  public record Setup(
      int pageTokens,
      int spareTokens,
      int chunk,
      int running,
      int depth,
      CacheOptions cache,
      int ring,
      int failEvery,
      int window) {

    public Setup(
        int pageTokens,
        int spareTokens,
        int chunk,
        int running,
        int depth,
        CacheOptions cache,
        int ring,
        int failEvery) {
      this(pageTokens, spareTokens, chunk, running, depth, cache, ring, failEvery, 0);
    }

    public Setup withWindow(int tokens, double share) {
      return new Setup(
          pageTokens,
          spareTokens,
          chunk,
          running,
          depth,
          cache.withWindowShare(share),
          ring,
          failEvery,
          tokens);
    }

    public Engine open() {
      return Engines.open(sim(), options());
    }

    public EngineOptions options() {
      return EngineOptions.builder()
          .pageTokens(pageTokens)
          .kvPages((CONTEXT + spareTokens + pageTokens - 1) / pageTokens)
          .contextLength(CONTEXT)
          .maxRunning(running)
          .stepRows(running + chunk)
          .prefillChunk(chunk)
          .cache(cache)
          .ringTokens(ring)
          .auditMillis(0)
          .build();
    }

    public SimOptions sim() {
      return SimOptions.DEFAULT
          .withContextLength(CONTEXT)
          .withPipelineDepth(depth)
          .withPoison(true)
          .withWindow(window)
          .withFault(new EveryNthStep(failEvery));
    }
  }

  /** Fails each n-th step, or none. */
  private static final class EveryNthStep implements SimFault {
    private final int every;
    private int steps;

    EveryNthStep(int every) {
      this.every = every;
    }

    @Override
    public void beforeStep(Batch batch) {
      if (every > 0 && ++steps % every == 0) {
        throw new IllegalStateException("injected");
      }
    }
  }

  /** One request: its prompt, how it is drawn, and when its consumer gives up, or never (-1). */
  public record Job(
      int[] prompt,
      SamplingParams sampling,
      int maxTokens,
      int cancelAfter,
      boolean slow,
      ServiceClass service) {

    @Override
    public String toString() {
      return "Job[prompt=%s, temperature=%s, maxTokens=%s, cancelAfter=%s, slow=%s, %s]"
          .formatted(
              Arrays.toString(prompt),
              sampling.temperature(),
              maxTokens,
              cancelAfter,
              slow,
              service);
    }

    public EngineRequest request() {
      return EngineRequest.builder("test", () -> prompt, maxTokens)
          .sampling(sampling)
          .service(service)
          .build();
    }
  }

  @Property(tries = 200)
  void repliesAreThoseOfALoneRun(
      @ForAll("setups") Setup setup,
      @ForAll("schedulers") SchedulerOptions scheduler,
      @ForAll("jobs") List<Job> jobs) {
    List<EngineClient.Seen> alone = new ArrayList<>();
    try (Engine engine =
            new Setup(
                    16, 0, 256, 1, 1, CacheOptions.DEFAULT.withCaching(PrefixCaching.NAIVE), 128, 0)
                .withWindow(setup.window, 1)
                .open();
        EngineClient client = new EngineClient(engine)) {
      jobs.forEach(job -> alone.add(client.run(job.request())));
    }
    try (Engine engine =
            Engines.open(setup.sim(), setup.options().toBuilder().scheduler(scheduler).build());
        EngineClient quick = new EngineClient(engine, new ChannelId("quick", 0, 0));
        EngineClient slow = new EngineClient(engine, new ChannelId("slow", 0, 0))) {
      List<Long> ids =
          jobs.stream().map(job -> (job.slow ? slow : quick).submit(job.request())).toList();
      for (int i = 0; i < jobs.size(); i++) {
        Job job = jobs.get(i);
        if (job.cancelAfter >= 0 && !job.slow) {
          quick.awaitTokens(ids.get(i), job.cancelAfter);
        }
        if (job.cancelAfter >= 0) {
          (job.slow ? slow : quick).cancel(ids.get(i));
        }
      }
      for (boolean isSlow : new boolean[] {false, true}) {
        for (int i = 0; i < jobs.size(); i++) {
          if (jobs.get(i).slow == isSlow) {
            EngineClient client = isSlow ? slow : quick;
            check(setup + " " + jobs, jobs.get(i), alone.get(i), client.await(ids.get(i)));
          }
        }
      }
      EngineStats stats = Engines.awaitIdle(engine);
      if (setup.failEvery == 0) {
        assertThat(stats.steps().failedSteps()).isZero();
      }
    }
  }

  public static void check(String name, Job job, EngineClient.Seen alone, EngineClient.Seen seen) {
    assertThat(seen.error).isNull();
    if (seen.finish == FinishReason.CANCELLED) {
      assertThat(job.cancelAfter).isNotNegative();
      assertThat(alone.tokens.subList(0, seen.tokens.size())).isEqualTo(seen.tokens);
      assertThat(alone.text.toString()).startsWith(seen.text.toString());
    } else {
      assertThat(seen.tokens).as(name).isEqualTo(alone.tokens);
      assertThat(seen.text.toString()).isEqualTo(alone.text.toString());
      assertThat(seen.finish).isEqualTo(alone.finish);
    }
    assertThat(seen.usage.completionTokens()).isEqualTo(seen.tokens.size());
  }

  private static Arbitrary<CacheOptions> caches() {
    Arbitrary<PrefixCaching> caching =
        Arbitraries.frequency(
            Tuple.of(4, PrefixCaching.RADIX),
            Tuple.of(1, PrefixCaching.CHUNK),
            Tuple.of(1, PrefixCaching.NAIVE));
    return Combinators.combine(caching, Arbitraries.of(EvictionPolicies.names()))
        .as((kind, policy) -> new CacheOptions(kind, policy, 0.5));
  }

  @Provide
  public Arbitrary<Setup> setups() {
    return Combinators.combine(
            Arbitraries.of(1, 2, 4, 8, 16, 32),
            Arbitraries.of(0, 0, 16, 64, 400, 4000),
            Arbitraries.of(1, 7, 16, 64, 256),
            Arbitraries.integers().between(1, 12),
            Arbitraries.of(1, 2),
            caches(),
            Arbitraries.of(4, 5, 64),
            Arbitraries.of(0, 0, 5, 9))
        .as(Setup::new)
        .flatMap(
            setup ->
                Combinators.combine(
                        Arbitraries.of(0, 1, 2, 15, 16, 17, 40, 100),
                        Arbitraries.of(0.01, 0.3, 0.6, 1.0))
                    .as(setup::withWindow));
  }

  @Provide
  Arbitrary<SchedulerOptions> schedulers() {
    return Combinators.combine(
            Arbitraries.of(SchedulePolicy.class),
            Arbitraries.of(2, 3, 16),
            Arbitraries.of(0, 10, 200))
        .as(
            (policy, ageing, threshold) ->
                SchedulerOptions.DEFAULT
                    .withPolicy(policy)
                    .withAgeing(ageing)
                    .withPriorities(false, threshold));
  }

  private static Arbitrary<ServiceClass> services() {
    return Combinators.combine(
            Arbitraries.of("", "", "other"), Arbitraries.of(0, 0, 50, -50), Arbitraries.of("", "k"))
        .as(ServiceClass::new);
  }

  @Provide
  public Arbitrary<List<Job>> jobs() {
    Arbitrary<Job> job =
        Combinators.combine(
                Arbitraries.integers().between(0, 2),
                Arbitraries.of(0, 1, 16, 31, 32, 33, 64, 80),
                Arbitraries.integers().between(0, 40),
                samplings(),
                Arbitraries.of(1, 2, 3, 17, 40, 200),
                Arbitraries.of(-1, -1, -1, 0, 1, 9),
                Arbitraries.of(false, false, true),
                services())
            .as(EngineProperties::job);
    return job.list().ofMinSize(1).ofMaxSize(14);
  }

  /** Returns a prompt that shares {@code shared} tokens with others of the same family. */
  private static Job job(
      int family,
      int shared,
      int own,
      SamplingParams sampling,
      int maxTokens,
      int cancelAfter,
      boolean slow,
      ServiceClass service) {
    int[] prompt = new int[Math.max(1, shared + own)];
    Random common = new Random(family);
    Random rest = new Random(31L * shared + own);
    for (int i = 0; i < prompt.length; i++) {
      prompt[i] = 'a' + (i < shared ? common : rest).nextInt(26);
    }
    return new Job(prompt, sampling, maxTokens, cancelAfter, slow, service);
  }

  private static Arbitrary<SamplingParams> samplings() {
    return Arbitraries.of(
        SamplingParams.GREEDY,
        new SamplingParams(1f, 0, 0.95f, 0f, 1f, 0f, 0f, Map.of(), 7, -1),
        new SamplingParams(0.8f, 8, 1f, 0f, 1.2f, 0.4f, 0.3f, Map.of((int) 'e', 3f), 99, 2));
  }
}
