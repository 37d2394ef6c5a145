package io.radixflow.kernels.cuda.step;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cuda.driver.DeviceMemory;
import io.radixflow.kernels.cuda.driver.KernelTest;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.sampling.FixedPointExp;
import io.radixflow.kernels.sampling.Sampler;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.kernels.sampling.TokenMask;
import java.nio.IntBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import jcuda.Pointer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The sampling kernel against the CPU's {@link Sampler}: equal tokens and equal bits. */
class SamplingKernelTest extends KernelTest {
  private static final int OUTPUTS = 24;
  private static final int[] NO_IDS = {};

  /** An output as both sides get it. */
  private record Draw(
      float[] logits,
      SamplingParams params,
      int[] prompt,
      int[] reply,
      boolean pending,
      long[] mask) {

    Draw(float[] logits, SamplingParams params, int[] prompt, int[] reply, boolean pending) {
      this(logits, params, prompt, reply, pending, null);
    }
  }

  private final List<Draw> draws = new ArrayList<>();
  private Random random;
  private int vocab;
  private int[] errors;
  private float[] rowsAfter;
  private IntBuffer results;

  @Override
  @BeforeEach
  public void open() {
    super.open();
    draws.clear();
    random = new Random(7);
  }

  private float[] normal(double deviation) {
    float[] row = new float[vocab];
    for (int i = 0; i < vocab; i++) {
      row[i] = (float) (random.nextGaussian() * deviation);
    }
    return row;
  }

  /** Few distinct values, so that every border has ties. */
  private float[] coarse() {
    float[] row = new float[vocab];
    for (int i = 0; i < vocab; i++) {
      row[i] = random.nextInt(5) == 0 ? Float.NEGATIVE_INFINITY : random.nextInt(-3, 4) * 0.5f;
    }
    row[random.nextInt(vocab)] = -0f;
    return row;
  }

  private SamplingParams params(float temperature, int topK, float topP, float minP) {
    return new SamplingParams(
        temperature, topK, topP, minP, 1, 0, 0, Map.of(), random.nextLong(), -1);
  }

  private int[] ids(int count) {
    return random.ints(count, 0, vocab).toArray();
  }

  /** Runs all draws in one launch; the tokens. */
  private int[] run() {
    StepLayout layout = new StepLayout(Math.max(OUTPUTS, draws.size()), 1, 1, 1 << 16);
    IntBuffer ints = IntBuffer.allocate(layout.ints());
    Batch batch = new Batch();
    int[] ringTokens = new int[2 * layout.maxRows()];
    float[] all = new float[draws.size() * vocab];
    for (int i = 0; i < draws.size(); i++) {
      Draw draw = draws.get(i);
      batch.beginChunk(new int[] {0}, 1, 0);
      if (draw.pending) {
        batch.tokenFrom(new Pending(), i);
        ringTokens[layout.maxRows() + i] = draw.reply[draw.reply.length - 1];
      } else {
        batch.token(0);
      }
      int known = draw.reply.length - (draw.pending ? 1 : 0);
      int[] reply = Arrays.copyOf(draw.reply, known);
      SamplingState state = new SamplingState(draw.params, draw.prompt, reply, vocab);
      batch.output(state, Batch.LOGPROBS, draw.mask);
      System.arraycopy(draw.logits, 0, all, i * vocab, vocab);
    }
    StepPlan plan = new StepPlan(layout, vocab, 16);
    plan.take(ints, batch, 1, 16, (ticket, output) -> layout.maxRows() + output, 0);
    DeviceMemory logits = device(all);
    DeviceMemory ring = device(ringTokens);
    StepResults onDevice = closing(StepResults.allocate(context, layout.maxRows()));
    try (SamplingKernel kernel =
        new SamplingKernel(
            context,
            module,
            layout,
            device(ints.array()),
            logits,
            ring,
            onDevice,
            vocab,
            draws.size())) {
      kernel.sample(0, draws.size(), stream);
      int[] tokens = ints(ring, draws.size());
      rowsAfter = floats(logits, all.length);
      results = IntBuffer.wrap(ints(onDevice.heads(), 8 * draws.size()));
      errors = new int[draws.size()];
      for (int i = 0; i < errors.length; i++) {
        errors[i] = results.get(8 * i + 1);
      }
      return tokens;
    }
  }

  private int expected(Draw draw) {
    SamplingState state = new SamplingState(draw.params, draw.prompt, draw.reply, vocab);
    return new Sampler(vocab).sample(draw.logits, 0, vocab, state, draw.mask);
  }

  private void assertEqualToTheCpu() {
    int[] tokens = run();
    for (int i = 0; i < tokens.length; i++) {
      Draw draw = draws.get(i);
      assertThat(errors[i]).isZero();
      assertThat(tokens[i]).as("output %d with %s", i, draw.params).isEqualTo(expected(draw));
      for (int id = 0; id < vocab; id++) {
        assertThat(Float.floatToRawIntBits(rowsAfter[i * vocab + id]))
            .as("logit %d of output %d afterwards", id, i)
            .isEqualTo(Float.floatToRawIntBits(draw.logits[id]));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 31, 257, 1500, 5003})
  void tokensOfEveryFilterAreTheCpus(int size) {
    vocab = size;
    int[] ks = {0, 1, 2, 7, 50, size - 1, size};
    float[] ps = {1, 0.01f, 0.3f, 0.9f, 0.999f};
    for (int i = 0; i < OUTPUTS; i++) {
      SamplingParams params =
          params(
              i % 6 == 0 ? 0 : 0.1f + random.nextFloat() * 2,
              Math.max(0, ks[random.nextInt(ks.length)]),
              ps[random.nextInt(ps.length)],
              i % 3 == 1 ? 0.05f : 0);
      float[] row = i % 2 == 0 ? normal(0.1 + i / 4.0) : coarse();
      draws.add(new Draw(row, params, NO_IDS, NO_IDS, false));
    }
    assertEqualToTheCpu();
  }

  @Test
  void bordersInABandOfMoreTokensThanAreListedAreFound() {
    vocab = 20_011;
    for (int i = 0; i < 8; i++) {
      float[] row = i % 2 == 0 ? new float[vocab] : normal(0.0005);
      SamplingParams params = params(1, i < 4 ? 12_000 + i : 0, i < 2 ? 1 : 0.7f, 0);
      draws.add(new Draw(row, params, NO_IDS, NO_IDS, false));
    }
    assertEqualToTheCpu();
  }

  @Test
  void topKAndTopPTogetherAreTheCpusInEveryBand() {
    vocab = 8300;
    for (int i = 0; i < OUTPUTS; i++) {
      SamplingParams params =
          params(0.3f + i * 0.1f, 1 << i % 13, 0.2f + 0.79f * random.nextFloat(), 0);
      draws.add(new Draw(normal(3), params, NO_IDS, NO_IDS, false));
    }
    assertEqualToTheCpu();
  }

  @Test
  void onTiesAtTheBorderOfTopPTheLowerIdsStay() {
    vocab = 700;
    float[] flat = new float[vocab];
    for (int i = 0; i < OUTPUTS; i++) {
      draws.add(new Draw(flat, params(1, 0, 0.05f + i * 0.04f, 0), NO_IDS, NO_IDS, false));
    }
    assertEqualToTheCpu();
  }

  @ParameterizedTest
  @ValueSource(ints = {611, 9001})
  void penaltiesAndBiasesAreTheCpusAlsoForATokenThatTheHostDoesNotKnowYet(int size) {
    vocab = size;
    for (int i = 0; i < OUTPUTS; i++) {
      Map<Integer, Float> bias = new HashMap<>();
      for (int id : ids(i % 4)) {
        bias.put(id, (float) random.nextInt(-100, 100));
      }
      int[] prompt = ids(40);
      int[] reply = ids(30);
      if (i % 3 == 0) {
        reply[29] = i % 2 == 0 ? reply[3] : prompt[5];
      }
      SamplingParams params =
          new SamplingParams(
              i % 5 == 0 ? 0 : 0.8f,
              i % 2 == 0 ? 20 : 0,
              0.95f,
              0,
              i % 4 == 1 ? 1 : 1.3f,
              i % 3 == 1 ? 0.7f : 0,
              i % 3 == 2 ? 0.4f : 0.1f,
              bias,
              random.nextLong(),
              2);
      draws.add(new Draw(normal(2), params, prompt, reply, i % 2 == 1));
    }
    assertEqualToTheCpu();
  }

  /** Each token with probability one in {@code rarity}; at least one that is not excluded. */
  private long[] mask(float[] logits, int rarity) {
    long[] mask = new long[TokenMask.words(vocab)];
    for (int id = 0; id < vocab; id++) {
      if (random.nextInt(rarity) == 0) {
        mask[id >> 6] |= 1L << id;
      }
    }
    int sure = Sampler.argMax(logits, 0, vocab);
    mask[sure >> 6] |= (long) random.nextInt(2) << sure;
    int other = random.nextInt(vocab);
    int finite = Float.isFinite(logits[other]) ? other : sure;
    mask[finite >> 6] |= 1L << finite;
    return mask;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 64, 333, 4999})
  void aMasksTokensAloneAreDrawnAndTheyAreTheCpus(int size) {
    vocab = size;
    for (int i = 0; i < OUTPUTS; i++) {
      SamplingParams params =
          new SamplingParams(
              i % 4 == 0 ? 0 : 0.9f,
              i % 3 == 0 ? 5 : 0,
              i % 2 == 0 ? 0.9f : 1,
              i % 5 == 0 ? 0.1f : 0,
              i % 3 == 1 ? 1.2f : 1,
              0,
              i % 3 == 2 ? 0.5f : 0,
              Map.of(random.nextInt(vocab), 50f),
              random.nextLong(),
              3);
      float[] row = i % 2 == 0 ? normal(2) : coarse();
      long[] mask = mask(row, i % 7 == 0 ? 1 : 1 + i * 3);
      draws.add(new Draw(row, params, ids(4), ids(4), i % 2 == 1, mask));
    }
    assertEqualToTheCpu();
    for (int i = 0; i < OUTPUTS; i++) {
      assertThat(TokenMask.allows(draws.get(i).mask, results.get(8 * i))).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {900, 12_500})
  void logProbabilitiesAreTheCpusToTheBitAndDoNotSeeAMask(int size) {
    vocab = size;
    for (int i = 0; i < OUTPUTS; i++) {
      SamplingParams params =
          new SamplingParams(0.9f, 0, 0.9f, 0, 1.2f, 0, 0, Map.of(3, 5f), i, i % 21);
      float[] row = i % 2 == 0 ? normal(3) : coarse();
      long[] mask = i % 3 == 0 ? mask(row, 10) : null;
      draws.add(new Draw(row, params, ids(9), ids(5), false, mask));
    }
    int[] tokens = run();
    Sampler sampler = new Sampler(vocab);
    for (int i = 0; i < OUTPUTS; i++) {
      int count = i % 21;
      int[] ids = new int[20];
      float[] values = new float[20];
      float own = sampler.logprobs(draws.get(i).logits, 0, vocab, tokens[i], count, ids, values, 0);
      FixedPointExp exp = new FixedPointExp(vocab);
      float top = Float.intBitsToFloat(results.get(8 * i + 3));
      long mass = results.get(8 * i + 4) & 0xffffffffL | (long) results.get(8 * i + 5) << 32;
      float logit = Float.intBitsToFloat(results.get(8 * i + 6));
      assertThat((float) (logit - exp.normaliser(top, mass))).isEqualTo(own);
      assertThat(results.get(8 * i + 7)).isEqualTo(count);
    }
  }

  @Test
  void aRowFromWhichNothingCanBeDrawnFailsWithItsReason() {
    vocab = 300;
    float[] nan = normal(1);
    nan[77] = Float.NaN;
    nan[200] = Float.NaN;
    float[] infinite = normal(1);
    infinite[5] = Float.POSITIVE_INFINITY;
    float[] nothing = new float[vocab];
    Arrays.fill(nothing, Float.NEGATIVE_INFINITY);
    for (float[] row : List.of(nan, nothing, infinite, normal(1))) {
      draws.add(new Draw(row, params(0.5f, 3, 0.5f, 0), ids(2), ids(2), false));
    }
    draws.add(new Draw(normal(1), params(1, 0, 1, 0), NO_IDS, NO_IDS, false, TokenMask.of(vocab)));
    long[] outside = TokenMask.of(vocab);
    Arrays.fill(outside, vocab / 64, outside.length, -1L << vocab);
    draws.add(new Draw(normal(1), params(0, 0, 1, 0), NO_IDS, NO_IDS, false, outside));
    draws.add(new Draw(nan, params(1, 0, 1, 0), NO_IDS, NO_IDS, false, TokenMask.of(vocab, 1)));
    int[] tokens = run();
    assertThat(errors).containsExactly(1, 2, 3, 0, 4, 4, 1);
    assertThat(results.get(2)).as("the first token that is no number").isEqualTo(77);
    assertThat(tokens).startsWith(0, 0, 0);
    assertThat(tokens[3]).isEqualTo(expected(draws.get(3)));
  }

  @Test
  void outputsWithoutSamplingAreLeftUnchanged() {
    vocab = 10;
    StepLayout layout = new StepLayout(4, 1, 1, 100);
    IntBuffer ints = IntBuffer.allocate(layout.ints());
    Batch batch = new Batch();
    batch.beginChunk(new int[] {0}, 1, 0);
    batch.token(0);
    batch.output(null, Batch.LOGITS);
    new StepPlan(layout, vocab, 16).take(ints, batch, 1, 16, (ticket, output) -> -1, 2);
    DeviceMemory ring = device(9, 9, 9, 9);
    StepResults onDevice = closing(StepResults.allocate(context, 4));
    DeviceMemory logits = device(new float[4 * vocab]);
    try (SamplingKernel kernel =
        new SamplingKernel(
            context, module, layout, device(ints.array()), logits, ring, onDevice, vocab, 4)) {
      kernel.sample(0, 4, stream);
      int[] tokens = new int[4];
      stream.synchronize();
      ring.read(Pointer.to(tokens), 16);
      assertThat(tokens).containsOnly(9);
    }
  }
}
