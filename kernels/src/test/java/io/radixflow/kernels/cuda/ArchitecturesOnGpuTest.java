package io.radixflow.kernels.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cpu.Shapes;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.FeedForward.Experts;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ResourceFolder;
import io.radixflow.models.TinyModels;
import io.radixflow.models.WeightSource;
import io.radixflow.models.file.ModelFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares the features of dense architectures on the GPU with the CPU backend, which other tests
 * compare with transformers.
 */
class ArchitecturesOnGpuTest {

  /** The largest root mean square error of a row of logits, in its standard deviations. */
  private static final double LIMIT = 0.08;

  /** The same over all rows. */
  private static final double MEAN_LIMIT = 0.03;

  static Stream<ModelConfig> shapes() {
    return Stream.of(
        CudaModels.windowed(),
        CudaModels.sinks(),
        CudaModels.parallel(),
        CudaModels.multiplied(),
        CudaModels.latent(),
        CudaModels.wideLatent(),
        CudaModels.uneven(),
        CudaModels.unevenLatent(),
        Shapes.sinks());
  }

  @BeforeEach
  void requireDevice() {
    EmulatedGpu.require();
  }

  @AfterEach
  void nothingIsLeaked() {
    EmulatedGpu.assertNothingIsLeaked();
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void logitsOfRandomModelsAreTheCpusWithinTheErrorOfBf16(ModelConfig config) throws Exception {
    compare(CudaModels.weights(config), Sequences.randomTokens(150, CudaModels.VOCAB, 5));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"cohere2", "deepseek_v3", "gemma2", "gpt_oss-mxfp4", "olmo3", "phi3-longrope"})
  void logitsOfModelFilesAreTheCpusWithinTheErrorOfBf16(String name) throws Exception {
    try (ModelFile file = ModelFile.open(directory(name))) {
      compare(file, Sequences.randomTokens(60, file.config().vocabSize(), 5));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"llama3", "qwen2", "qwen3"})
  void logitsOfTinyModelsAreTheCpusWithinTheErrorOfBf16(String name) throws Exception {
    try (ModelFile file = ModelFile.open(TinyModels.path(name))) {
      compare(file, Sequences.randomTokens(40, file.config().vocabSize(), 5));
    }
  }

  private static void compare(WeightSource weights, int[] tokens) throws InterruptedException {
    int[] pages = Sequences.pages(tokens.length);
    float[][] expected;
    DeviceOptions cpuOptions = new DeviceOptions("cpu", 1, KvSpec.Type.F32);
    try (Backend cpu = CpuBackend.open(weights, cpuOptions);
        KvPool pool = cpu.openPool(pages.length, 16)) {
      expected = Sequences.logits(cpu, tokens, tokens.length, pages);
      assertThat(pool.pages()).isEqualTo(pages.length);
    }
    try (Backend gpu = CudaBackend.open(weights, new DeviceOptions("cuda", 0, null), 0);
        KvPool pool = gpu.openPool(pages.length + 1, 16)) {
      float[][] whole = Sequences.logits(gpu, tokens, tokens.length, pages);
      double[] errors = new double[tokens.length];
      for (int i = 0; i < tokens.length; i++) {
        errors[i] = error(whole[i], expected[i]);
      }
      checkErrors(errors, hasExperts(weights.config()));
      assertThat(Sequences.logits(gpu, tokens, 7, Sequences.pages(tokens.length, 1)))
          .isDeepEqualTo(whole);
      pool.close();
      if (gpu.partedWindow() > 0) {
        compareWithParts(gpu, tokens, whole);
      }
    }
  }

  private static void compareWithParts(Backend gpu, int[] tokens, float[][] whole)
      throws InterruptedException {
    int[] pages = Sequences.pages(tokens.length);
    try (KvPool pool = gpu.openPool(pages.length, MovingWindow.parts(gpu, 11, 16), 16)) {
      MovingWindow window = new MovingWindow(pool, gpu.partedWindow());
      assertThat(window.logits(gpu, tokens, 11, pages)).isDeepEqualTo(whole);
    }
  }

  /**
   * If two experts have nearly the same score, rounding may change the choice and with it the row's
   * logits. So up to half of the rows of a model with experts may exceed the limit.
   */
  private static void checkErrors(double[] errors, boolean experts) {
    double[] sorted = errors.clone();
    Arrays.sort(sorted);
    int rows = experts ? sorted.length / 2 : sorted.length;
    double squares = 0;
    for (int i = 0; i < rows; i++) {
      squares += sorted[i] * sorted[i];
    }
    assertThat(sorted[rows - 1]).as("largest of %s", Arrays.toString(errors)).isLessThan(LIMIT);
    assertThat(Math.sqrt(squares / rows)).isLessThan(MEAN_LIMIT);
  }

  private static boolean hasExperts(ModelConfig config) {
    return config.blocks().stream().anyMatch(block -> block.feedForward() instanceof Experts);
  }

  /** In this mode a tile folds its splits before it leaves what other tiles' splits join. */
  @Test
  void latentAttentionHasTheSameLogitsInFastModeButForRounding() throws Exception {
    WeightSource weights = CudaModels.weights(CudaModels.latent());
    int[] tokens = Sequences.randomTokens(300, CudaModels.VOCAB, 6);
    int[] pages = Sequences.pages(tokens.length);
    List<float[][]> logits = new ArrayList<>();
    for (GpuMode mode : GpuMode.values()) {
      DeviceOptions options = new DeviceOptions("cuda", 0, null, mode, 0);
      try (Backend gpu = CudaBackend.open(weights, options, 0);
          KvPool pool = gpu.openPool(pages.length, 32)) {
        logits.add(Sequences.logits(gpu, tokens, 60, pages));
        assertThat(pool.pageTokens()).isEqualTo(32);
      }
    }
    double squares = 0;
    for (int i = 0; i < tokens.length; i++) {
      squares += Math.pow(error(logits.get(0)[i], logits.get(1)[i]), 2);
    }
    assertThat(Math.sqrt(squares / tokens.length)).isLessThan(MEAN_LIMIT);
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

  @Test
  void whatTheKernelsDoNotKnowIsRefusedByName() {
    DeviceOptions options = new DeviceOptions("cuda", 0, null);
    assertThatThrownBy(() -> CudaBackend.open(CudaModels.weights(Shapes.latent()), options, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("latent attention");
  }

  private static Path directory(String name) throws IOException {
    return ResourceFolder.of("/architectures/" + name);
  }
}
