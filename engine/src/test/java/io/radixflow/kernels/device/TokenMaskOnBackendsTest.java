package io.radixflow.kernels.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cuda.CudaBackend;
import io.radixflow.kernels.cuda.CudaModels;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.sampling.SamplingException;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.kernels.sampling.TokenMask;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every backend obeys the token masks of a batch's rows. */
class TokenMaskOnBackendsTest {

  private static Backend open(String device) {
    if (device.equals("sim")) {
      return SimModel.open(SimOptions.DEFAULT).openBackend(DeviceOptions.DEFAULT);
    }
    if (device.equals("cpu")) {
      return CpuBackend.open(CudaModels.weights(CudaModels.llama()), DeviceOptions.DEFAULT);
    }
    EmulatedGpu.require();
    return CudaBackend.open(CudaModels.weights(CudaModels.llama()), DeviceOptions.DEFAULT, 0);
  }

  private static SamplingState state(float temperature, int vocab) {
    SamplingParams params = new SamplingParams(temperature, 40, 0.95f, 0, 1, 0, 0, Map.of(), 11, 2);
    return new SamplingState(params, new int[0], new int[0], vocab);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sim", "cpu", "cuda"})
  void rowsDrawWhatTheirOwnMaskAllows(String device) throws Exception {
    try (Backend backend = open(device);
        KvPool pool = backend.openPool(4, 16)) {
      int vocab = backend.model().vocabSize();
      Batch batch = new Batch();
      batch.beginChunk(new int[] {pool.pages() - 1}, 1, 0);
      batch.token(3);
      int free = batch.output(state(0, vocab), Batch.LOGPROBS);
      batch.output(state(0, vocab), Batch.LOGPROBS, TokenMask.of(vocab, 70));
      long[] few = TokenMask.of(vocab, 5, 66, 199);
      for (float temperature : new float[] {0, 1, 2}) {
        batch.output(state(temperature, vocab), Batch.TOKEN, few);
      }
      StepTicket ticket = Sequences.run(backend, batch);
      assertThat(ticket.token(1)).isEqualTo(70);
      for (int output = 2; output < 5; output++) {
        assertThat(ticket.token(output)).isIn(5, 66, 199);
      }
      int[] ids = new int[2];
      float[] logprobs = new float[2];
      ticket.topLogprobs(1, ids, logprobs);
      assertThat(ids[0])
          .as("log probabilities are those before the mask")
          .isEqualTo(ticket.token(free));
      assertThat(ticket.logprob(1)).isLessThanOrEqualTo(logprobs[0]);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"sim", "cpu", "cuda"})
  void aMaskThatAllowsNothingOrIsTooShortFailsItsStepAndTheNextOneRuns(String device)
      throws Exception {
    try (Backend backend = open(device);
        KvPool pool = backend.openPool(4, 16)) {
      int vocab = backend.model().vocabSize();
      Batch batch = new Batch();
      int[] pages = {pool.pages() - 1};
      Throwable[] failures = new Throwable[2];
      for (int i = 0; i < failures.length; i++) {
        batch.clear();
        batch.beginChunk(pages, 1, 0);
        batch.token(3);
        batch.output(state(i, vocab), Batch.TOKEN, i == 0 ? TokenMask.of(vocab) : new long[1]);
        StepTicket ticket = backend.submit(batch);
        ticket.await();
        failures[i] = ticket.failure();
      }
      assertThat(failures[0]).isInstanceOf(SamplingException.class).hasMessageContaining("mask");
      assertThat(failures[1])
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("a token mask has 1 words");
      batch.clear();
      batch.beginChunk(pages, 1, 0);
      batch.token(3);
      batch.output(state(1, vocab), Batch.TOKEN);
      assertThat(Sequences.run(backend, batch).token(0)).isBetween(0, vocab - 1);
    }
  }
}
