package io.radixflow.lab.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cuda.CudaBackend;
import io.radixflow.kernels.cuda.CudaModels;
import io.radixflow.kernels.cuda.driver.EmulatedDriver;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.models.ModelConfig;
import io.radixflow.models.Tensor;
import io.radixflow.models.TensorType;
import io.radixflow.models.WeightSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** That the benchmark runs; what it measures on an emulated device means nothing. */
class GpuBenchTest {

  @BeforeEach
  void requireEmulator() {
    EmulatedGpu.requireEmulated();
    EmulatedDriver.reset();
    EmulatedDriver.setMemoryLimit(96 << 20);
  }

  @AfterEach
  void reset() {
    EmulatedDriver.reset();
  }

  @Test
  void ceilingsAreBandwidths() {
    List<GpuFigure> figures = new ArrayList<>();
    new ShapeBench(0, 1e12, TensorType.BF16, KvSpec.Type.BF16, figures::add).ceilings();
    assertThat(figures)
        .extracting(GpuFigure::name)
        .containsExactly("device read", "device copy", "host to device", "device to host");
    assertThat(figures).allSatisfy(figure -> assertThat(figure.seconds()).isPositive());
  }

  @Test
  void everyProductIsMeasuredInGraphsOnWeightsThatNoCacheHolds() {
    EmulatedDriver.reset();
    List<GpuFigure> figures = new ArrayList<>();
    ShapeBench bench = new ShapeBench(0, 1e12, TensorType.BF16, KvSpec.Type.BF16, figures::add);
    EmulatedDriver.setMemoryLimit(96 << 20);
    bench.ceilings();
    EmulatedDriver.reset();
    figures.clear();
    bench.products(CudaModels.qwen3(), GpuMode.DETERMINISTIC, new int[] {1, 9});
    assertThat(figures)
        .extracting(GpuFigure::name)
        .containsExactly(
            "qkv x 1",
            "qkv x 9",
            "o x 1",
            "o x 9",
            "gate and up x 1",
            "gate and up x 9",
            "down x 1",
            "down x 9",
            "head x 1",
            "head x 9");
    assertThat(figures.get(2).bytes())
        .as("72 x 192 weights of o, a row of 192, 72 sums that are added to a row")
        .isEqualTo(2 * (72 * 192 + 192 + 2 * 72));
    assertThat(EmulatedDriver.calls("cuGraphLaunch")).isEqualTo(2 * figures.size());
    EmulatedGpu.assertNothingIsLeaked();
  }

  @Test
  void aShapeWithExpertsInEveryLayerHasNoProductsOfADenseBlock() {
    EmulatedDriver.reset();
    List<GpuFigure> figures = new ArrayList<>();
    ShapeBench bench = new ShapeBench(0, 1e12, TensorType.BF16, KvSpec.Type.BF16, figures::add);
    EmulatedDriver.setMemoryLimit(96 << 20);
    bench.ceilings();
    EmulatedDriver.reset();
    figures.clear();
    bench.products(CudaModels.experts(), GpuMode.DETERMINISTIC, new int[] {1});
    assertThat(figures).extracting(GpuFigure::name).containsExactly("qkv x 1", "o x 1", "head x 1");
  }

  @Test
  void matricesAreSoManyThatTheCacheCannotKeepThem() {
    assertThat(ProductBench.copies(100, 1000, 1 << 20)).isEqualTo(20);
    assertThat(ProductBench.copies(3000, 1000, 1 << 20)).isEqualTo(1);
    assertThat(ProductBench.copies(100, 1000, 500)).as("as far as there is room").isEqualTo(5);
    assertThat(ProductBench.copies(100, 1000, 50)).isEqualTo(1);
  }

  @Test
  void everyKernelBesideTheProductsIsMeasuredAgainstItsFloor() {
    EmulatedDriver.reset();
    List<GpuFigure> figures = new ArrayList<>();
    ShapeBench bench = new ShapeBench(0, 1e12, TensorType.BF16, KvSpec.Type.BF16, figures::add);
    EmulatedDriver.setMemoryLimit(96 << 20);
    bench.ceilings();
    EmulatedDriver.reset();
    figures.clear();
    for (GpuMode mode : GpuMode.values()) {
      bench.kernels(CudaModels.qwen3(), mode, 64, new int[] {1, 3, 1 << 24}, 40);
    }
    assertThat(figures)
        .extracting(GpuFigure::name)
        .startsWith(
            "attention, decode 1",
            "greedy draws, 1",
            "top_k, top_p draws, 1",
            "attention, decode 3",
            "greedy draws, 3",
            "top_k, top_p draws, 3",
            "attention, extend 40",
            "norm of 40",
            "rope and store of 40",
            "4 pages in",
            "4 pages out")
        .hasSize(22);
    assertThat(figures).allSatisfy(figure -> assertThat(figure.ratio()).isPositive());
    assertThat(figures.get(3).bytes())
        .as("keys and values of 3 x 64 tokens in 2 layers of 3 heads of 64 elements")
        .isEqualTo(3 * 64 * 2 * 2 * 3 * 64 * 2);
    EmulatedGpu.assertNothingIsLeaked();
  }

  @Test
  void expertsAndLatentAttentionAreMeasuredAgainstTheirFloors() {
    EmulatedDriver.reset();
    List<GpuFigure> figures = new ArrayList<>();
    ShapeBench bench = new ShapeBench(0, 1e12, TensorType.BF16, KvSpec.Type.BF16, figures::add);
    EmulatedDriver.setMemoryLimit(96 << 20);
    bench.ceilings();
    EmulatedDriver.reset();
    figures.clear();
    bench.kernels(CudaModels.latent(), GpuMode.DETERMINISTIC, 64, new int[] {1, 5}, 40);
    assertThat(figures)
        .extracting(GpuFigure::name)
        .contains("attention, decode 5", "rope and store of 40", "experts of 1", "experts of 5");
    assertThat(figures).allSatisfy(figure -> assertThat(figure.ratio()).isPositive());
    GpuFigure experts = figures.get(figures.size() - 3);
    assertThat(experts.name()).isEqualTo("experts of 5");
    assertThat(experts.bytes()).as("all 6 experts of 3 x 24 x 72").isEqualTo(6 * 2 * 3 * 24 * 72);
    EmulatedGpu.assertNothingIsLeaked();
  }

  @Test
  void attentionOverPagesOf8BitsIsMeasuredAgainstTheirBytes() throws InterruptedException {
    EmulatedDriver.reset();
    List<GpuFigure> figures = new ArrayList<>();
    ShapeBench bench = new ShapeBench(0, 1e12, TensorType.BF16, KvSpec.Type.FP8, figures::add);
    EmulatedDriver.setMemoryLimit(96 << 20);
    bench.ceilings();
    EmulatedDriver.reset();
    figures.clear();
    bench.kernels(CudaModels.qwen3(), GpuMode.DETERMINISTIC, 64, new int[] {3}, 40);
    assertThat(figures.get(0).name()).isEqualTo("attention, decode 3");
    assertThat(figures.get(0).bytes())
        .as("keys and values of 3 x 64 tokens in 2 layers of 3 heads of 64 codes and a scale")
        .isEqualTo(3 * 64 * 2 * 2 * 3 * 65);
    EmulatedGpu.assertNothingIsLeaked();
  }

  @Test
  void weightsOfAStepAreThoseOfTheExpertsThatItsRowsMayChoose() {
    ModelConfig config = CudaModels.experts();
    double expert = 3 * 24 * 72;
    double one = StepWork.weights(config, 1);
    assertThat(StepWork.weights(config, 2) - one).isEqualTo(2 * 2 * expert);
    assertThat(StepWork.weights(config, 3) - one).isEqualTo(2 * 4 * expert);
    assertThat(StepWork.weights(config, 9)).isEqualTo(StepWork.weights(config, 3));
  }

  @Test
  void matricesOfSingleHeadsAreReadWhateverExpertsAreChosen() {
    ModelConfig config = GpuBench.shapes().get("deepseek-v2-lite-6l");
    double heads = 16 * 512.0 * (128 + 128);
    double attention = heads + 2048.0 * (16 * 192 + 576) + 16 * 128 * 2048.0;
    double experts = 3 * 2048.0 * (6 * 1408 + 2816) + 64 * 2048.0;
    assertThat(StepWork.flops(config, 1, 0)).isEqualTo(2 * 6 * (attention + experts));
  }

  @Test
  void stepsOfRandomWeightsRunAtTheEndOfTheirContext() throws InterruptedException {
    EmulatedDriver.reset();
    WeightSource weights = new RandomWeights(CudaModels.qwen3(), TensorType.BF16);
    try (CudaBackend backend = CudaBackend.open(weights, new DeviceOptions("cuda", 0, null), 0)) {
      try (StepBench steps = new StepBench(backend, 3, 64, 64)) {
        assertThat(steps.decodeAhead(3, 64)).isPositive();
        assertThat(steps.prefill(64, 64)).isPositive();
      }
    }
    assertThat(EmulatedDriver.deviceAllocations()).isZero();
  }

  @ParameterizedTest
  @MethodSource("types")
  void weightsOfEachTypeAreSmallNumbersAboutZero(TensorType type) {
    WeightSource weights = new RandomWeights(CudaModels.inBlocks(), type);
    Tensor tensor = weights.tensor("blk.0.attn_q.weight");
    float[] row = new float[tensor.columns()];
    double sum = 0;
    for (int i = 0; i < tensor.rows(); i++) {
      tensor.dequantize(i, row, 0);
      for (float weight : row) {
        assertThat(Math.abs(weight)).isLessThan(0.05f);
        sum += weight;
      }
    }
    assertThat(Math.abs(sum / (tensor.rows() * row.length))).isLessThan(0.002);
  }

  @ParameterizedTest
  @MethodSource("types")
  void productsAndStepsTakeWeightsOfEachType(TensorType type) throws InterruptedException {
    EmulatedDriver.reset();
    List<GpuFigure> figures = new ArrayList<>();
    ShapeBench bench = new ShapeBench(0, 1e12, type, KvSpec.Type.BF16, figures::add);
    EmulatedDriver.setMemoryLimit(96 << 20);
    bench.ceilings();
    EmulatedDriver.reset();
    figures.clear();
    bench.products(CudaModels.inBlocks(), GpuMode.DETERMINISTIC, new int[] {1});
    assertThat(figures).hasSize(5);
    WeightSource weights = new RandomWeights(CudaModels.inBlocks(), type);
    try (CudaBackend backend = CudaBackend.open(weights, new DeviceOptions("cuda", 0, null), 0)) {
      try (StepBench steps = new StepBench(backend, 1, 64, 64)) {
        assertThat(steps.decodeAhead(1, 64)).isPositive();
      }
    }
    EmulatedGpu.assertNothingIsLeaked();
  }

  private static Set<TensorType> types() {
    return RandomWeights.TYPES;
  }

  @Test
  void aShapeThatIsNotWholeBlocksIsRefused() {
    assertThatThrownBy(() -> new RandomWeights(CudaModels.qwen3(), TensorType.Q4_K))
        .hasMessageContaining("no multiple of the 256 of a block of Q4_K");
  }
}
