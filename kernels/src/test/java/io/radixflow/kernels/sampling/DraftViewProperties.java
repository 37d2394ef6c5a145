package io.radixflow.kernels.sampling;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.IntBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** A view behind drafts is the state that has accepted them. */
class DraftViewProperties {
  private static final int VOCAB = 12;

  @Property
  void aViewDrawsAsAStateThatHasAcceptedTheDrafts(
      @ForAll("params") SamplingParams params,
      @ForAll("ids") @Size(max = 8) int[] prompt,
      @ForAll("ids") @Size(max = 8) int[] reply,
      @ForAll("ids") @Size(min = 1, max = 6) int[] drafts,
      @ForAll @IntRange(max = 1) int acceptedMeanwhile,
      @ForAll long seed) {
    SamplingState state = new SamplingState(params, prompt, reply, VOCAB);
    SamplingState view = state.draftView();
    view.follow(drafts, drafts.length, reply.length);
    for (int i = 0; i < acceptedMeanwhile; i++) {
      state.accept(drafts[i]);
    }
    SamplingState naive = new SamplingState(params, prompt, reply, VOCAB);
    Arrays.stream(drafts).forEach(naive::accept);

    float[] logits = logits(seed);
    float[] expected = logits.clone();
    naive.adjust(expected);
    float[] adjusted = logits.clone();
    view.adjust(adjusted);
    assertThat(adjusted).isEqualTo(expected);
    assertThat(view.counter()).isEqualTo(naive.counter());
    Sampler sampler = new Sampler(VOCAB);
    assertThat(sampler.sample(logits, 0, VOCAB, view))
        .isEqualTo(sampler.sample(logits, 0, VOCAB, naive));
    assertThat(adjustments(view)).isEqualTo(adjustments(naive));
  }

  @Property
  void aViewAcceptsNothing(@ForAll("params") SamplingParams params, @ForAll("ids") int[] drafts) {
    SamplingState state = new SamplingState(params, new int[0], new int[0], VOCAB);
    SamplingState view = state.draftView();
    view.follow(drafts, drafts.length, 0);
    view.accept(3);
    assertThat(view.counter()).isEqualTo(drafts.length);
    assertThat(state.counter()).isZero();
  }

  /** What a device is told of each token, whatever the order. */
  private static Map<Integer, String> adjustments(SamplingState state) {
    IntBuffer buffer = IntBuffer.allocate(4 * state.mostAdjustments());
    int count = state.writeAdjustments(buffer, 0);
    Map<Integer, String> result = new HashMap<>();
    for (int i = 0; i < count; i++) {
      result.put(buffer.get(4 * i), buffer.get(4 * i + 1) + " " + buffer.get(4 * i + 2));
    }
    assertThat(result).hasSize(count);
    return result;
  }

  private static float[] logits(long seed) {
    Random random = new Random(seed);
    float[] logits = new float[VOCAB];
    for (int i = 0; i < VOCAB; i++) {
      logits[i] = (float) random.nextGaussian() * 3;
    }
    return logits;
  }

  @Provide
  Arbitrary<int[]> ids() {
    return Arbitraries.integers().between(0, VOCAB - 1).array(int[].class).ofMaxSize(8);
  }

  @Provide
  Arbitrary<SamplingParams> params() {
    return Arbitraries.of(
        SamplingParams.GREEDY,
        new SamplingParams(1f, 0, 1f, 0f, 1f, 0f, 0f, Map.of(), 3, -1),
        new SamplingParams(0.7f, 5, 0.9f, 0f, 1.3f, 0f, 0f, Map.of(2, 1f), 4, -1),
        new SamplingParams(0f, 0, 1f, 0f, 1f, 0.5f, 0.25f, Map.of(2, -100f, 5, 2f), 5, -1),
        new SamplingParams(1.2f, 0, 1f, 0.01f, 0.8f, -0.5f, 0.7f, Map.of(), 6, -1));
  }
}
