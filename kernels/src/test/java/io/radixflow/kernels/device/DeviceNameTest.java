package io.radixflow.kernels.device;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DeviceNameTest {

  @Test
  void aGpuMayBeNamedByItsNumber() {
    assertThat(DeviceName.parse("cuda")).isEqualTo(new DeviceName(DeviceName.Kind.CUDA, -1));
    assertThat(DeviceName.parse("cuda:3")).isEqualTo(new DeviceName(DeviceName.Kind.CUDA, 3));
    assertThat(DeviceName.parse("auto").kind()).isEqualTo(DeviceName.Kind.AUTO);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "gpu", "CUDA", "cuda:", "cuda:-1", "cuda:x", "cuda:01", "cuda:9999"})
  void otherNamesAreRefusedWithTheAllowedOnes(String text) {
    assertThat(DeviceName.isValid(text)).isFalse();
    assertThatThrownBy(() -> DeviceName.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("device '" + text + "' is not one of auto, cpu, sim, cuda or cuda:N");
  }
}
