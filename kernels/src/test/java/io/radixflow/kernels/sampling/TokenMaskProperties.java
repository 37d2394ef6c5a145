package io.radixflow.kernels.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.FloatRange;
import net.jqwik.api.constraints.IntRange;

class TokenMaskProperties {

  private static final int[] NO_IDS = {};

  /** A masked draw is the draw from a row in which the excluded tokens are negative infinity. */
  @Property(tries = 500)
  void excludedTokensAreAsIfTheirLogitsWereNegativeInfinity(
      @ForAll @IntRange(min = 1, max = 400) int vocab,
      @ForAll @FloatRange(min = 0, max = 2) float temperature,
      @ForAll @IntRange(min = 0, max = 30) int topK,
      @ForAll @FloatRange(min = 0.1f, max = 1) float topP,
      @ForAll long seed) {
    Random random = new Random(seed);
    long[] mask = random.longs(TokenMask.words(vocab)).toArray();
    int sure = random.nextInt(vocab);
    mask[sure >> 6] |= 1L << sure;
    float[] row = new float[vocab + 2];
    float[] excluded = new float[vocab];
    for (int id = 0; id < vocab; id++) {
      row[id + 2] = (float) random.nextGaussian() * 3;
      excluded[id] = TokenMask.allows(mask, id) ? row[id + 2] : Float.NEGATIVE_INFINITY;
    }
    SamplingParams params =
        new SamplingParams(
            temperature, topK, topP, 0, 1, 0.5f, 0, Map.of(sure, 7f), random.nextLong(), -1);
    SamplingState state = new SamplingState(params, NO_IDS, new int[] {sure}, vocab);
    Sampler sampler = new Sampler(vocab);
    float[] before = row.clone();

    int drawn = sampler.sample(row, 2, vocab, state, mask);

    assertThat(TokenMask.allows(mask, drawn)).isTrue();
    assertThat(drawn).isEqualTo(sampler.sample(excluded, 0, vocab, state));
    assertThat(row).as("the row is never changed").isEqualTo(before);
  }

  @Example
  void aMaskThatLeavesNothingOrIsTooShortIsRefused() {
    float[] row = {1, 2, Float.NEGATIVE_INFINITY};
    SamplingState state = new SamplingState(SamplingParams.GREEDY, NO_IDS, NO_IDS, 3);
    Sampler sampler = new Sampler(3);
    for (long[] mask : new long[][] {{0}, {~7L}, TokenMask.of(3, 2)}) {
      assertThatThrownBy(() -> sampler.sample(row, 0, 3, state, mask))
          .isInstanceOf(SamplingException.class)
          .hasMessage("the token mask leaves no token with a finite logit");
    }
    assertThatThrownBy(() -> sampler.sample(row, 0, 3, state, new long[0]))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("a token mask has 0 words; a vocabulary of 3 tokens needs 1");
    assertThatThrownBy(() -> TokenMask.of(3, 3)).hasMessageContaining("token 3 is not in 0 to 2");
    assertThat(TokenMask.of(130, 0, 64, 129)).containsExactly(1, 1, 2);
  }
}
