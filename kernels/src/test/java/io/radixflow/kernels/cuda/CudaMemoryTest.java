package io.radixflow.kernels.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cuda.driver.EmulatedDriver;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.MemoryNeeds;
import io.radixflow.kernels.device.PoolRequest;
import io.radixflow.models.ModelConfig;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The GPU memory that a model needs, and the errors if there is too little. */
class CudaMemoryTest {

  private static final DeviceOptions OPTIONS = new DeviceOptions("cuda", 0, null);

  static ModelConfig[] models() {
    return new ModelConfig[] {
      CudaModels.llama(),
      CudaModels.windowed(),
      CudaModels.latent(),
      CudaModels.sharedExpert(),
      CudaModels.uneven(),
      CudaModels.unevenLatent()
    };
  }

  @BeforeEach
  void requireEmulator() {
    EmulatedGpu.requireEmulated();
    EmulatedDriver.reset();
  }

  @AfterEach
  void nothingIsLeaked() {
    EmulatedGpu.assertNothingIsLeaked();
  }

  private static CudaBackend open() {
    return CudaBackend.open(CudaModels.weights(CudaModels.llama()), OPTIONS, 0);
  }

  @ParameterizedTest
  @MethodSource("models")
  void aModelTakesWhatIsAddedUpBeforeItIsLoaded(ModelConfig config) {
    MemoryNeeds needs = CudaBackend.memoryNeeds(CudaModels.weights(config));
    try (CudaBackend backend = CudaBackend.open(CudaModels.weights(config), OPTIONS, 0)) {
      assertThat(EmulatedDriver.memoryUsed()).isEqualTo(needs.weightBytes() + needs.workBytes());
      assertThat(backend.weightBytes()).isEqualTo(needs.weightBytes());
    }
  }

  @Test
  void aModelThatDoesNotFitIsRefusedBeforeAnythingIsLoaded() {
    MemoryNeeds needs = CudaBackend.memoryNeeds(CudaModels.weights(CudaModels.llama()));
    EmulatedDriver.setMemoryLimit(needs.workBytes());
    assertThatThrownBy(CudaMemoryTest::open)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the model llama does not fit on")
        .hasMessageContaining("weights need 1 MB (BF16 1 MB, F32 1 MB)");
    EmulatedGpu.assertNothingIsLeaked();
  }

  @Test
  void aPoolThatWillNotFitIsRefusedBeforeTheModelIsLoaded() {
    PoolRequest pool = new PoolRequest(0, 1L << 30, 1, 0);
    assertThatThrownBy(
            () -> CudaBackend.open(CudaModels.weights(CudaModels.llama()), OPTIONS, pool, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the smallest KV pool 1024 MB")
        .hasMessageContaining("A smaller KV pool fits: at most engine.kv-memory");
  }

  @Test
  void aPoolThatTheDeviceHasNoRoomForIsRefusedWithTheNumbers() {
    try (CudaBackend backend = open()) {
      EmulatedDriver.setMemoryLimit(EmulatedDriver.memoryUsed() + (1 << 20));
      assertThatThrownBy(() -> backend.openPool(10_000, 16))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageMatching(
              "a KV pool of 10000 pages needs \\d+ MB; the device has \\d MB left;.*");
    }
  }

  @Test
  void moreMemoryThanIsFreeIsRefusedWithTheNumbers() {
    DeviceOptions greedy = new DeviceOptions("cuda", 0, null, OPTIONS.gpuMode(), 1L << 40);
    assertThatThrownBy(() -> CudaBackend.open(CudaModels.weights(CudaModels.llama()), greedy, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("gpu.memory is 1048576 MB");
  }

  @Test
  void thePoolGetsTheBudgetLessWeightsAndBuffers() {
    DeviceOptions budget = new DeviceOptions("cuda", 0, null, OPTIONS.gpuMode(), 256L << 20);
    try (CudaBackend backend =
        CudaBackend.open(CudaModels.weights(CudaModels.llama()), budget, 0)) {
      assertThat(backend.poolBytes()).isBetween(1L << 20, (256L << 20) - backend.weightBytes());
    }
  }
}
