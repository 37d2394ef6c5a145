package io.radixflow.kernels.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cuda.driver.CudaException;
import io.radixflow.kernels.cuda.driver.CudaUnavailableException;
import io.radixflow.kernels.cuda.driver.DeviceCode;
import io.radixflow.kernels.cuda.driver.EmulatedDriver;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.device.Uninterruptibly;
import io.radixflow.models.ModelConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import jcuda.driver.CUresult;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Failures of the driver end in clear errors; nothing leaks or crashes. */
class CudaFaultsTest {

  private static final DeviceOptions OPTIONS = new DeviceOptions("cuda", 0, null);

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

  /** A step of two rows; its ticket, done. */
  private static StepTicket step(CudaBackend backend) throws InterruptedException {
    Batch batch = new Batch();
    batch.beginChunk(new int[] {0}, 1, 0);
    batch.token(1);
    batch.token(2);
    batch.output(Sequences.greedy(CudaModels.VOCAB), Batch.TOKEN);
    StepTicket ticket = backend.submit(batch);
    ticket.await();
    return ticket;
  }

  @ParameterizedTest
  @ValueSource(strings = {"cuMemAlloc", "cuMemHostAlloc"})
  void memoryIsFreedWhenAnyAllocationFails(String call) throws Exception {
    int failures = 0;
    for (int nth = 1; ; nth++) {
      EmulatedDriver.resetFaults();
      EmulatedDriver.failCall(call, nth, CUresult.CUDA_ERROR_OUT_OF_MEMORY);
      Throwable thrown = catchThrowable(CudaFaultsTest::openStepAndClose);
      assertThat(EmulatedDriver.deviceAllocations()).as("%s number %d", call, nth).isZero();
      assertThat(EmulatedDriver.pinnedAllocations()).as("%s number %d", call, nth).isZero();
      if (thrown == null) {
        break;
      }
      failures++;
      assertThat(thrown).hasMessageContaining("");
      assertThat(thrown.toString()).containsAnyOf("memory", "MB");
    }
    assertThat(failures).isGreaterThan(4);
  }

  private static void openStepAndClose() throws InterruptedException {
    try (CudaBackend backend = open();
        KvPool pool = backend.openPool(4, 16)) {
      StepTicket ticket = step(backend);
      if (ticket.failure() instanceof RuntimeException e) {
        throw e;
      }
      assertThat(pool.pages()).isEqualTo(4);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cuLaunchKernel",
        "cuMemcpyHtoDAsync",
        "cuMemcpyDtoHAsync",
        "cuEventRecord",
        "cuGraphLaunch",
        "cuStreamBeginCapture",
        "cuGraphInstantiateWithFlags"
      })
  void aCallThatFailsFailsItsStepAndTheNextOneRuns(String call) throws Exception {
    try (CudaBackend backend = open();
        KvPool pool = backend.openPool(4, 16)) {
      Batch batch = oneRow(0, 0);
      addRowWithoutOutput(batch); // no graph is ready for such a step
      EmulatedDriver.failCall(call, 1, CUresult.CUDA_ERROR_INVALID_VALUE);
      StepTicket ticket = backend.submit(batch);
      ticket.await();
      assertThat(ticket.failure()).isInstanceOf(CudaException.class).hasMessageContaining("cu");
      assertThat(backend.isUsable()).isTrue();
      int token = Sequences.run(backend, batch).token(0);
      assertThat(token).isBetween(0, CudaModels.VOCAB - 1);
      assertThat(pool.pages()).isEqualTo(4);
    }
  }

  @Test
  void aStepThatFailsWhileTheNextOneIsCapturedDoesNotSpoilIt() throws Exception {
    CountDownLatch submitted = new CountDownLatch(1);
    try (CudaBackend backend = open();
        KvPool pool = backend.openPool(4, 16)) {
      EmulatedDriver.holdCall("cuEventSynchronize");
      StepTicket before = backend.submit(oneRow(0, 0));
      before.whenDone(() -> Uninterruptibly.await(submitted::await));
      EmulatedDriver.holdCall("");
      before.await();
      Batch invalid = oneRow(pool.pages(), 0);
      StepTicket failing = backend.submit(invalid);
      EmulatedDriver.holdCall("cuStreamEndCapture");
      Batch unusual = oneRow(0, 1);
      addRowWithoutOutput(unusual);
      CompletableFuture<StepTicket> capturing =
          CompletableFuture.supplyAsync(() -> backend.submit(unusual));
      EmulatedDriver.awaitHeldCall();
      submitted.countDown();
      failing.await();
      assertThat(failing.failure()).hasMessage("page 4 is not in a pool of 4 pages");
      EmulatedDriver.holdCall("");
      StepTicket captured = capturing.get();
      captured.await();
      assertThat(captured.failure()).isNull();
    } finally {
      submitted.countDown();
      EmulatedDriver.holdCall("");
    }
  }

  /** A step of one row, which draws a token. */
  private static Batch oneRow(int page, int position) {
    Batch batch = new Batch();
    batch.beginChunk(new int[] {page}, 1, position);
    batch.token(1);
    batch.output(Sequences.greedy(CudaModels.VOCAB), Batch.TOKEN);
    return batch;
  }

  private static void addRowWithoutOutput(Batch batch) {
    batch.beginChunk(new int[] {1}, 1, 0);
    batch.token(2);
  }

  @Test
  void aKernelThatFailsIsNamedAndTheBackendIsOfUseNoMore() throws Exception {
    try (CudaBackend backend = open()) {
      backend.openPool(4, 16);
      EmulatedDriver.failLaunch("rf_embed", 1, CUresult.CUDA_ERROR_ILLEGAL_ADDRESS);
      StepTicket ticket = step(backend);
      assertThat(ticket.failure()).isInstanceOf(CudaException.class);
      assertThat(((CudaException) ticket.failure()).isContextLost()).isTrue();
      assertThat(backend.isUsable()).isFalse();
      assertThat(step(backend).failure()).isInstanceOf(CudaException.class);
    }
    EmulatedDriver.resetFaults();
    try (CudaBackend again = open();
        KvPool pool = again.openPool(4, 16)) {
      assertThat(step(again).failure()).isNull();
      assertThat(pool.pages()).isEqualTo(4);
    }
  }

  @Test
  void aPoolOfALostContextMayBeClosed() throws Exception {
    try (CudaBackend backend = open()) {
      KvPool pool = backend.openPool(4, 16);
      EmulatedDriver.loseContexts(CUresult.CUDA_ERROR_LAUNCH_FAILED);
      assertThat(step(backend).failure()).isInstanceOf(CudaException.class);
      pool.close();
    }
  }

  @Test
  void aDeviceWithoutTheKernelsCapabilityIsRefusedByName() {
    EmulatedDriver.setComputeCapability(7, 5);
    assertThatThrownBy(CudaFaultsTest::open)
        .isInstanceOf(CudaUnavailableException.class)
        .hasMessageContaining("compute capability 7.5; the kernels need 8.0");
    assertThat(CudaSupport.probe().problem(0)).contains("7.5");
  }

  @Test
  void codeForOtherDevicesIsRefusedWithTheDevicesCapability() {
    EmulatedDriver.failCall("cuModuleLoadData", 1, CUresult.CUDA_ERROR_NO_BINARY_FOR_GPU);
    assertThatThrownBy(CudaFaultsTest::open)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("CUDA_ERROR_NO_BINARY_FOR_GPU")
        .hasMessageContaining("compute capability 9.0");
  }

  @Test
  void aModelOfOtherHeadsIsRefusedByName() {
    ModelConfig llama = CudaModels.llama();
    ModelConfig narrow =
        ModelConfig.uniform(
            llama.architecture(),
            llama.name(),
            llama.vocabSize(),
            llama.contextLength(),
            llama.layers(),
            llama.hiddenSize(),
            llama.intermediateSize(),
            llama.heads(),
            llama.kvHeads(),
            48,
            llama.normEpsilon(),
            llama.rope(),
            llama.qkvBias(),
            llama.qkNorm(),
            llama.tiedEmbedding());
    assertThatThrownBy(() -> CudaBackend.open(CudaModels.weights(narrow), OPTIONS, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("heads of 48 elements");
  }

  @Test
  void aKvTypeOfTheCpuIsRefused() {
    DeviceOptions f32 = new DeviceOptions("cuda", 0, KvSpec.Type.F32);
    assertThatThrownBy(() -> CudaBackend.open(CudaModels.weights(CudaModels.llama()), f32, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("the CUDA backend does not support KV type F32, only bf16 and fp8");
  }

  @Test
  void theNumericsEpochDependsOnModeAndDevice() {
    Set<String> epochs = new HashSet<>();
    for (int minor : new int[] {0, 9}) {
      EmulatedDriver.setComputeCapability(8, minor);
      for (GpuMode mode : GpuMode.values()) {
        DeviceOptions options = new DeviceOptions("cuda", 0, null, mode, 0);
        try (CudaBackend backend =
            CudaBackend.open(CudaModels.weights(CudaModels.llama()), options, 0)) {
          epochs.add(backend.numericsEpoch());
        }
      }
    }
    assertThat(epochs).hasSize(4).allMatch(epoch -> epoch.matches("[0-9a-f]{16}"));
  }

  @Test
  void theNumericsEpochDependsOnTheDeviceCode(@TempDir Path folder) throws IOException {
    String file = System.getProperty(DeviceCode.FILE_PROPERTY);
    byte[] code = Files.readAllBytes(Path.of(file));
    Path other = Files.write(folder.resolve("other.so"), Arrays.copyOf(code, code.length + 1));
    Path same = Files.write(folder.resolve("same.so"), code);
    Set<String> epochs = new HashSet<>();
    for (String module : List.of(file, same.toString(), other.toString())) {
      System.setProperty(DeviceCode.FILE_PROPERTY, module);
      try (CudaBackend backend = open()) {
        epochs.add(backend.numericsEpoch());
      } finally {
        System.setProperty(DeviceCode.FILE_PROPERTY, file);
      }
    }
    assertThat(epochs).hasSize(2);
  }
}
