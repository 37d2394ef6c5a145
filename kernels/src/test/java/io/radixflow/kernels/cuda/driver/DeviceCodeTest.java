package io.radixflow.kernels.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DeviceCodeTest {

  @TempDir private Path folder;
  private DeviceCode code;

  @BeforeEach
  void write() throws IOException {
    code = DeviceCode.read(Files.write(folder.resolve("code"), new byte[] {1, 2, 3}));
  }

  private static CudaDevice device(int major, int minor) {
    return new CudaDevice(0, "a device", 1 << 30, major, minor, 4, 232448);
  }

  @Test
  void numericsDependOnTheDriverWhereTheDriverCompiles() {
    for (CudaDevice device : new CudaDevice[] {device(10, 0), device(12, 0)}) {
      assertThat(code.numerics(device, 13000)).isNotEqualTo(code.numerics(device, 13010));
    }
  }

  @Test
  void numericsOfMachineCodeDoNotDependOnTheDriver() {
    for (CudaDevice device : new CudaDevice[] {device(8, 0), device(8, 9), device(9, 0)}) {
      assertThat(code.numerics(device, 13000)).isEqualTo(code.numerics(device, 13010));
    }
  }

  @Test
  void numericsDependOnTheCode() throws IOException {
    DeviceCode other = DeviceCode.read(Files.write(folder.resolve("other"), new byte[] {1, 2, 4}));
    assertThat(other.numerics(device(9, 0), 13000))
        .isNotEqualTo(code.numerics(device(9, 0), 13000));
  }
}
