package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.MemoryNeeds;
import io.radixflow.kernels.device.MemoryStatus;
import io.radixflow.kernels.device.PoolRequest;
import io.radixflow.kernels.model.ForwardGraph;
import io.radixflow.kernels.model.ModelProgress;
import io.radixflow.kernels.model.Tensor;
import io.radixflow.kernels.model.TensorType;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class CpuMemoryNeedsTest {

  @ParameterizedTest
  @EnumSource(
      value = TensorType.class,
      names = {"F32", "BF16", "Q8_0", "Q4_1", "Q4_0", "Q5_0", "FP8", "INT4"})
  void theBytesKnownBeforeLoadingAreThoseLoaded(TensorType type) {
    SyntheticWeights weights = SyntheticWeights.of(Shapes.llama(), type);
    WorkerTeam team = new WorkerTeam(1);
    CpuWeightLoader loader = new CpuWeightLoader(weights, team, ModelProgress.NONE);
    new ForwardGraph<>(weights.config(), loader);

    MemoryNeeds needs = CpuBackend.memoryNeeds(weights);

    assertThat(needs.weightBytes()).isBetween(loader.bytes() * 98 / 100, loader.bytes());
    assertThat(needs.weights()).containsKey(type);
    assertThat(needs.fileBytes()).isPositive();
    assertThat(needs.workBytes()).isPositive();
  }

  @ParameterizedTest
  @CsvSource({
    "Q2_K, 3.25", "Q3_K, 3.625", "Q4_K, 4.75", "Q5_K, 5.75", "Q6_K, 8.625", "Q4_0, 4.5", "Q4_1, 5",
    "Q5_0, 8.5", "Q5_1, 6", "Q8_0, 8.5", "IQ4_NL, 8.5", "IQ4_XS, 8.375", "MXFP4, 9", "INT4, 6",
    "INT8, 9", "FP8, 9", "F16, 16", "BF16, 16", "F32, 32"
  })
  void aWeightTakesTheBitsThatTheTableOfFormatsSays(TensorType type, double bits) {
    Tensor tensor = new SyntheticTensor("a", type, 64, 512, 1f, 0f, 1);
    try (WorkerTeam team = new WorkerTeam(1)) {
      long bytes = new PanelLoader(team).load(List.of(tensor)).bytes();
      assertThat(bytes * 8.0 / (64 * 512)).isEqualTo(bits);
      assertThat(PanelLoader.plan(List.of(tensor)).get(0).bytes()).isEqualTo(bytes);
    }
  }

  @Test
  void aPoolThatDoesNotFitIsRefusedBeforeWeightsAreRead() {
    SyntheticWeights weights = SyntheticWeights.of(Shapes.llama(), TensorType.Q4_1);
    MemoryStatus memory = new MemoryStatus(4L << 30, 0, 1L << 30, 1L << 30, 0, 0);
    PoolRequest pool = new PoolRequest(0, 2L << 30, 1, 0);

    assertThatThrownBy(
            () ->
                CpuBackend.open(
                    weights,
                    new DeviceOptions("cpu", 1, KvSpec.Type.F32),
                    pool,
                    () -> memory,
                    ModelProgress.NONE))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("the KV pool 2048 MB")
        .hasMessageContaining("engine.kv-memory");
  }

  @Test
  void aPoolOfPagesIsCountedByTheirBytes() {
    KvSpec spec = KvSpec.of(Shapes.llama(), KvSpec.Type.F32);

    assertThat(new PoolRequest(10, 0, 1, 0).poolBytes(spec, 16))
        .isEqualTo(160 * spec.bytesPerToken());
    assertThat(PoolRequest.NONE.poolBytes(spec, 16)).isEqualTo(16 * spec.bytesPerToken());
  }
}
