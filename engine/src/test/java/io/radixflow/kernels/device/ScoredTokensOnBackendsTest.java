package io.radixflow.kernels.device;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.cpu.CpuBackend;
import io.radixflow.kernels.cpu.Sequences;
import io.radixflow.kernels.cuda.CudaBackend;
import io.radixflow.kernels.cuda.CudaModels;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.kernels.sampling.TokenMask;
import java.util.Map;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every backend scores tokens that are given as it scores those that it draws. */
class ScoredTokensOnBackendsTest {
  private static final int[] TOKENS = {3, 70, 5, 66, 5, 199, 101, 3, 70, 5, 4, 1, 2, 90, 91, 92, 7};
  private static final int TOPS = 2;

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

  private static SamplingState greedy(int vocab) {
    SamplingParams params = new SamplingParams(0, 0, 1, 0, 1, 0, 0, Map.of(), 0, TOPS);
    return new SamplingState(params, new int[0], new int[0], vocab);
  }

  @ParameterizedTest
  @ValueSource(strings = {"sim", "cpu", "cuda"})
  void rowsOfOneChunkScoreTheTokensAfterThemAsStepsOfOneRowDo(String device) throws Exception {
    try (Backend backend = open(device);
        KvPool pool = backend.openPool(4, 16)) {
      int vocab = backend.model().vocabSize();
      int[] pages = {pool.pages() - 1, pool.pages() - 2};
      SamplingState shared = greedy(vocab).draftView();
      Batch batch = new Batch();
      batch.beginChunk(pages, 2, 0);
      for (int i = 0; i + 1 < TOKENS.length; i++) {
        batch.token(TOKENS[i]);
        assertThat(batch.score(shared, TOKENS[i + 1])).isEqualTo(i);
      }
      batch.token(TOKENS[TOKENS.length - 1]);
      int drawn = batch.output(greedy(vocab), Batch.TOKEN);
      StepTicket ticket = Sequences.run(backend, batch);
      float[] scores = new float[drawn];
      int[][] ids = new int[drawn][TOPS];
      float[][] tops = new float[drawn][TOPS];
      for (int i = 0; i < drawn; i++) {
        assertThat(ticket.token(i)).isEqualTo(TOKENS[i + 1]);
        scores[i] = ticket.logprob(i);
        ticket.topLogprobs(i, ids[i], tops[i]);
      }
      int next = ticket.token(drawn);

      for (int i = 0; i < TOKENS.length; i++) {
        batch.clear();
        batch.beginChunk(pages, 2, i);
        batch.token(TOKENS[i]);
        boolean last = i + 1 == TOKENS.length;
        long[] mask = last ? null : TokenMask.of(vocab, TOKENS[i + 1]);
        batch.output(greedy(vocab), Batch.LOGPROBS, mask);
        StepTicket one = Sequences.run(backend, batch);
        if (last) {
          assertThat(one.token(0)).isEqualTo(next);
        } else {
          int[] topIds = new int[TOPS];
          float[] topLogprobs = new float[TOPS];
          one.topLogprobs(0, topIds, topLogprobs);
          assertThat(scores[i]).as("token %s", i + 1).isEqualTo(one.logprob(0));
          assertThat(ids[i]).isEqualTo(topIds);
          assertThat(tops[i]).isEqualTo(topLogprobs);
        }
      }
    }
  }
}
