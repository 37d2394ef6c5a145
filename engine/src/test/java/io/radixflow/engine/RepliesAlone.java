package io.radixflow.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.PrefixCaching;
import io.radixflow.engine.draft.SpeculationOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * What requests are answered one by one, without cache and speculation, and so must be whatever
 * else runs.
 *
 * @param requests in the order of {@code replies}
 */
public record RepliesAlone(List<EngineRequest> requests, List<EngineClient.Seen> replies) {

  /**
   * Runs requests on an engine of their own.
   *
   * @param open opens it with options
   */
  public static RepliesAlone of(
      List<EngineRequest> requests, Function<EngineOptions.Builder, Engine> open) {
    EngineOptions.Builder plain =
        EngineOptions.builder()
            .cache(CacheOptions.DEFAULT.withCaching(PrefixCaching.NAIVE))
            .speculation(SpeculationOptions.OFF);
    try (Engine engine = open.apply(plain);
        EngineClient client = new EngineClient(engine)) {
      return new RepliesAlone(requests, requests.stream().map(client::run).toList());
    }
  }

  /** Returns the same, with requests that predict their replies but for one of so many tokens. */
  public RepliesAlone predicting(int wrongEvery) {
    List<EngineRequest> predicting = new ArrayList<>();
    for (int i = 0; i < requests.size(); i++) {
      EngineRequest spec = requests.get(i);
      int[] ids = replies.get(i).ids();
      for (int at = wrongEvery - 1; at < ids.length; at += wrongEvery) {
        ids[at] = ids[at] == 'x' ? 'y' : 'x';
      }
      predicting.add(
          new EngineRequest(
              spec.label(),
              spec.namespace(),
              spec.prompt(),
              spec.resumed(),
              spec.sampling(),
              spec.maxTokens(),
              spec.stop(),
              spec.ignoreEndOfTurn(),
              spec.session(),
              spec.service(),
              spec.hints(),
              spec.markup(),
              spec.grammar(),
              spec.reasoning(),
              () -> ids,
              spec.tokens(),
              spec.begun()));
    }
    return new RepliesAlone(predicting, replies);
  }

  /** Runs the requests at once, and checks that each reply is the one it got alone. */
  public EngineStats assertSameOn(Engine engine) {
    try (EngineClient client = new EngineClient(engine)) {
      List<Long> ids = client.submitTogether(requests);
      for (int i = 0; i < ids.size(); i++) {
        EngineClient.Seen alone = replies.get(i);
        EngineClient.Seen seen = client.await(ids.get(i));
        assertThat(seen.error).isNull();
        assertThat(seen.tokens).as("request %d", i).isEqualTo(alone.tokens);
        assertThat(seen.text.toString()).isEqualTo(alone.text.toString());
        for (int t = 0; t < seen.logprobs.size(); t++) {
          assertThat(seen.logprobs.get(t))
              .usingRecursiveComparison()
              .isEqualTo(alone.logprobs.get(t));
        }
      }
      return Engines.awaitIdle(engine);
    }
  }
}
