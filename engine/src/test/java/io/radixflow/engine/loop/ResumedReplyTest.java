package io.radixflow.engine.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.models.TestModels;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.text.ReplyText;
import io.radixflow.text.template.Message;
import io.radixflow.text.template.TemplateOptions;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A reply that is cut after any of its tokens goes on as if nothing had been. */
@Timeout(180)
class ResumedReplyTest {
  private static final int[] PROMPT = Engines.letters(3, 37);
  private static final SamplingParams PENALISED =
      new SamplingParams(0.9f, 0, 0.95f, 0f, 1.2f, 0.4f, 0.3f, Map.of(), 5, 2);

  private record Case(SamplingParams sampling, int maxTokens, List<String> stop) {
    EngineRequest request(int[] prompt, int[] resumed) {
      return EngineRequest.builder("test", () -> prompt, maxTokens)
          .resumed(resumed)
          .sampling(sampling)
          .stop(stop)
          .build();
    }
  }

  private static FinishReason resumesEverywhere(
      Engine engine, Tokenizer tokenizer, int[] prompt, Case reply) {
    try (EngineClient client = new EngineClient(engine)) {
      EngineClient.Seen whole = client.run(reply.request(prompt, new int[0]));
      assertThat(whole.error).isNull();
      int[] ids = whole.ids();
      assertThat(ids).hasSizeGreaterThan(10);
      for (int cut = 1; cut <= ids.length; cut++) {
        String shown = shown(tokenizer, reply.stop(), Arrays.copyOf(ids, cut));
        EngineClient.Seen rest = client.run(reply.request(prompt, Arrays.copyOf(ids, cut)));
        assertThat(rest.error).isNull();
        assertThat(rest.firstToken).as("cut at %d of %d", cut, ids.length).isEqualTo(cut);
        assertThat(rest.firstText).isEqualTo(shown.codePointCount(0, shown.length()));
        assertThat(shown + rest.text).isEqualTo(whole.text.toString());
        assertThat(rest.tokens).isEqualTo(whole.tokens.subList(cut, ids.length));
        assertThat(rest.finish).isEqualTo(whole.finish);
        assertThat(rest.usage.completionTokens()).isEqualTo(ids.length);
        if (!whole.logprobs.isEmpty()) {
          assertThat(rest.logprobs)
              .usingRecursiveComparison()
              .isEqualTo(whole.logprobs.subList(cut, ids.length));
        }
      }
      return whole.finish;
    }
  }

  /** Returns the text that a reply has shown after its first tokens. */
  private static String shown(Tokenizer tokenizer, List<String> stop, int[] ids) {
    ReplyText text = new ReplyText(tokenizer, stop);
    Arrays.stream(ids).forEach(text::accept);
    return text.take();
  }

  private static FinishReason resumesEverywhere(double endOfTurn, Case reply) {
    SimModel model = SimModel.open(SimOptions.DEFAULT.withEndOfTurn(endOfTurn).withPoison(true));
    EngineOptions options = EngineOptions.builder().auditMillis(0).build();
    try (Engine engine = ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, options)) {
      FinishReason finish = resumesEverywhere(engine, model.tokenizer(), PROMPT, reply);
      Engines.awaitIdle(engine);
      return finish;
    }
  }

  @Test
  void aGreedyReplyResumedAnywhereEndsAtItsLimit() {
    Case reply = new Case(SamplingParams.GREEDY, 60, List.of());
    assertThat(resumesEverywhere(0, reply)).isEqualTo(FinishReason.LENGTH);
  }

  @Test
  void aGreedyReplyResumedAnywhereEndsAtItsEndOfTurn() {
    Case reply = new Case(SamplingParams.GREEDY, 4000, List.of());
    assertThat(resumesEverywhere(1.0 / 400, reply)).isEqualTo(FinishReason.STOP);
  }

  @Test
  void aSeededReplyWithPenaltiesAndLogProbabilitiesIsTheSame() {
    Case reply = new Case(PENALISED, 60, List.of());
    assertThat(resumesEverywhere(0, reply)).isEqualTo(FinishReason.LENGTH);
  }

  @Test
  void aReplyResumedInsideAStopStringIsTheSame() {
    SimModel model = SimModel.open(SimOptions.DEFAULT.withEndOfTurn(0));
    String stop;
    try (Engine engine =
            ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      Case undisturbed = new Case(PENALISED, 60, List.of());
      stop = client.run(undisturbed.request(PROMPT, new int[0])).text.substring(30, 42);
    }
    // the second almost occurs: its beginning is held back and then released
    String almost = stop.substring(0, 8) + "!";
    Case reply = new Case(PENALISED, 60, List.of(almost, stop));
    assertThat(resumesEverywhere(0, reply)).isEqualTo(FinishReason.STOP);
  }

  @Test
  void aReplyResumedWithHeldBackTextAtTheLimitIsTheSame() {
    SimModel model = SimModel.open(SimOptions.DEFAULT.withEndOfTurn(0));
    String tail;
    try (Engine engine =
            ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, EngineOptions.DEFAULT);
        EngineClient client = new EngineClient(engine)) {
      Case undisturbed = new Case(SamplingParams.GREEDY, 40, List.of());
      tail = client.run(undisturbed.request(PROMPT, new int[0])).text.substring(34);
    }
    Case reply = new Case(SamplingParams.GREEDY, 40, List.of(tail + "!"));
    assertThat(resumesEverywhere(0, reply)).isEqualTo(FinishReason.LENGTH);
  }

  @Test
  void aReplyResumedInTheMiddleOfACharacterIsTheSame() {
    Map<Integer, Float> bytes = new HashMap<>();
    for (int value : new int[] {0xC3, 0xA9, 0xE2, 0x82, 0xAC, 0xF0, 0x9F, 0x98, 0x80}) {
      bytes.put(value, 65f);
    }
    for (int seed = 0; seed < 4; seed++) {
      SamplingParams soup = new SamplingParams(1f, 0, 1f, 0f, 1f, 0f, 0f, bytes, seed, -1);
      Case reply = new Case(soup, 48, List.of("€é", "😀"));
      resumesEverywhere(0, reply);
    }
  }

  @Test
  @Tag("model")
  void aRealModelResumesItsReplyAnywhere() {
    try (ServedModel model = ModelLoader.open(TestModels.smolLm2());
        Engine engine =
            ContinuousBatchingEngine.open(
                model,
                new DeviceOptions("cpu", 1, KvSpec.Type.F32),
                EngineOptions.builder().contextLength(256).build())) {
      int[] prompt =
          model
              .chatTemplate()
              .encode(
                  List.of(new Message("user", "Write three emojis.")), true, TemplateOptions.NONE);
      SamplingParams sampling =
          new SamplingParams(0.8f, 40, 0.95f, 0f, 1.1f, 0.1f, 0.1f, Map.of(), 11, -1);
      resumesEverywhere(engine, model.tokenizer(), prompt, new Case(sampling, 24, List.of("\n\n")));
    }
  }
}
