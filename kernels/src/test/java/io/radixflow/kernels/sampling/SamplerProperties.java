package io.radixflow.kernels.sampling;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

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
import net.jqwik.api.constraints.IntRange;

class SamplerProperties {

  /** Shares that differ by less than this from a border may fall on either side of it. */
  private static final double BORDER = 1e-7;

  @Provide
  Arbitrary<SamplingParams> params() {
    return Combinators.combine(
            Arbitraries.floats().between(0.05f, 2f).ofScale(4),
            Arbitraries.integers().between(0, 60),
            Arbitraries.frequencyOf(
                Tuple.of(1, Arbitraries.just(1f)),
                Tuple.of(3, Arbitraries.floats().between(0.001f, 1f).ofScale(6))),
            Arbitraries.frequencyOf(
                Tuple.of(1, Arbitraries.just(0f)),
                Tuple.of(1, Arbitraries.floats().between(0f, 1f).ofScale(6))),
            Arbitraries.longs())
        .as((t, k, p, m, s) -> new SamplingParams(t, k, p, m, 1, 0, 0, Map.of(), s, -1));
  }

  @Property(tries = 2000)
  void candidatesEqualTheNaiveModelAwayFromBorders(
      @ForAll("params") SamplingParams params,
      @ForAll @IntRange(min = 1, max = 300) int vocab,
      @ForAll @IntRange(min = 1, max = 40) int distinct,
      @ForAll long data) {
    float[] logits = logits(vocab, distinct, data);
    Sampler sampler = new Sampler(vocab + 3);
    float[] padded = new float[vocab + 5];
    System.arraycopy(logits, 0, padded, 2, vocab);
    int drawn = sampler.sample(padded, 2, vocab, state(params, vocab));
    double[] shares = shares(sampler, vocab);
    assertThat(shares[drawn]).isPositive();

    double[] least = naive(logits, params, -1);
    double[] most = naive(logits, params, 1);
    if (Arrays.equals(kept(least), kept(most))) {
      for (int id = 0; id < vocab; id++) {
        assertThat(shares[id]).isCloseTo(most[id], within(1e-9));
      }
    }
    for (int id = 0; id < vocab; id++) {
      if (least[id] > BORDER) {
        assertThat(shares[id]).as("token %d", id).isPositive();
      }
      if (most[id] == 0) {
        assertThat(shares[id]).as("token %d", id).isZero();
      }
    }
  }

  @Property(tries = 300)
  void theDrawIsTheInverseOfTheCumulatedWeights(
      @ForAll("params") SamplingParams params, @ForAll long data) {
    float[] logits = logits(200, 200, data);
    Sampler sampler = new Sampler(200);
    int drawn = sampler.sample(logits, 0, 200, state(params, 200));
    Candidates candidates = sampler.candidates();
    double u = (Philox.bits(params.seed(), 0) >>> 11) * 0x1p-53;
    double before = 0;
    for (int i = 0; candidates.id(i) != drawn; i++) {
      before += candidates.weight(i);
    }
    double total = candidates.total();
    double share = shares(sampler, 200)[drawn];
    assertThat(u).isBetween(before / total - 1e-12, before / total + share + 1e-12);
  }

  @Property(tries = 200)
  void logprobsAreTheLogSoftmaxOfTheRawLogits(
      @ForAll long data, @ForAll @IntRange(min = 0, max = 20) int count) {
    float[] logits = logits(97, 50, data);
    SamplingParams plain = new SamplingParams(1, 0, 1, 0, 1, 0, 0, Map.of(), 0, count);
    List<NaiveSoftmax.Candidate> ranked = NaiveSoftmax.candidates(logits, plain);
    int[] ids = new int[count + 1];
    float[] logprobs = new float[count + 1];
    for (NaiveSoftmax.Candidate c : ranked) {
      float own = new Sampler(97).logprobs(logits, 0, 97, c.id(), count, ids, logprobs, 0);
      assertThat((double) own).isCloseTo(Math.log(c.probability()), within(1e-5));
    }
    for (int rank = 0; rank < count; rank++) {
      assertThat(ids[rank]).isEqualTo(ranked.get(rank).id());
      assertThat((double) logprobs[rank])
          .isCloseTo(Math.log(ranked.get(rank).probability()), within(1e-5));
    }
  }

  @Property(tries = 500)
  void countsEqualTheNaiveModel(
      @ForAll @IntRange(min = 1, max = 5000) int distinct, @ForAll long data) {
    Random random = new Random(data);
    int[] expected = new int[distinct];
    TokenCounts counts = new TokenCounts();
    for (int i = 0; i < 3000; i++) {
      int id = random.nextInt(distinct);
      expected[id]++;
      counts.add(id, 1);
    }
    int[] actual = new int[distinct];
    for (int slot = 0; slot < counts.slots(); slot++) {
      if (counts.idAt(slot) >= 0) {
        actual[counts.idAt(slot)] += counts.countAt(slot);
      }
    }
    assertThat(actual).isEqualTo(expected);
  }

  private static float[] logits(int vocab, int distinct, long data) {
    Random random = new Random(data);
    float[] values = new float[distinct];
    for (int i = 0; i < distinct; i++) {
      values[i] = (float) (random.nextGaussian() * 4);
    }
    float[] logits = new float[vocab];
    for (int i = 0; i < vocab; i++) {
      logits[i] = values[random.nextInt(distinct)];
    }
    return logits;
  }

  /** The naive shares with both borders moved by the tolerance, outwards for a positive sign. */
  private static double[] naive(float[] logits, SamplingParams p, int sign) {
    float topP = p.topP() == 1 ? 1 : (float) clamp(p.topP() + sign * BORDER * 3, 1e-9, 1);
    float minP = p.minP() == 0 ? 0 : (float) clamp(p.minP() - sign * BORDER * 3, 0, 1);
    SamplingParams moved =
        new SamplingParams(p.temperature(), p.topK(), topP, minP, 1, 0, 0, Map.of(), 0, -1);
    double[] shares = new double[logits.length];
    NaiveSoftmax.candidates(logits, moved).forEach(c -> shares[c.id()] = c.probability());
    return shares;
  }

  private static double clamp(double value, double low, double high) {
    return Math.max(low, Math.min(high, value));
  }

  private static boolean[] kept(double[] shares) {
    boolean[] kept = new boolean[shares.length];
    for (int id = 0; id < shares.length; id++) {
      kept[id] = shares[id] > 0;
    }
    return kept;
  }

  private static double[] shares(Sampler sampler, int vocab) {
    double[] shares = new double[vocab];
    Candidates candidates = sampler.candidates();
    for (int i = 0; i < candidates.count(); i++) {
      shares[candidates.id(i)] = candidates.weight(i) / (double) candidates.total();
    }
    return shares;
  }

  private static SamplingState state(SamplingParams params, int vocab) {
    return new SamplingState(params, new int[0], new int[0], vocab);
  }
}
