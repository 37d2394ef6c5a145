package io.radixflow.kernels.cuda;

import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.device.Uninterruptibly;
import io.radixflow.models.Attention;
import io.radixflow.models.Attention.Grouped;
import io.radixflow.models.Attention.Latent;
import io.radixflow.models.Attention.QkNorm;
import io.radixflow.models.Attention.Scores;
import io.radixflow.models.FeedForward.Dense;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.FeedForward.Gating;
import io.radixflow.models.FeedForward.Router;
import io.radixflow.models.FeedForward.Scoring;
import io.radixflow.models.Layer;
import io.radixflow.models.Layer.Norms;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ModelConfig.Norm;
import io.radixflow.models.ModelConfig.Scales;
import io.radixflow.models.Rope;
import io.radixflow.models.WeightSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Runs a small model with random weights on the device and on the CPU. It covers experts, attention
 * with windows, sinks and soft caps, latent attention, and each form of weights.
 */
final class ModelSelfTest {

  private static final long SEED = 20260103;
  private static final int VOCAB = 96;
  private static final int HIDDEN = 256;
  private static final int TOKENS = 12;

  /**
   * The largest allowed root mean square error of a row of logits, in standard deviations of the
   * row.
   */
  private static final double LIMIT = 0.15;

  private ModelSelfTest() {}

  /** Returns the first error of a device, or null if the test passes. */
  static String run(int ordinal) {
    WeightSource weights = weights(SEED);
    return compare(weights, weights, ordinal);
  }

  static WeightSource weights(long seed) {
    return new SelfTestWeights(config(), seed);
  }

  /** Like {@link #run}, but the CPU may have other weights. */
  static String compare(WeightSource device, WeightSource cpu, int ordinal) {
    float[][] expected;
    DeviceOptions options = new DeviceOptions("cpu", 1, KvSpec.Type.F32);
    try (Backend backend = CpuBackend.open(cpu, options)) {
      expected = logits(backend);
    }
    try (Backend backend = CudaBackend.open(device, new DeviceOptions("cuda", 0, null), ordinal)) {
      float[][] logits = logits(backend);
      for (int row = 0; row < TOKENS; row++) {
        double error = error(logits[row], expected[row]);
        if (!(error < LIMIT)) {
          return String.format(
              Locale.ROOT,
              "logits of a small model differ from the CPU's by %.2f standard deviations",
              error);
        }
      }
      return null;
    } catch (IllegalStateException e) {
      return e.getCause() == null ? e.getMessage() : e.getCause().getMessage();
    }
  }

  /** Computes the logits of a sequence. The last token is decoded by itself. */
  private static float[][] logits(Backend backend) {
    float[][] logits = new float[TOKENS][VOCAB];
    try (KvPool pool = backend.openPool(2, backend.pageTokens()[0])) {
      int[] pages = {pool.pages() - 1};
      run(backend, pages, 0, TOKENS - 1, logits);
      run(backend, pages, TOKENS - 1, 1, logits);
    }
    return logits;
  }

  private static void run(Backend backend, int[] pages, int position, int rows, float[][] logits) {
    Batch batch = new Batch();
    batch.beginChunk(pages, pages.length, position);
    for (int row = 0; row < rows; row++) {
      batch.token((position + row) * 7 % VOCAB);
      batch.output(null, Batch.LOGITS);
    }
    StepTicket ticket = backend.submit(batch);
    Uninterruptibly.await(ticket::await);
    if (ticket.failure() != null) {
      throw new IllegalStateException("a step failed", ticket.failure());
    }
    for (int row = 0; row < rows; row++) {
      ticket.logits(row, logits[position + row]);
    }
  }

  private static double error(float[] actual, float[] expected) {
    double mean = 0;
    for (float value : expected) {
      mean += value / expected.length;
    }
    double error = 0;
    double squares = 0;
    for (int id = 0; id < expected.length; id++) {
      error += Math.pow(actual[id] - expected[id], 2);
      squares += Math.pow(expected[id] - mean, 2);
    }
    return Math.sqrt(error / squares);
  }

  private static ModelConfig config() {
    Rope rope = new Rope(10_000, false, null);
    List<Attention> attentions =
        List.of(
            new Grouped(4, 2, 64, rope, false, false, QkNorm.HEAD, 5, scores(5, false)),
            new Latent(4, 0, 32, 32, 8, 32, rope, false, 0.15f),
            new Grouped(2, 1, 128, rope, false, false, QkNorm.NONE, 0, scores(0, true)),
            new Latent(4, 64, 512, 32, 64, 64, rope, false, 0.1f));
    List<Layer> layers = new ArrayList<>();
    for (int i = 0; i < SelfTestWeights.TYPES.size(); i++) {
      // All experts are chosen, so rounding cannot lead to another choice.
      Scoring scoring = i % 2 == 0 ? Scoring.SOFTMAX : Scoring.SIGMOID;
      Router router = new Router(scoring, false, false, 1, 1, 1, true, 1);
      Gating gating = i % 2 == 0 ? Gating.SILU : Gating.GELU_TANH;
      Dense expert = new Dense(HIDDEN, gating, 0, false);
      layers.add(
          new Layer(
              attentions.get(i % attentions.size()),
              new Experts(2, 2, expert, router, i % 3 == 0 ? HIDDEN : 0, i % 3 == 0),
              i % 2 == 0 ? Norms.BEFORE : Norms.BEFORE_AND_AFTER));
    }
    return new ModelConfig(
        "self-test", "self-test", VOCAB, 64, HIDDEN, Norm.rms(1e-5f), Scales.NONE, layers, false);
  }

  private static Scores scores(float cap, boolean sinks) {
    return new Scores(0.1f, cap, sinks, null);
  }
}
