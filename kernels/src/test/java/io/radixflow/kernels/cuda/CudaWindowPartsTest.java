package io.radixflow.kernels.cuda;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cuda.driver.EmulatedDriver;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.OutOfDeviceMemoryException;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.models.ModelConfig;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Layers with an attention window, whose entries lie in parts that move along with the window. */
class CudaWindowPartsTest {
  private CudaBackend backend;

  @BeforeEach
  void requireDevice() {
    EmulatedGpu.require();
    if (EmulatedGpu.isEmulated()) {
      EmulatedDriver.reset();
    }
  }

  @AfterEach
  void close() {
    if (backend != null) {
      backend.close();
    }
    EmulatedGpu.assertNothingIsLeaked();
  }

  private CudaBackend open(ModelConfig config, GpuMode mode) {
    DeviceOptions options = new DeviceOptions("cuda", 0, null, mode, 0);
    backend = CudaBackend.open(CudaModels.weights(config), options, 0);
    return backend;
  }

  /** Windows of 19, 128 and 33 tokens; with each the tokens of a page. */
  static Stream<Arguments> models() {
    return Stream.of(
            CudaModels.windowed(),
            CudaModels.sinks(),
            CudaModels.parallel(),
            CudaModels.windowedOnly())
        .flatMap(config -> Stream.of(16, 32).map(page -> Arguments.of(config, page)));
  }

  @ParameterizedTest
  @MethodSource("models")
  void logitsAreTheSameWithThePartsOfTheWindowAloneAndWithAllInThePages(
      ModelConfig config, int pageTokens) throws Exception {
    int[] tokens = Sequences.randomTokens(300, CudaModels.VOCAB, 4);
    int[] pages = Sequences.pages(tokens.length);
    open(config, GpuMode.DETERMINISTIC);
    float[][] expected;
    try (KvPool pool = backend.openPool(pages.length, pageTokens)) {
      expected = Sequences.logits(backend, tokens, tokens.length, pages);
      assertThat(pool.parts()).isZero();
    }
    for (int chunk : new int[] {1, 29, 150}) {
      int parts = MovingWindow.parts(backend, chunk, pageTokens);
      try (KvPool pool = backend.openPool(pages.length, parts, pageTokens)) {
        MovingWindow window = new MovingWindow(pool, backend.partedWindow());
        assertThat(window.logits(backend, tokens, chunk, pages)).isDeepEqualTo(expected);
        assertThat(window.used()).isEqualTo((tokens.length - 1) / pageTokens + 1);
      }
    }
  }

  /** Tests both modes: in the fast one, a partial result of attention may span several splits. */
  @Test
  void sequencesThatTakeEachOthersPartsComputeWhatTheyDoAlone() throws Exception {
    for (GpuMode mode : GpuMode.values()) {
      open(CudaModels.windowed(), mode);
      int[][] tokens = new int[3][];
      int[][] pages = new int[3][];
      for (int i = 0; i < tokens.length; i++) {
        tokens[i] = Sequences.randomTokens(220, CudaModels.VOCAB, i);
        pages[i] = Sequences.pages(220, 14 * i);
      }
      float[][][] few = new float[40][][];
      float[][][] all = new float[40][][];
      try (KvPool pool = backend.openPool(42, 3 * 3, 16)) {
        decodeTogether(new MovingWindow(pool, 19), tokens, pages, few);
      }
      try (KvPool pool = backend.openPool(42, 42, 16)) {
        for (int page = 0; page < 42; page++) {
          pool.mapWindow(page, 41 - page);
        }
        decodeTogether(null, tokens, pages, all);
      }
      assertThat(few).isDeepEqualTo(all);
      backend.close();
    }
  }

  /** Prefills 180 tokens of each in chunks of 12, then decodes all in steps of a row each. */
  private void decodeTogether(
      MovingWindow window, int[][] tokens, int[][] pages, float[][][] logits)
      throws InterruptedException {
    Batch batch = new Batch();
    for (int from = 0; from < 220; from = from < 180 ? from + 12 : from + 1) {
      int rows = from < 180 ? 12 : 1;
      batch.clear();
      for (int i = 0; i < tokens.length; i++) {
        if (window != null) {
          window.move(pages[i], from, from + rows);
        }
        batch.beginChunk(pages[i], pages[i].length, from);
        for (int row = 0; row < rows; row++) {
          batch.token(tokens[i][from + row]);
        }
        batch.output(null, Batch.LOGITS);
      }
      StepTicket ticket = Sequences.run(backend, batch);
      if (from >= 180) {
        logits[from - 180] = new float[tokens.length][CudaModels.VOCAB];
        for (int i = 0; i < tokens.length; i++) {
          ticket.logits(i, logits[from - 180][i]);
        }
      }
    }
  }

  @Test
  void decodeStepsWithPartsAreTheGraphsThatWereThereWhenThePoolWasOpened() throws Exception {
    EmulatedGpu.requireEmulated();
    int[] tokens = Sequences.randomTokens(70, CudaModels.VOCAB, 1);
    int[] pages = Sequences.pages(tokens.length);
    open(CudaModels.windowed(), GpuMode.DETERMINISTIC);
    try (KvPool pool = backend.openPool(pages.length, 4, 16)) {
      long captures = EmulatedDriver.calls("cuStreamBeginCapture");
      assertThat(captures).isPositive();
      new MovingWindow(pool, 19).logits(backend, tokens, 1, pages);
      assertThat(EmulatedDriver.calls("cuStreamBeginCapture")).isEqualTo(captures);
    }
  }

  @Test
  void aStepThatReachesAPageWithoutItsPartFailsAndTheNextOneRuns() throws Exception {
    open(CudaModels.windowed(), GpuMode.DETERMINISTIC);
    try (KvPool pool = backend.openPool(4, 2, 16)) {
      int[] pages = {2, 0, 3};
      Batch batch = new Batch();
      pool.mapWindow(0, 1);
      batch.beginChunk(pages, 3, 20);
      batch.token(1);
      batch.output(null, Batch.LOGITS);
      StepTicket ticket = backend.submit(batch);
      ticket.await();
      assertThat(ticket.failure()).hasMessage("page 2 has no window part");
      assertThat(backend.isUsable()).isTrue();
      pool.mapWindow(2, 0);
      Sequences.run(backend, batch);
      pool.mapWindow(0, -1);
      ticket = backend.submit(batch);
      ticket.await();
      assertThat(ticket.failure()).hasMessage("page 0 has no window part");
    }
  }

  @Test
  void aPoolTakesTheMemoryOfItsPagesAndItsParts() {
    EmulatedGpu.requireEmulated();
    open(CudaModels.windowed(), GpuMode.DETERMINISTIC);
    long page = 16 * backend.kvSpec().bytesPerToken();
    long part = 16 * backend.kvSpec().windowBytesPerToken();
    assertThat(backend.partedWindow()).isEqualTo(19);
    assertThat(part * 2).isEqualTo(page);
    long before = EmulatedDriver.memoryUsed();
    long[] used = new long[2];
    for (int i = 0; i < used.length; i++) {
      try (KvPool pool = backend.openPool(100 + 50 * i, 10 + 20 * i, 16)) {
        assertThat(pool.pageBytes()).isEqualTo(page - part);
        assertThat(pool.partBytes()).isEqualTo(part);
        used[i] = EmulatedDriver.memoryUsed();
      }
      assertThat(EmulatedDriver.memoryUsed()).isEqualTo(before);
    }
    assertThat(used[1] - used[0]).isEqualTo(50 * (page - part) + 20 * part);
    EmulatedDriver.setMemoryLimit(used[1]);
    assertThatThrownBy(() -> backend.openPool(100_000, 20, 16))
        .isInstanceOf(OutOfDeviceMemoryException.class)
        .hasMessageContaining("100000 pages and 20 window parts");
    assertThatThrownBy(() -> backend.openPool(20, 100_000, 16))
        .isInstanceOf(OutOfDeviceMemoryException.class)
        .hasMessageContaining("20 pages and 100000 window parts");
    assertThat(EmulatedDriver.memoryUsed()).isEqualTo(before);
    backend.openPool(150, 30, 16).close();
  }

  @Test
  void aModelWithoutWindowsHasNoParts() {
    open(CudaModels.llama(), GpuMode.DETERMINISTIC);
    assertThat(backend.partedWindow()).isZero();
    assertThatThrownBy(() -> backend.openPool(10, 5, 16))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("5 window parts for a model without windows");
  }
}
