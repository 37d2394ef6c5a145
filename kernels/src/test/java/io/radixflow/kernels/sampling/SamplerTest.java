package io.radixflow.kernels.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SamplerTest {

  private static final int[] NONE = {};

  @Test
  void argMaxTakesTheLowestIdOnATie() {
    assertThat(Sampler.argMax(new float[] {9, 1, 3, 3, -0f}, 1, 4)).isEqualTo(1);
  }

  @Test
  void notANumberAndInfinityAreNamed() {
    assertFails(new float[] {1, Float.NaN, 2}, "logit of token 1 is not a number");
    assertFails(new float[] {Float.NaN, 1, 2}, "logit of token 0 is not a number");
    assertFails(new float[] {1, 2, Float.POSITIVE_INFINITY}, "logit of token 2 is infinite");
    assertFails(new float[] {Float.NEGATIVE_INFINITY, Float.NEGATIVE_INFINITY}, "no finite logit");
  }

  @Test
  void negativeInfinityIsNeverDrawn() {
    float[] logits = {Float.NEGATIVE_INFINITY, 0, Float.NEGATIVE_INFINITY, 0};
    for (long seed = 0; seed < 200; seed++) {
      assertThat(draw(logits, params(2, 0, 1, 0, seed))).isIn(1, 3);
    }
  }

  @Test
  void drawsFollowTheProbabilities() {
    float[] logits = {(float) Math.log(1), (float) Math.log(2), (float) Math.log(5)};
    int[] counts = new int[3];
    SamplingState state = new SamplingState(params(1, 0, 1, 0, 99), NONE, NONE, 3);
    Sampler sampler = new Sampler(3);
    for (int i = 0; i < 80_000; i++) {
      int token = sampler.sample(logits, 0, 3, state);
      counts[token]++;
      state.accept(token);
    }
    assertThat(counts[0]).isCloseTo(10_000, within(500));
    assertThat(counts[1]).isCloseTo(20_000, within(700));
    assertThat(counts[2]).isCloseTo(50_000, within(700));
  }

  @Test
  void drawsAreTheSameOnEveryMachine() {
    float[] logits = new float[49_152];
    Random random = new Random(7);
    for (int i = 0; i < logits.length; i++) {
      logits[i] = (float) (random.nextInt(1 << 20) * 0x1p-16);
    }
    SamplingParams[] all = {
      params(1, 0, 1, 0, 1), params(0.7f, 0, 0.9f, 0, 2), params(1.5f, 40, 0.95f, 0.05f, 3)
    };
    int[] drawn = new int[12];
    Sampler sampler = new Sampler(logits.length);
    for (int i = 0; i < drawn.length; i++) {
      int[] reply = new int[i];
      drawn[i] =
          sampler.sample(
              logits, 0, logits.length, new SamplingState(all[i % 3], NONE, reply, 49_152));
    }
    assertThat(drawn)
        .containsExactly(
            43835, 11582, 34572, 1889, 1819, 10934, 5923, 5041, 1097, 32385, 5123, 17800);
  }

  @Test
  void seedAndPositionAloneDecide() {
    float[] logits = new float[1000];
    SamplingParams params = params(1, 0, 1, 0, 5);
    SamplingState walked = new SamplingState(params, NONE, NONE, 1000);
    walked.accept(1);
    walked.accept(2);
    SamplingState rebuilt = new SamplingState(params, NONE, new int[] {8, 9}, 1000);
    Sampler sampler = new Sampler(1000);
    int token = sampler.sample(logits, 0, 1000, walked);
    assertThat(sampler.sample(logits, 0, 1000, rebuilt)).isEqualTo(token);
    assertThat(sampler.sample(logits, 0, 1000, walked)).isEqualTo(token);
  }

  @Test
  void repetitionPenaltyActsOnPromptAndReply() {
    SamplingParams params = new SamplingParams(0, 0, 1, 0, 2, 0, 0, Map.of(), 0, -1);
    SamplingState state = new SamplingState(params, new int[] {0, 0}, new int[] {1}, 4);
    float[] row = {4, -1, 3, 0};
    state.adjust(row);
    assertThat(row).containsExactly(2, -2, 3, 0);
  }

  @Test
  void presenceAndFrequencyPenaltiesActOnTheReply() {
    SamplingParams params = new SamplingParams(0, 0, 1, 0, 1, 0.5f, 0.25f, Map.of(), 0, -1);
    SamplingState state = new SamplingState(params, new int[] {0, 0}, new int[] {1}, 4);
    state.accept(1);
    state.accept(2);
    float[] row = {4, 4, 4, 4};
    state.adjust(row);
    assertThat(row).containsExactly(4, 3, 3.25f, 4);
  }

  @Test
  void aRebuiltStateAdjustsLikeTheOriginal() {
    SamplingParams params = new SamplingParams(1, 0, 1, 0, 1.3f, 0.5f, 0.25f, Map.of(), 0, -1);
    Random random = new Random(3);
    int[] prompt = random.ints(300, 0, 2000).toArray();
    int[] reply = random.ints(900, 0, 2000).toArray();
    SamplingState walked = new SamplingState(params, prompt, NONE, 2000);
    for (int token : reply) {
      walked.accept(token);
    }
    float[] a = new float[2000];
    float[] b = new float[2000];
    for (int i = 0; i < 2000; i++) {
      a[i] = b[i] = i % 7 - 3;
    }
    walked.adjust(a);
    new SamplingState(params, prompt, reply, 2000).adjust(b);
    assertThat(a).containsExactly(b);
  }

  @Test
  void biasComesAfterPenaltiesAndLeavesTheCallersLogitsAlone() {
    SamplingParams params =
        new SamplingParams(0, 0, 1, 0, 1, 0, 0, Map.of(1, 100f, 0, -100f), 0, -1);
    float[] logits = {5, 1, 3};
    assertThat(draw(logits, params)).isEqualTo(1);
    assertThat(logits).containsExactly(5, 1, 3);
  }

  @Test
  void idsOutsideTheVocabularyAreNamed() {
    SamplingParams params = new SamplingParams(0, 0, 1, 0, 1, 0, 0, Map.of(3, 1f), 0, -1);
    assertThatThrownBy(() -> new SamplingState(params, NONE, NONE, 3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("logit_bias has id 3; the vocabulary has ids 0 to 2");
  }

  private static SamplingParams params(float temperature, int k, float p, float m, long seed) {
    return new SamplingParams(temperature, k, p, m, 1, 0, 0, Map.of(), seed, -1);
  }

  private static int draw(float[] logits, SamplingParams params) {
    return new Sampler(logits.length)
        .sample(logits, 0, logits.length, new SamplingState(params, NONE, NONE, logits.length));
  }

  private static void assertFails(float[] logits, String message) {
    assertThatThrownBy(() -> draw(logits, params(1, 0, 1, 0, 0)))
        .isInstanceOf(SamplingException.class)
        .hasMessageContaining(message);
  }
}
