package io.radixflow.kernels.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.cpu.RowErrors;
import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cpu.Shapes;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.ResourceFolder;
import io.radixflow.models.WeightSource;
import io.radixflow.models.file.ModelFile;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares logits of the GPU with keys and values in 8-bit floats and in bf16 with those of the CPU
 * in f32; prints both errors.
 */
class KvFloat8Test {

  /** The largest error of the median row, in the row's standard deviations. */
  private static final double LIMIT = 0.2;

  /** The same against the CPU with 8-bit floats, whose codes differ only by rounding. */
  private static final double ALIKE = 0.12;

  static Stream<ModelConfig> shapes() {
    return Stream.of(
        CudaModels.windowed(),
        CudaModels.sinks(),
        CudaModels.parallel(),
        CudaModels.multiplied(),
        CudaModels.latent(),
        CudaModels.wideLatent(),
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
  void logitsOfRandomModelsAreNearWhateverTheChunks(ModelConfig config) throws Exception {
    compare(config.name(), CudaModels.weights(config), 150);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"cohere2", "deepseek_v3", "gemma2", "gpt_oss-mxfp4", "olmo3", "phi3-longrope"})
  void logitsOfModelFilesAreNearWhateverTheChunks(String name) throws Exception {
    Path directory = ResourceFolder.of("/architectures/" + name);
    try (ModelFile file = ModelFile.open(directory)) {
      compare(name, file, 60);
    }
  }

  private static void compare(String name, WeightSource weights, int count) throws Exception {
    int[] tokens = Sequences.randomTokens(count, weights.config().vocabSize(), 5);
    float[][] expected = onCpu(weights, tokens, KvSpec.Type.F32);
    float[][] got = onGpu(weights, tokens, KvSpec.Type.FP8);
    RowErrors errors = new RowErrors(got, expected);
    RowErrors alike = new RowErrors(got, onCpu(weights, tokens, KvSpec.Type.FP8));
    System.out.printf(
        "%s%n  bf16            %s%n  fp8             %s%n  fp8 on both     %s%n",
        name, new RowErrors(onGpu(weights, tokens, KvSpec.Type.BF16), expected), errors, alike);
    assertThat(errors.median()).isLessThan(LIMIT);
    assertThat(alike.median()).isLessThan(ALIKE).isLessThan(errors.median());
  }

  private static float[][] onCpu(WeightSource weights, int[] tokens, KvSpec.Type type)
      throws InterruptedException {
    int[] pages = Sequences.pages(tokens.length);
    try (Backend cpu = CpuBackend.open(weights, new DeviceOptions("cpu", 1, type));
        KvPool pool = cpu.openPool(pages.length, 16)) {
      assertThat(pool.pageBytes()).isEqualTo(16 * cpu.kvSpec().bytesPerToken());
      return Sequences.logits(cpu, tokens, tokens.length, pages);
    }
  }

  private static float[][] onGpu(WeightSource weights, int[] tokens, KvSpec.Type type)
      throws InterruptedException {
    int[] pages = Sequences.pages(tokens.length);
    try (Backend gpu = CudaBackend.open(weights, new DeviceOptions("cuda", 0, type), 0);
        KvPool pool = gpu.openPool(pages.length + 1, 16)) {
      assertThat(pool.pageBytes()).isEqualTo(16 * gpu.kvSpec().bytesPerToken());
      float[][] whole = Sequences.logits(gpu, tokens, tokens.length, pages);
      assertThat(Sequences.logits(gpu, tokens, 7, Sequences.pages(tokens.length, 1)))
          .isDeepEqualTo(whole);
      return whole;
    }
  }
}
