package io.radixflow.kernels.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.device.GpuFigure;
import io.radixflow.kernels.model.RandomWeights;
import io.radixflow.kernels.model.WeightSource;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** That the benchmark runs; what it measures on an emulated device means nothing. */
class CudaBenchTest {

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
    new CudaBench(0, 1e12, figures::add).ceilings();
    assertThat(figures)
        .extracting(GpuFigure::name)
        .containsExactly("device copy", "host to device", "device to host");
    assertThat(figures).allSatisfy(figure -> assertThat(figure.seconds()).isPositive());
  }

  @Test
  void stepsOfRandomWeightsRunAtTheEndOfTheirContext() throws InterruptedException {
    EmulatedDriver.reset();
    WeightSource weights = RandomWeights.of(CudaModels.qwen3());
    try (CudaBackend backend = CudaBackend.open(weights, new DeviceOptions("cuda", 0, null), 0)) {
      try (StepBench steps = new StepBench(backend, 3, 64)) {
        assertThat(steps.decode(3)).isPositive();
        assertThat(steps.prefill()).isPositive();
      }
    }
    assertThat(EmulatedDriver.deviceAllocations()).isZero();
  }
}
