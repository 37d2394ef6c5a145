package io.radixflow.kernels.device;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.models.TensorType;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DeviceRoomTest {
  private static final long MB = 1 << 20;

  /** 1,000 million weights of 8 bits. */
  private static final MemoryNeeds NEEDS =
      new MemoryNeeds(
          "m",
          Map.of(TensorType.Q8_0, new MemoryNeeds.Sizes(1000 * MB, 1062 * MB, 1062 * MB)),
          0,
          200 * MB);

  private static DeviceRoom room(long total, long free, long budget) {
    return new DeviceRoom("GPU 7", total * MB, free * MB, budget * MB);
  }

  @Test
  void whatFitsIsAccepted() {
    assertThatCode(() -> room(2000, 1500, 1362).require(NEEDS, 100 * MB))
        .doesNotThrowAnyException();
  }

  @Test
  void aPoolThatIsTooLargeIsRefusedWithTheLargestThatFits() {
    assertThatThrownBy(() -> room(2000, 1900, 1700).require(NEEDS, 500 * MB))
        .isInstanceOf(IllegalArgumentException.class)
        .isNotInstanceOf(OutOfDeviceMemoryException.class)
        .hasMessageContaining("the model m does not fit on GPU 7")
        .hasMessageContaining("weights need 1062 MB (Q8_0 1062 MB), work space 200 MB")
        .hasMessageContaining("the smallest KV pool 500 MB: 1762 MB together")
        .hasMessageContaining("has 2000 MB, of which 1900 MB are free and gpu.memory allows 1700")
        .hasMessageContaining("at most engine.kv-memory 438mb");
  }

  @Test
  void aBudgetThatIsTooSmallIsNamed() {
    assertThatThrownBy(() -> room(2000, 1900, 1000).require(NEEDS, MB))
        .isNotInstanceOf(OutOfDeviceMemoryException.class)
        .hasMessageContaining("Set gpu.memory to at least 1264mb");
  }

  @Test
  void whatOthersHaveTakenMayComeBack() {
    assertThatThrownBy(() -> room(2000, 1000, 900).require(NEEDS, MB))
        .isInstanceOf(OutOfDeviceMemoryException.class)
        .hasMessageContaining("Stop the other processes that use the device");
  }

  @Test
  void forADeviceThatIsTooSmallASmallerQuantisationIsAdvised() {
    assertThatThrownBy(() -> room(1000, 900, 810).require(NEEDS, MB))
        .isNotInstanceOf(OutOfDeviceMemoryException.class)
        .hasMessageContaining("in Q4_0 its weights would take about 625 MB")
        .hasMessageContaining("a GPU with more memory, or device cpu");
  }
}
