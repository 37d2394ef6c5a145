package io.radixflow.lab.device;

import io.radixflow.kernels.cuda.CudaBackend;
import io.radixflow.kernels.cuda.pages.CudaKvPool;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;

/**
 * Times steps of a backend as an engine drives it: one in flight while the next is queued. Keys and
 * values of the context are random: a device runs faster on constant ones.
 */
final class StepBench implements AutoCloseable {

  private static final int PAGE_TOKENS = 16;
  private static final int WARM_UP = 4;

  private final CudaBackend backend;
  private final CudaKvPool pool;
  private final int context;
  private final int[][] pages;
  private final SamplingState[] states;
  private final Batch[] batches = {new Batch(), new Batch()};

  /**
   * @param sequences sequences that are decoded together
   * @param context tokens of each
   */
  StepBench(CudaBackend backend, int sequences, int context) {
    this.backend = backend;
    this.context = context;
    int perSequence = context / PAGE_TOKENS;
    pages = new int[sequences][perSequence];
    states = new SamplingState[sequences];
    for (int i = 0; i < sequences; i++) {
      for (int page = 0; page < perSequence; page++) {
        pages[i][page] = i * perSequence + page;
      }
      states[i] = greedy();
    }
    pool = (CudaKvPool) backend.openPool(sequences * perSequence, PAGE_TOKENS);
    backend.fillPool();
  }

  private SamplingState greedy() {
    return new SamplingState(
        SamplingParams.GREEDY, new int[0], new int[0], backend.model().vocabSize());
  }

  /** Seconds of a decode step over all sequences at the end of their context. */
  double decode(int steps) throws InterruptedException {
    long start = 0;
    StepTicket before = null;
    for (int step = -WARM_UP; step < steps; step++) {
      if (step == 0) {
        check(before);
        start = System.nanoTime();
      }
      Batch batch = batches[step & 1];
      batch.clear();
      for (int i = 0; i < pages.length; i++) {
        batch.beginChunk(pages[i], pages[i].length, context - 1);
        if (before == null) {
          batch.token(i);
        } else {
          batch.tokenFrom(before, i);
        }
        batch.output(states[i], Batch.TOKEN);
      }
      StepTicket ticket = backend.submit(batch);
      if (before != null) {
        check(before);
      }
      before = ticket;
    }
    check(before);
    return (System.nanoTime() - start) * 1e-9 / steps;
  }

  /** Seconds of the prefill of one whole context, one token drawn; the second run counts. */
  double prefill() throws InterruptedException {
    double seconds = 0;
    for (int run = 0; run < 2; run++) {
      long start = System.nanoTime();
      for (int position = 0; position < context; ) {
        Batch batch = batches[0];
        batch.clear();
        batch.beginChunk(pages[0], pages[0].length, position);
        int rows = Math.min(backend.maxBatchRows(), context - position);
        for (int row = 0; row < rows; row++) {
          batch.token(row % backend.model().vocabSize());
        }
        position += rows;
        if (position == context) {
          batch.output(greedy(), Batch.TOKEN);
        }
        check(backend.submit(batch));
      }
      seconds = (System.nanoTime() - start) * 1e-9;
    }
    return seconds;
  }

  private static void check(StepTicket ticket) throws InterruptedException {
    ticket.await();
    if (ticket.failure() != null) {
      throw new IllegalStateException("a step failed", ticket.failure());
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
