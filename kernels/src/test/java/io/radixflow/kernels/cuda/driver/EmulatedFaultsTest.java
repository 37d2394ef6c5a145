package io.radixflow.kernels.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import jcuda.driver.CUresult;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An illegal access of a kernel ends in an error that says where; the process survives. */
class EmulatedFaultsTest extends ProbeTest {

  @Test
  void threadsThatWaitAtDifferentBarriersAreFound() {
    CudaException failure =
        failure(module.launch("probe_divergent_barrier").pointer(allocate(8)).block(64));
    assertThat(failure.result()).isEqualTo(CUresult.CUDA_ERROR_LAUNCH_FAILED);
    assertThat(failure)
        .hasMessageContaining("probe_divergent_barrier")
        .hasMessageContaining("at different places: the first at probes.cu:");
  }

  @Test
  void lanesThatNeverComeAreFound() {
    CudaException failure =
        failure(module.launch("probe_missing_lanes").pointer(allocate(128)).block(32));
    assertThat(failure.result()).isEqualTo(CUresult.CUDA_ERROR_LAUNCH_FAILED);
    assertThat(failure).hasMessageContaining("of 32 threads 16 wait for others that never come");
  }

  @Test
  void aShuffleFromALaneOutsideTheMaskIsFound() {
    CudaException failure =
        failure(module.launch("probe_foreign_lane").pointer(allocate(128)).block(32));
    assertThat(failure).hasMessageContaining("shuffle from lane 20, not in the mask");
  }

  @ParameterizedTest
  @CsvSource({"100", "64", "10000", "-100", "-10000"})
  void aWriteOutsideAnAllocationIsFound(long index) {
    DeviceMemory memory = allocate(100 * Float.BYTES);
    CudaException failure =
        failure(module.launch("probe_write").pointer(memory, index < 0 ? 0 : 144).wide(index));
    assertThat(failure.result()).isEqualTo(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS);
    assertThat(failure.isContextLost()).isTrue();
  }

  @Test
  void aWriteIntoThePaddingOfAnAllocationIsFound() {
    CudaException failure =
        failure(module.launch("probe_write").pointer(allocate(100 * Float.BYTES)).wide(100));
    assertThat(failure)
        .hasMessageContaining("byte 0 behind an allocation of 400 bytes was written");
  }

  @Test
  void aReadOutsideAnAllocationIsFound() {
    CudaException failure =
        failure(module.launch("probe_read").pointer(allocate(256)).wide(64).pointer(allocate(4)));
    assertThat(failure.result()).isEqualTo(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS);
    assertThat(failure).hasMessageContaining("is outside every allocation");
  }

  @Test
  void memoryThatWasFreedIsForbidden() {
    DeviceMemory memory = context.allocate(256, "a test");
    KernelLaunch launch = module.launch("probe_fill").pointer(memory).integer(64).real(1).block(64);
    memory.close();
    assertThatThrownBy(() -> launch.on(stream))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("a pointer is outside every allocation");
  }

  @ParameterizedTest
  @CsvSource({"256", "2000", "-70000"})
  void aWriteOutsideSharedMemoryIsFound(int index) {
    CudaException failure =
        failure(module.launch("probe_shared_write").integer(index).shared(1024));
    assertThat(failure.result()).isEqualTo(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS);
  }

  @Test
  void aCopyFromAnUnalignedAddressIsFound() {
    CudaException failure =
        failure(module.launch("probe_misaligned").pointer(allocate(256)).shared(16));
    assertThat(failure.result()).isEqualTo(CUresult.CUDA_ERROR_MISALIGNED_ADDRESS);
    assertThat(failure).hasMessageContaining("probes.cu:");
  }

  @Test
  void aThreadThatNeedsTooMuchStackIsFound() {
    CudaException failure = failure(module.launch("probe_deep").pointer(device(1_000_000, 0)));
    assertThat(failure.result()).isEqualTo(CUresult.CUDA_ERROR_ILLEGAL_ADDRESS);
  }

  @Test
  void aBlockLargerThanTheKernelsBoundsIsFound() {
    CudaException failure =
        failure(module.launch("probe_bounded").pointer(allocate(512)).block(96));
    assertThat(failure).hasMessageContaining("compiled for 64 threads a block");
  }

  @Test
  void aLaunchWithTooFewOrTooManyParametersIsRefused() {
    DeviceMemory memory = allocate(256);
    assertThatThrownBy(() -> module.launch("probe_fill").pointer(memory).integer(1).on(stream))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("cuLaunchKernel of probe_fill with a grid of 1 x 1 x 1")
        .hasMessageContaining("more parameters than the launch");
    assertThatThrownBy(
            () ->
                module
                    .launch("probe_fill")
                    .pointer(memory)
                    .integer(1)
                    .real(1)
                    .integer(1)
                    .on(stream))
        .hasMessageContaining("fewer parameters than the launch");
  }

  @Test
  void anIntegerInPlaceOfAPointerIsRefused() {
    assertThatThrownBy(() -> module.launch("probe_race").integer(0).on(stream))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("a pointer is outside every allocation");
  }

  @Test
  void moreSharedMemoryThanABlockHasIsRefused() {
    assertThatThrownBy(() -> module.launch("probe_shared_write").integer(0).shared(300 << 10))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("probe_shared_write with 307200 bytes of shared memory");
  }

  @Test
  void anUnknownKernelIsRefusedByName() {
    assertThatThrownBy(() -> module.launch("no_such_kernel"))
        .isInstanceOf(CudaException.class)
        .hasMessageContaining("no_such_kernel");
  }

  @Test
  void afterAFaultOnlyANewContextWorks() {
    failure(module.launch("probe_misaligned").pointer(allocate(256)).shared(16));
    assertThatThrownBy(() -> context.allocate(16, "anything"))
        .isInstanceOfSatisfying(CudaException.class, e -> assertThat(e.isContextLost()).isTrue());
    try (CudaContext fresh = CudaContext.open(0);
        DeviceMemory memory = fresh.allocate(16, "a test");
        CudaStream queue = fresh.newStream("fresh")) {
      fresh.load(code()).launch("probe_fill").pointer(memory).integer(4).real(2).block(4).on(queue);
      queue.synchronize();
    }
    context.bind();
  }

  @Test
  void theJavaVirtualMachineStillHandlesItsOwnSignals() {
    failure(module.launch("probe_deep").pointer(device(1_000_000, 0)));
    int caught = 0;
    for (int i = 0; i < 20_000; i++) {
      int[] nothing = i % 2 == 0 ? null : new int[1];
      try {
        caught += nothing.length - nothing.length;
      } catch (NullPointerException e) {
        caught++;
      }
    }
    assertThat(caught).isEqualTo(10_000);
  }
}
