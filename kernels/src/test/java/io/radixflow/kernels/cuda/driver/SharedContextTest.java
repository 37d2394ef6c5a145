package io.radixflow.kernels.cuda.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cuda.CudaBackend;
import io.radixflow.kernels.cuda.CudaModels;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.StepTicket;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The one context of a process and device under several backends. */
class SharedContextTest {

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
    DeviceOptions options = new DeviceOptions("cuda", 0, null);
    CudaBackend backend = CudaBackend.open(CudaModels.weights(CudaModels.llama()), options, 0);
    backend.openPool(2, 16);
    return backend;
  }

  private static StepTicket step(CudaBackend backend) throws InterruptedException {
    Batch batch = new Batch();
    batch.beginChunk(new int[] {1}, 1, 0);
    batch.token(7);
    batch.output(Sequences.greedy(CudaModels.VOCAB), Batch.TOKEN);
    StepTicket ticket = backend.submit(batch);
    ticket.await();
    return ticket;
  }

  @Test
  void backendsOfADeviceShareOneContextAndFreeTheirOwn() throws Exception {
    try (CudaBackend first = open()) {
      int token = step(first).token(0);
      long allocations = EmulatedDriver.deviceAllocations();
      long pinned = EmulatedDriver.pinnedAllocations();
      long used = EmulatedDriver.memoryUsed();
      try (CudaBackend second = open()) {
        assertThat(EmulatedDriver.contexts()).isEqualTo(1);
        assertThat(step(second).token(0)).isEqualTo(token);
        assertThat(EmulatedDriver.deviceAllocations()).isEqualTo(2 * allocations);
      }
      assertThat(EmulatedDriver.deviceAllocations()).isEqualTo(allocations);
      assertThat(EmulatedDriver.pinnedAllocations()).isEqualTo(pinned);
      assertThat(EmulatedDriver.memoryUsed()).isEqualTo(used);
      assertThat(step(first).token(0)).isEqualTo(token);
    }
    assertThat(EmulatedDriver.contexts()).isZero();
  }

  @Test
  void theLossOfAContextIsSeenByAllItsUsersAndLaterOnesGetAFreshContext() throws Exception {
    CudaBackend first = open();
    CudaBackend second = open();
    int token = step(second).token(0);
    EmulatedDriver.failLaunch("rf_embed", 1, CUresult.CUDA_ERROR_ILLEGAL_ADDRESS);
    assertThat(step(first).failure()).isInstanceOf(CudaException.class);
    assertThat(first.isUsable()).isFalse();
    assertThat(second.isUsable()).as("it shares the context").isFalse();
    first.close();
    try (CudaBackend again = open()) {
      assertThat(EmulatedDriver.contexts())
          .as("the lost one lives until its last user")
          .isEqualTo(2);
      assertThat(step(again).token(0)).isEqualTo(token);
      assertThat(again.isUsable()).isTrue();
      assertThat(step(second).failure())
          .isInstanceOfSatisfying(CudaException.class, e -> assertThat(e.isContextLost()).isTrue());
      second.close();
      assertThat(EmulatedDriver.contexts()).isEqualTo(1);
      assertThat(step(again).token(0)).isEqualTo(token);
    }
  }

  @Test
  void aLossThatNobodyHasMetYetIsFoundByTheNextUser() throws Exception {
    try (CudaBackend first = open()) {
      EmulatedDriver.loseContexts(CUresult.CUDA_ERROR_ECC_UNCORRECTABLE);
      assertThat(first.isUsable()).as("it was idle").isTrue();
      try (CudaBackend second = open()) {
        assertThat(first.isUsable()).isFalse();
        assertThat(step(second).failure()).isNull();
      }
    }
  }

  @Test
  void aPoolMayOutliveTheLossAndIsFreedWithItsContext() throws Exception {
    CudaBackend first = open();
    CudaBackend second = open();
    EmulatedDriver.loseContexts(CUresult.CUDA_ERROR_LAUNCH_FAILED);
    assertThat(step(first).failure()).isNotNull();
    second.close();
    assertThat(EmulatedDriver.contexts()).isEqualTo(1);
    first.close();
    assertThat(EmulatedDriver.contexts()).isZero();
  }
}
