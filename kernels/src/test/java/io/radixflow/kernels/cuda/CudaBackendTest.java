package io.radixflow.kernels.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.cpu.NaiveModel;
import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cuda.driver.EmulatedDriver;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.GpuMode;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.models.ModelConfig;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CudaBackendTest {

  private CudaBackend backend;

  static Stream<ModelConfig> models() {
    return Stream.of(CudaModels.llama(), CudaModels.qwen2(), CudaModels.qwen3());
  }

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

  @ParameterizedTest
  @MethodSource("models")
  void logitsAreThoseOfTheReferenceWithinTheErrorOfBf16(ModelConfig config) throws Exception {
    int[] tokens = Sequences.randomTokens(40, CudaModels.VOCAB, 3);
    for (GpuMode mode : GpuMode.values()) {
      open(config, mode);
      try (KvPool pool = backend.openPool(4, 16)) {
        assertThat(pool.pageBytes()).isEqualTo(16 * backend.kvSpec().bytesPerToken());
        float[][] logits = Sequences.logits(backend, tokens, 17, Sequences.pages(tokens.length));
        NaiveModel reference = new NaiveModel(CudaModels.weights(config));
        for (int i = 0; i < tokens.length; i++) {
          assertThat(relativeError(logits[i], reference.next(tokens[i])))
              .as("%s, position %d", mode, i)
              .isLessThan(0.15);
        }
      }
      backend.close();
    }
  }

  /** The largest error in standard deviations of the row. */
  private static double relativeError(float[] logits, double[] expected) {
    double squares = 0;
    double error = 0;
    for (int id = 0; id < expected.length; id++) {
      squares += expected[id] * expected[id];
      error = Math.max(error, Math.abs(expected[id] - logits[id]));
    }
    return error / Math.sqrt(squares / expected.length);
  }

  @ParameterizedTest
  @MethodSource("models")
  void logitsDependOnTheirPrefixAlone(ModelConfig config) throws Exception {
    int[] tokens = Sequences.randomTokens(290, CudaModels.VOCAB, 4);
    open(config, GpuMode.DETERMINISTIC);
    float[][] whole;
    try (KvPool pool = backend.openPool(40, 16)) {
      whole = Sequences.logits(backend, tokens, tokens.length, Sequences.pages(tokens.length));
      assertThat(pool.pages()).isEqualTo(40);
      int[] holes = Sequences.pages(tokens.length);
      for (int i = 0; i < holes.length; i++) {
        holes[i] = (i * 7 + 3) % 40;
      }
      assertThat(Sequences.logits(backend, tokens, 100, holes)).isDeepEqualTo(whole);
    }
    try (KvPool pool = backend.openPool(20, 32)) {
      int[] pages = Sequences.pages(tokens.length);
      assertThat(Sequences.logits(backend, tokens, 64, pages)).isDeepEqualTo(whole);
      assertThat(pool.pageTokens()).isEqualTo(32);
    }
  }

  @Test
  void theGraphsOfDecodeStepsAreThereWhenAPoolIsOpen() throws Exception {
    EmulatedGpu.requireEmulated();
    open(CudaModels.llama(), GpuMode.DETERMINISTIC);
    try (KvPool pool = backend.openPool(4, 16)) {
      long captures = EmulatedDriver.calls("cuStreamBeginCapture");
      assertThat(captures).as("1, 2, 4, ... 256 rows").isEqualTo(9);
      for (int rows : new int[] {1, 3, 4}) {
        Batch batch = new Batch();
        for (int row = 0; row < rows; row++) {
          batch.beginChunk(new int[] {row % pool.pages()}, 1, 0);
          batch.token(row);
          batch.output(Sequences.greedy(CudaModels.VOCAB), Batch.TOKEN);
        }
        Sequences.run(backend, batch);
      }
      assertThat(EmulatedDriver.calls("cuStreamBeginCapture")).isEqualTo(captures);
      assertThat(EmulatedDriver.calls("kernels loaded by a capture")).isZero();
    }
  }

  @Test
  void kernelsWithMuchSharedMemoryGetTheCacheForIt() {
    EmulatedGpu.requireEmulated();
    open(CudaModels.llama(), GpuMode.DETERMINISTIC);
    backend.openPool(4, 16).close();
    assertThat(EmulatedDriver.calls("carve-out of 100 for rf_attend_keys_64")).isPositive();
    assertThat(EmulatedDriver.calls("carve-out of 100 for rf_gemm_32x16")).isPositive();
  }

  @Test
  void aSecondStepReadsTheTokenThatTheFirstIsStillDrawing() throws Exception {
    open(CudaModels.llama(), GpuMode.DETERMINISTIC);
    try (KvPool pool = backend.openPool(4, 16)) {
      int[] pages = {2, 0};
      int[] oneByOne = new int[8];
      Batch batch = new Batch();
      SamplingState state = Sequences.greedy(CudaModels.VOCAB);
      int token = 5;
      for (int i = 0; i < oneByOne.length; i++) {
        batch.clear();
        batch.beginChunk(pages, 2, i);
        batch.token(token);
        batch.output(state, Batch.TOKEN);
        token = Sequences.run(backend, batch).token(0);
        oneByOne[i] = token;
      }
      Batch[] batches = {new Batch(), new Batch()};
      state = Sequences.greedy(CudaModels.VOCAB);
      StepTicket before = null;
      int[] ahead = new int[oneByOne.length];
      for (int i = 0; i < ahead.length; i++) {
        Batch next = batches[i % 2];
        next.clear();
        next.beginChunk(pages, 2, i);
        if (before == null) {
          next.token(5);
        } else {
          next.tokenFrom(before, 0);
        }
        next.output(state, Batch.TOKEN);
        StepTicket ticket = backend.submit(next);
        if (before != null) {
          before.await();
          ahead[i - 1] = before.token(0);
        }
        before = ticket;
      }
      before.await();
      ahead[ahead.length - 1] = before.token(0);
      assertThat(ahead).isEqualTo(oneByOne);
      assertThat(pool.pages()).isEqualTo(4);
    }
  }

  @Test
  void aDecodedTokensLogitsAreThoseOfItsPrefillWhateverElseIsInTheBatch() throws Exception {
    int[] tokens = Sequences.randomTokens(150, CudaModels.VOCAB, 5);
    open(CudaModels.llama(), GpuMode.DETERMINISTIC);
    try (KvPool pool = backend.openPool(60, 16)) {
      int[] pages = Sequences.pages(tokens.length);
      float[][] expected = Sequences.logits(backend, tokens, tokens.length, pages);
      int[] other = Sequences.pages(400, 20);
      Sequences.logits(backend, Sequences.randomTokens(400, CudaModels.VOCAB, 9), 400, other);
      float[] logits = new float[CudaModels.VOCAB];
      Batch batch = new Batch();
      for (int companions = 0; companions < 20; companions += 3) {
        for (int at : new int[] {0, 127, 128, 149}) {
          batch.clear();
          for (int i = 0; i < companions; i++) {
            batch.beginChunk(other, other.length, 16 * i);
            batch.token(i);
            batch.output(Sequences.greedy(CudaModels.VOCAB), Batch.TOKEN);
          }
          batch.beginChunk(pages, pages.length, at);
          batch.token(tokens[at]);
          int output = batch.output(null, Batch.LOGITS);
          Sequences.run(backend, batch).logits(output, logits);
          assertThat(logits).as("position %d, %d others", at, companions).isEqualTo(expected[at]);
        }
      }
      assertThat(pool.pages()).isEqualTo(60);
    }
  }

  @Test
  void aStepWithMoreOutputsThanABlockOfLogitsComputesThemAll() throws Exception {
    int[] tokens = Sequences.randomTokens(600, CudaModels.VOCAB, 6);
    open(CudaModels.qwen2(), GpuMode.DETERMINISTIC);
    try (KvPool pool = backend.openPool(40, 16)) {
      int[] pages = Sequences.pages(tokens.length);
      float[][] small = Sequences.logits(backend, tokens, 100, pages);
      float[][] large = Sequences.logits(backend, tokens, 600, pages);
      assertThat(large).isDeepEqualTo(small);
      assertThat(pool.pages()).isEqualTo(40);
    }
  }

  @Test
  void aBatchThatIsNotValidFailsItsTicketAndTheNextStepRuns() throws Exception {
    open(CudaModels.qwen3(), GpuMode.DETERMINISTIC);
    try (KvPool pool = backend.openPool(4, 16)) {
      Batch batch = new Batch();
      batch.beginChunk(new int[] {4}, 1, 0);
      batch.token(1);
      batch.output(Sequences.greedy(CudaModels.VOCAB), Batch.TOKEN);
      StepTicket ticket = backend.submit(batch);
      ticket.await();
      assertThat(ticket.failure()).hasMessage("page 4 is not in a pool of 4 pages");
      assertThat(backend.isUsable()).isTrue();
      batch.clear();
      batch.beginChunk(new int[] {pool.pages() - 1}, 1, 0);
      batch.token(1);
      batch.output(Sequences.greedy(CudaModels.VOCAB), Batch.TOKEN);
      assertThat(Sequences.run(backend, batch).token(0)).isBetween(0, CudaModels.VOCAB - 1);
    }
  }
}
