package io.radixflow.kernels.cuda.gemm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cuda.weights.WeightFormat;
import io.radixflow.kernels.device.GpuMode;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class GemmPlanTest {

  private static final int H200 = 132;

  @ParameterizedTest
  @CsvSource({
    "1, 4096, 4096, 8",
    "8, 1024, 1024, 8",
    "16, 4096, 14336, 8",
    "16, 28672, 4096, 32",
    "64, 28672, 4096, 64",
    "2048, 28672, 4096, 128",
  })
  void tilesAreNoHigherThanTheirRowsNeed(int rows, int features, int depth, int tileRows) {
    GemmKernel kernel = plan(GpuMode.DETERMINISTIC).kernel(rows, features, depth);
    assertThat(kernel.rows()).isEqualTo(tileRows);
  }

  @Test
  void narrowMatricesGetNarrowTilesSoThatMoreProcessorsWork() {
    GemmPlan plan = plan(GpuMode.DETERMINISTIC);
    assertThat(plan.kernel(1, 1024, 1024).features()).isEqualTo(16);
    assertThat(plan.kernel(256, 1024, 3072).features()).isEqualTo(64);
    assertThat(plan.kernel(256, 28672, 4096).features()).isGreaterThan(64);
  }

  @Test
  void deterministicModeTakesOnlyKernelsWithTheOneOrderOfSums() {
    GemmPlan plan = plan(GpuMode.DETERMINISTIC);
    IntStream.of(1, 2, 7, 16, 33, 64, 100, 256, 1000, 4096)
        .forEach(
            rows ->
                IntStream.of(576, 1024, 4096, 12288, 151936)
                    .forEach(
                        features ->
                            assertThat(plan.kernel(rows, features, 4096).deterministic())
                                .isTrue()));
  }

  @ParameterizedTest
  @EnumSource
  void manyRowsTakeWgmmaOnHopperOnly(GpuMode mode) {
    assertThat(plan(mode).kernel(2048, 28672, 4096).hopper()).isTrue();
    GemmPlan ampere = new GemmPlan(mode, 108, false, 163 << 10, 164 << 10);
    assertThat(ampere.kernel(2048, 28672, 4096).hopper()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({"1, 8", "8, 8", "16, 16", "32, 32", "64, 64", "128, 64"})
  void tilesOfQuantisedWeightsHaveTheRowsThatShareThem(int rows, int tileRows) {
    GemmKernel kernel = plan(GpuMode.DETERMINISTIC).kernel(WeightFormat.Q4_K, rows, 28672, 4096);
    assertThat(kernel.rows()).isEqualTo(tileRows);
  }

  @Test
  void quantisedWeightsAreUnpackedForManyRowsOnly() {
    assertThat(GemmPlan.unpacks(WeightFormat.Q4_K, 128)).isFalse();
    assertThat(GemmPlan.unpacks(WeightFormat.Q4_K, 256)).isTrue();
    assertThat(GemmPlan.unpacks(WeightFormat.BF16, 1024)).isFalse();
  }

  @Test
  void fastModeCutsTheDepthOfSmallMatrices() {
    assertThat(plan(GpuMode.FAST).kernel(1, 1024, 3072)).isEqualTo(GemmKernel.FAST_F16_R8);
  }

  @Test
  void everyTileOfDeterministicModeFitsIntoTheSharedMemoryOfSmallDevices() {
    for (GemmKernel kernel : GemmKernel.values()) {
      if (kernel.deterministic() && !kernel.hopper()) {
        assertThat(kernel.sharedBytes()).as("%s", kernel).isLessThanOrEqualTo(99 << 10);
      }
    }
  }

  @Test
  void aDeviceWithTooLittleSharedMemoryIsRefused() {
    GemmPlan plan = new GemmPlan(GpuMode.DETERMINISTIC, 10, false, 32 << 10, 64 << 10);
    assertThatThrownBy(() -> plan.kernel(1, 64, 64))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("shared memory");
  }

  @Test
  void aMatrixWhoseRowsAreNotWholePiecesIsRefused() {
    assertThatThrownBy(() -> plan(GpuMode.FAST).kernel(1, 64, 68)).hasMessageContaining("68");
  }

  private static GemmPlan plan(GpuMode mode) {
    return new GemmPlan(mode, H200, true, 227 << 10, 228 << 10);
  }
}
