package io.radixflow.engine.loop;

import static io.radixflow.engine.Engines.letters;
import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.ReplyProgress.TokenLogprob;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.protocol.record.FinishReason;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests what a reply's progress says. */
@Timeout(180)
class EngineRepliesTest {
  private static final SamplingParams WARM =
      new SamplingParams(0.9f, 0, 1f, 0f, 1.1f, 0.2f, 0.1f, Map.of(), 5, -1);
  private static final int[] PROMPT = letters(0, 33);

  private Engine engine;
  private EngineClient client;

  @BeforeEach
  void open() {
    engine = Engines.open(EngineOptions.builder());
    client = new EngineClient(engine);
  }

  @AfterEach
  void close() {
    client.close();
    engine.close();
  }

  private static EngineRequest request(int[] resumed, List<String> stop, SamplingParams sampling) {
    return EngineRequest.builder("test", () -> PROMPT, 60)
        .resumed(resumed)
        .sampling(sampling)
        .stop(stop)
        .ignoreEndOfTurn(true)
        .build();
  }

  @Test
  void aResumedReplyContinuesWhereItWas() {
    EngineClient.Seen whole = client.run(request(new int[0], List.of(), WARM));
    assertThat(whole.tokens).hasSize(60);
    for (int count : new int[] {1, 17, 59}) {
      EngineClient.Seen rest =
          client.run(request(Arrays.copyOf(whole.ids(), count), List.of(), WARM));
      assertThat(rest.firstToken).isEqualTo(count);
      assertThat(rest.firstText + rest.text.length()).isEqualTo(whole.text.length());
      assertThat(whole.text.toString()).endsWith(rest.text.toString());
      assertThat(rest.tokens).isEqualTo(whole.tokens.subList(count, 60));
      assertThat(rest.usage.completionTokens()).isEqualTo(60);
      assertThat(rest.finish).isEqualTo(FinishReason.LENGTH);
    }
  }

  @Test
  void aReplyThatHadEndedBeforeItWasResumedEndsAtOnce() {
    EngineClient.Seen whole = client.run(request(new int[0], List.of(), WARM));
    EngineClient.Seen again = client.run(request(whole.ids(), List.of(), WARM));
    assertThat(again.finish).isEqualTo(FinishReason.LENGTH);
    assertThat(again.tokens).isEmpty();
    String stop = whole.text.substring(20, 25);
    EngineClient.Seen stopped = client.run(request(whole.ids(), List.of(stop), WARM));
    assertThat(stopped.finish).isEqualTo(FinishReason.STOP);
    assertThat(stopped.firstText).isLessThanOrEqualTo(20);
  }

  @Test
  void aStopStringEndsTheReplyBeforeIt() {
    EngineClient.Seen whole = client.run(request(new int[0], List.of(), WARM));
    String stop = whole.text.substring(20, 25);
    EngineClient.Seen seen = client.run(request(new int[0], List.of(stop), WARM));
    assertThat(seen.finish).isEqualTo(FinishReason.STOP);
    int at = whole.text.indexOf(stop);
    assertThat(seen.text.toString()).isEqualTo(whole.text.substring(0, at));
    assertThat(seen.tokens).isEqualTo(whole.tokens.subList(0, at + 5));
  }

  @Test
  void theEndOfTurnTokenHasNoText() {
    EngineRequest natural = EngineClient.request(PROMPT, SamplingParams.GREEDY, 2000);
    EngineClient.Seen seen = client.run(natural);
    assertThat(seen.finish).isEqualTo(FinishReason.STOP);
    assertThat(seen.tokens.get(seen.tokens.size() - 1)).isEqualTo(257);
    assertThat(seen.text).hasSize(seen.tokens.size() - 1);
  }

  @Test
  void logProbabilitiesComeWithTheirTokens() {
    SamplingParams sampling = new SamplingParams(0f, 0, 1f, 0f, 1f, 0f, 0f, Map.of(), 5, 3);
    EngineClient.Seen seen = client.run(request(new int[0], List.of(), sampling));
    assertThat(seen.logprobs).hasSize(60);
    for (int i = 0; i < 60; i++) {
      TokenLogprob each = seen.logprobs.get(i);
      assertThat(each.id()).isEqualTo(seen.tokens.get(i));
      assertThat(each.topIds()).hasSize(3);
      assertThat(each.topIds()[0]).isEqualTo(each.id());
      assertThat(each.logprob()).isEqualTo(each.topLogprobs()[0]).isLessThanOrEqualTo(0f);
    }
  }

  @Test
  void theConsumerIsNotifiedOnceBetweenTwoDrains() {
    long id = client.submit(letters(1, 10), 50);
    int before = client.await(id).tokens.size();
    assertThat(client.notifications()).isLessThanOrEqualTo(1);
    long undrained = client.submit(request(new int[0], List.of(), WARM));
    await().until(() -> engine.stats().steps().generatedTokens() == before + 60);
    Engines.awaitIdle(engine);
    assertThat(client.notifications()).isLessThanOrEqualTo(2);
    client.drain();
    assertThat(client.seen(undrained).progresses).isEqualTo(1);
    assertThat(client.seen(undrained).tokens).hasSize(60);
  }
}
