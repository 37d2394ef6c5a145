package io.radixflow.kernels.cpu;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;

/** Runs token sequences through a backend, for tests. */
public final class Sequences {

  private Sequences() {}

  /** Pages 0, 1, 2 … for a sequence of this many tokens. */
  public static int[] pages(int tokens) {
    return pages(tokens, 0);
  }

  /** Consecutive pages from a first one. */
  public static int[] pages(int tokens, int first) {
    int[] pages = new int[(tokens + CpuKvPool.PAGE_TOKENS - 1) / CpuKvPool.PAGE_TOKENS];
    for (int i = 0; i < pages.length; i++) {
      pages[i] = first + i;
    }
    return pages;
  }

  public static int[] randomTokens(int count, int vocabSize, long seed) {
    SyntheticTensor.Mix random = new SyntheticTensor.Mix(seed);
    int[] tokens = new int[count];
    for (int i = 0; i < count; i++) {
      tokens[i] = random.below(vocabSize);
    }
    return tokens;
  }

  /** The logits after each token, prefilled in chunks. */
  public static float[][] logits(Backend backend, int[] tokens, int chunk, int[] pages)
      throws InterruptedException {
    float[][] logits = new float[tokens.length][backend.model().vocabSize()];
    Batch batch = new Batch();
    for (int from = 0; from < tokens.length; from += chunk) {
      int to = Math.min(tokens.length, from + chunk);
      batch.clear();
      batch.beginChunk(pages, pages.length, from);
      for (int i = from; i < to; i++) {
        batch.token(tokens[i]);
        batch.output(null, Batch.LOGITS);
      }
      StepTicket ticket = run(backend, batch);
      for (int i = from; i < to; i++) {
        ticket.logits(i - from, logits[i]);
      }
    }
    return logits;
  }

  public static StepTicket run(Backend backend, Batch batch) throws InterruptedException {
    StepTicket ticket = backend.submit(batch);
    ticket.await();
    if (ticket.failure() != null) {
      throw new AssertionError("the step failed", ticket.failure());
    }
    return ticket;
  }

  public static SamplingState greedy(int vocabSize) {
    return new SamplingState(SamplingParams.GREEDY, new int[0], new int[0], vocabSize);
  }
}
