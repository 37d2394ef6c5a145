package io.radixflow.engine.cache;

import static io.radixflow.engine.Engines.concat;
import static io.radixflow.engine.Engines.letters;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what requests of several namespaces find of each other's. Pages have 16 tokens. */
@Timeout(180)
class EngineNamespacesTest {
  private static final int[] SYSTEM = letters(0, 70);

  private static EngineRequest request(String namespace, int publicTokens, int[] prompt) {
    EngineRequest.PromptSource source =
        new EngineRequest.PromptSource() {
          @Override
          public int[] ids() {
            return prompt;
          }

          @Override
          public int publicTokens() {
            return publicTokens;
          }
        };
    return EngineRequest.builder("test", source, 8)
        .namespace(namespace)
        .ignoreEndOfTurn(true)
        .build();
  }

  @Test
  void tenantsThatShareASystemPromptShareItsWholePagesOnly() {
    int[] prompt = concat(SYSTEM, letters(1, 90));
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      assertThat(client.run(request("a", 70, prompt)).usage.cachedTokens()).isZero();
      assertThat(client.run(request("b", 70, prompt)).usage.cachedTokens()).isEqualTo(64);
      assertThat(client.run(request("c", 0, prompt)).usage.cachedTokens()).isZero();
      assertThat(client.run(request("", 0, prompt)).usage.cachedTokens()).isEqualTo(64);
      assertThat(client.run(request("a", 70, prompt)).usage.cachedTokens()).isEqualTo(159);
      Engines.awaitIdle(engine);
    }
  }

  @Test
  void tenantsThatStartTogetherComputeASharedSystemPromptOnce() {
    try (Engine engine = Engines.open(EngineOptions.builder().prefillChunk(16));
        EngineClient client = new EngineClient(engine)) {
      List<Long> ids =
          client.submitTogether(
              List.of(
                  request("a", 70, concat(SYSTEM, letters(1, 30))),
                  request("b", 70, concat(SYSTEM, letters(2, 30))),
                  request("c", 0, concat(SYSTEM, letters(3, 30)))));
      int cached = ids.stream().mapToInt(id -> client.await(id).usage.cachedTokens()).sum();
      assertThat(cached).isEqualTo(64);
      Engines.awaitIdle(engine);
    }
  }

  @Test
  void aReplyIsTheSameWhetherItsSystemPromptWasShared() {
    int[] prompt = concat(SYSTEM, letters(1, 25));
    try (Engine engine = Engines.open(EngineOptions.builder());
        EngineClient client = new EngineClient(engine)) {
      client.run(request("a", 70, concat(SYSTEM, letters(2, 25))));
      int[] shared = client.run(request("b", 70, prompt)).ids();
      assertThat(client.run(request("c", 0, prompt)).ids()).isEqualTo(shared);
    }
  }
}
