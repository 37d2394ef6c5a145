package io.radixflow.engine.cache.session;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.SessionRef;
import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import io.radixflow.engine.tier.store.MemoryPageStore;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ServiceClass;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** Whatever becomes of a session's pages, its replies are those of requests that share nothing. */
class SessionProperties {
  private static final int CONTEXT = 200;

  enum Kind {
    TURN,
    REGENERATE,
    ABORTED_TURN,
    TRIM,
    FORK,
    PREFETCH,
    CLOSE
  }

  record Event(Kind kind, int session, int length, int maxTokens, boolean awaited) {}

  /**
   * The engine under test.
   *
   * @param hostPages pages of host memory above a store; 0 for neither
   * @param window tokens that a layer with an attention window sees; 0 without one
   */
  record Setup(
      int pageTokens,
      int pages,
      int chunk,
      int depth,
      SessionBounds bounds,
      int hostPages,
      int window) {

    TierOptions tiers() {
      return hostPages == 0
          ? TierOptions.NONE
          : TierOptions.NONE
              .withHostBytes((long) hostPages * pageTokens * (window > 0 ? 16 : 8))
              .withLoadBackThreshold(1)
              .withPrefetch(PrefetchPolicy.BEST_EFFORT, 1)
              .withStore((epoch, bytes) -> new MemoryPageStore(), NamespaceKey.of("secret"));
    }
  }

  private record Asked(long id, int[] prompt, int maxTokens, boolean aborted) {}

  @Property(tries = 120)
  void repliesDoNotDependOnWhatSessionsKeep(
      @ForAll("setups") Setup setup, @ForAll("events") List<Event> events) {
    SimOptions sim =
        SimOptions.DEFAULT
            .withContextLength(CONTEXT)
            .withPipelineDepth(setup.depth)
            .withPoison(true)
            .withWindow(setup.window);
    EngineOptions options =
        EngineOptions.builder()
            .pageTokens(setup.pageTokens)
            .kvPages(setup.pages)
            .contextLength(CONTEXT)
            .maxRunning(6)
            .prefillChunk(setup.chunk)
            .cache(CacheOptions.DEFAULT.withSessions(setup.bounds).withWindowShare(0.3))
            .tiers(setup.tiers())
            .auditMillis(0)
            .build();
    List<Asked> asked = new ArrayList<>();
    List<EngineClient.Seen> replies = new ArrayList<>();
    try (Engine engine = Engines.open(sim, options);
        EngineClient client = new EngineClient(engine)) {
      Map<String, int[]> conversations = new HashMap<>();
      events.forEach(event -> apply(event, engine, client, conversations, asked));
      asked.forEach(each -> replies.add(client.await(each.id)));
      Engines.awaitIdle(engine);
      for (int session = 0; session < 4; session++) {
        engine.closeSession("s" + session);
      }
      Engines.awaitEmpty(engine);
    }
    EngineOptions plain =
        options.toBuilder()
            .cache(CacheOptions.DEFAULT.withCaching(PrefixCaching.NAIVE))
            .kvPages(400)
            .tiers(TierOptions.NONE)
            .build();
    try (Engine engine = Engines.open(sim, plain);
        EngineClient client = new EngineClient(engine)) {
      for (int i = 0; i < asked.size(); i++) {
        Asked each = asked.get(i);
        EngineClient.Seen alone =
            client.run(EngineClient.request(each.prompt, SamplingParams.GREEDY, each.maxTokens));
        EngineClient.Seen seen = replies.get(i);
        assertThat(seen.error).isNull();
        if (seen.finish == FinishReason.CANCELLED) {
          assertThat(each.aborted).isTrue();
          assertThat(alone.tokens.subList(0, seen.tokens.size())).isEqualTo(seen.tokens);
        } else {
          assertThat(seen.tokens).isEqualTo(alone.tokens);
        }
      }
    }
  }

  private static void apply(
      Event event,
      Engine engine,
      EngineClient client,
      Map<String, int[]> conversations,
      List<Asked> asked) {
    String session = "s" + event.session;
    if (event.kind == Kind.CLOSE) {
      engine.closeSession(session);
      conversations.keySet().removeIf(name -> name.startsWith(session));
      return;
    }
    String branch = event.kind == Kind.FORK ? "fork" : "main";
    String name = session + "/" + branch;
    int[] before = conversations.getOrDefault(name, conversations.get(session + "/main"));
    before = before == null ? letters(event.session % 2, 20) : before;
    if (event.kind == Kind.PREFETCH) {
      engine.prefetch(turn(event, branch, before, 1));
      return;
    }
    int keep =
        switch (event.kind) {
          case TRIM -> Math.min(before.length, 12);
          case REGENERATE -> Math.max(1, before.length - 9);
          default -> before.length;
        };
    int[] prompt = concat(Arrays.copyOf(before, keep), letters(event.length, event.length));
    if (prompt.length >= CONTEXT - 2) {
      prompt = Arrays.copyOf(prompt, 30);
    }
    long id = client.submit(turn(event, branch, prompt, event.maxTokens));
    boolean aborted = event.kind == Kind.ABORTED_TURN;
    asked.add(new Asked(id, prompt, event.maxTokens, aborted));
    if (aborted) {
      client.awaitTokens(id, event.length % 5);
      client.cancel(id);
    } else if (event.awaited) {
      conversations.put(name, concat(prompt, client.await(id).ids()));
    }
  }

  private static EngineRequest turn(Event event, String branch, int[] prompt, int maxTokens) {
    String session = "s" + event.session;
    String tenant = "t" + event.session % 2;
    return EngineRequest.builder("test", () -> prompt, maxTokens)
        .session(new SessionRef(tenant, session, branch))
        .service(new ServiceClass(tenant, 0, session))
        .build();
  }

  @Provide
  Arbitrary<Setup> setups() {
    return Arbitraries.of(1, 2, 4, 16)
        .flatMap(
            pageTokens ->
                Combinators.combine(
                        Arbitraries.of(0, 0, 40, 800),
                        Arbitraries.of(3, 16, 256),
                        Arbitraries.of(1, 2),
                        Arbitraries.of(
                            SessionBounds.DEFAULT,
                            new SessionBounds(2, 1, 1, 1),
                            new SessionBounds(9, 9, 0.1, 0.3)),
                        Arbitraries.of(0, 20, 1000),
                        Arbitraries.of(0, 1, 7, 16, 40))
                    .as(
                        (spare, chunk, depth, bounds, hostPages, window) ->
                            new Setup(
                                pageTokens,
                                (CONTEXT + spare) / pageTokens + 1,
                                chunk,
                                depth,
                                bounds,
                                hostPages,
                                window)));
  }

  @Provide
  Arbitrary<List<Event>> events() {
    return Combinators.combine(
            Arbitraries.of(
                Kind.TURN,
                Kind.TURN,
                Kind.TURN,
                Kind.REGENERATE,
                Kind.ABORTED_TURN,
                Kind.TRIM,
                Kind.FORK,
                Kind.PREFETCH,
                Kind.PREFETCH,
                Kind.CLOSE),
            Arbitraries.integers().between(0, 3),
            Arbitraries.integers().between(1, 25),
            Arbitraries.integers().between(1, 30),
            Arbitraries.of(true, true, false))
        .as(Event::new)
        .list()
        .ofMaxSize(25);
  }
}
