package io.radixflow.kernels.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import jcuda.Pointer;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Memory, devices and injected faults of the emulated driver, through the classes that use it. */
class EmulatedDriverTest extends ProbeTest {

  @Test
  void memoryEndsAtItsLimit() {
    EmulatedDriver.setMemoryLimit(1000);
    allocate(600);
    assertThat(context.freeMemory()).isEqualTo(400);
    assertThatThrownBy(() -> context.allocate(401, "the KV pool"))
        .isInstanceOfSatisfying(
            CudaException.class,
            e -> {
              assertThat(e.isOutOfMemory()).isTrue();
              assertThat(e.isContextLost()).isFalse();
            })
        .hasMessageContaining("cuMemAlloc of 401 bytes for the KV pool failed")
        .hasMessageContaining("Lower the device memory budget");
    allocate(400);
    assertThat(context.freeMemory()).isZero();
  }

  @Test
  void aLargeAllocationIsPoisonedAndTakesNoMemoryUntilItIsUsed() {
    EmulatedDriver.setMemoryLimit(1L << 40);
    DeviceMemory large = allocate(64L << 30);
    float[] read = new float[3];
    large.slice(large.bytes() - 12, 12).read(Pointer.to(read), 12);
    assertThat(read).containsOnly(Float.NaN);
    large.slice(33L << 30, 12).read(Pointer.to(read), 12);
    assertThat(read).containsOnly(Float.NaN);
  }

  @Test
  void aCopyBeyondAnAllocationIsRefusedByItsClassAndByTheDriver() {
    DeviceMemory memory = allocate(16);
    assertThatThrownBy(() -> memory.write(Pointer.to(new float[5]), 20))
        .isInstanceOf(IndexOutOfBoundsException.class);
    DeviceMemory beyond = DeviceMemory.at(context, memory.address(), 20);
    assertThatThrownBy(() -> beyond.write(Pointer.to(new float[5]), 20))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("CUDA_ERROR_INVALID_VALUE");
  }

  @Test
  void closingAContextFreesWhatItHeld() {
    long before = EmulatedDriver.pinnedAllocations();
    CudaContext other = CudaContext.open(0);
    other.allocate(100, "left behind");
    other.allocatePinned(100, "left behind");
    assertThat(EmulatedDriver.deviceAllocations()).isEqualTo(1);
    assertThat(EmulatedDriver.pinnedAllocations()).isEqualTo(before + 1);
    other.close();
    assertThat(EmulatedDriver.deviceAllocations()).isZero();
    assertThat(EmulatedDriver.pinnedAllocations()).isEqualTo(before);
    context.bind();
  }

  @Test
  void theNthCallFailsWithTheGivenResult() {
    EmulatedDriver.failCall("cuMemAlloc", 2, CUresult.CUDA_ERROR_OUT_OF_MEMORY);
    allocate(16);
    assertThatThrownBy(() -> context.allocate(16, "weights"))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("16 bytes for weights");
    allocate(16);
    assertThat(EmulatedDriver.calls("cuMemAlloc")).isEqualTo(3);
  }

  @Test
  void theNthLaunchOfAKernelFailsWhileItRuns() {
    EmulatedDriver.failLaunch("probe_fill", 2, CUresult.CUDA_ERROR_LAUNCH_FAILED);
    KernelLaunch fill =
        module.launch("probe_fill").pointer(allocate(16)).integer(4).real(1).block(4);
    fill.on(stream);
    stream.synchronize();
    CudaException failure = failure(fill);
    assertThat(failure.result()).isEqualTo(CUresult.CUDA_ERROR_LAUNCH_FAILED);
    assertThat(failure).hasMessageContaining("-Dgpu.synchronous=true");
    assertThat(failure.isContextLost()).isTrue();
  }

  @Test
  void aLostContextFailsEveryCallAndCloses() {
    DeviceMemory memory = allocate(16);
    EmulatedDriver.loseContexts(CUresult.CUDA_ERROR_ECC_UNCORRECTABLE);
    assertThatThrownBy(() -> memory.write(Pointer.to(new float[4]), 16))
        .isInstanceOfSatisfying(CudaException.class, e -> assertThat(e.isContextLost()).isTrue());
    assertThatThrownBy(() -> context.synchronize()).isInstanceOf(CudaException.class);
    assertThatCode(context::close).doesNotThrowAnyException();
    assertThat(EmulatedDriver.deviceAllocations()).isZero();
  }

  @Test
  void deviceCodeForNewerDevicesIsRefused() {
    EmulatedDriver.setComputeCapability(7, 5);
    try (CudaContext old = CudaContext.open(0)) {
      assertThat(old.device().problem()).contains("the kernels need 8.0");
      assertThatThrownBy(() -> old.load(code()))
          .isInstanceOf(CudaException.class)
          .hasMessageContaining("for compute capability 7.5")
          .hasMessageContaining("needs compute capability 8.0 or newer");
    }
    context.bind();
  }

  @Test
  void aFileThatIsNoDeviceCodeIsRefused(@TempDir Path folder) throws Exception {
    Path file = Files.write(folder.resolve("kernels.bin"), new byte[1000]);
    assertThatThrownBy(() -> context.load(DeviceCode.read(file)))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("kernels.bin")
        .hasMessageContaining("neither device code nor a host build of it");
  }

  @Test
  void deviceCodeIsTakenForTheHostBuildBesideTheDriver(@TempDir Path folder) throws Exception {
    byte[] image = new byte[100];
    ByteBuffer.wrap(image).order(ByteOrder.LITTLE_ENDIAN).putInt(0xba55ed50);
    Path file = Files.write(folder.resolve("radixflow.fatbin"), image);
    assertThat(context.load(DeviceCode.read(file)).launch("rf_embed")).isNotNull();
  }

  @Test
  void devicesAreDescribed() {
    EmulatedDriver.setDevices(2);
    assertThat(CudaDriver.load().version()).isEqualTo(13000);
    assertThat(CudaDriver.load().devices())
        .extracting(CudaDevice::ordinal, CudaDevice::name, CudaDevice::totalMemory)
        .containsExactly(
            tuple(0, "Emulated CUDA device", 1L << 30), tuple(1, "Emulated CUDA device", 1L << 30));
    assertThatThrownBy(() -> CudaContext.open(2))
        .isInstanceOf(CudaUnavailableException.class)
        .hasMessageContaining("There is no CUDA device 2: the driver reports 2.");
  }
}
