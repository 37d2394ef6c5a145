package io.radixflow.operators.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.sim.SimModel;
import io.radixflow.kernels.sim.SimOptions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A page of 16 tokens has 128 bytes on the simulated device, whose context is 4,096 tokens. */
class PoolSizingTest {
  private static final long PLENTY = 1L << 40;

  private final Backend backend =
      SimModel.open(SimOptions.DEFAULT).openBackend(DeviceOptions.DEFAULT);

  @AfterEach
  void close() {
    backend.close();
  }

  private PoolSizing size(EngineOptions.Builder options, long heap) {
    return PoolSizing.of(backend, options.build(), heap);
  }

  @Test
  void byDefaultFourContextsFitButNoMoreThanAQuarterOfTheHeap() {
    assertThat(size(EngineOptions.builder(), PLENTY)).isEqualTo(new PoolSizing(1024, 16, 4096));
    assertThat(size(EngineOptions.builder(), 4 * 128 * 100))
        .isEqualTo(new PoolSizing(100, 16, 1600));
  }

  @Test
  void aGivenSizeIsTaken() {
    assertThat(size(EngineOptions.builder().kvBytes(1300), PLENTY))
        .isEqualTo(new PoolSizing(10, 16, 160));
    assertThat(size(EngineOptions.builder().kvPages(300).contextLength(50), PLENTY))
        .isEqualTo(new PoolSizing(300, 16, 50));
  }

  @Test
  void thePageSizeIsTheNearestThatTheBackendHas() {
    assertThat(size(EngineOptions.builder().pageTokens(24), PLENTY).pageTokens()).isEqualTo(16);
    assertThat(size(EngineOptions.builder().pageTokens(1000), PLENTY).pageTokens()).isEqualTo(128);
  }

  @Test
  void tooLittleMemoryIsRefusedWithTheNumbers() {
    assertThatThrownBy(() -> size(EngineOptions.builder().kvBytes(100), PLENTY))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("100 bytes")
        .hasMessageContaining("128 bytes");
  }
}
