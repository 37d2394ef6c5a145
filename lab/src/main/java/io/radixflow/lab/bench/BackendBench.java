package io.radixflow.lab.bench;

import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.tools.cli.common.CliException;
import io.radixflow.tools.cli.common.Errors;
import io.radixflow.tools.cli.model.PagedSequence;
import java.util.SplittableRandom;

/**
 * Times steps of a backend without an engine around it: greedy, random token ids, one page table a
 * sequence. Not thread safe.
 */
final class BackendBench implements AutoCloseable {
  private static final long SEED = 20260101;

  private final Backend backend;
  private final KvPool pool;
  private final int[][] pageTables;
  private final int[] ids;
  private final Batch batch = new Batch();

  /**
   * @param sequences most sequences at once
   * @param tokens most tokens of a sequence alone
   * @param tokensTogether most tokens of each of several sequences
   */
  BackendBench(Backend backend, int sequences, int tokens, int tokensTogether) {
    this.backend = backend;
    int[] sizes = backend.pageTokens();
    int pageTokens = sizes[sizes.length - 1];
    for (int size : sizes) {
      pageTokens = size == 16 ? size : pageTokens;
    }
    pageTables = new int[sequences][];
    int pages = 0;
    for (int i = 0; i < sequences; i++) {
      int most = i == 0 ? Math.max(tokens, tokensTogether) : tokensTogether;
      pageTables[i] = new int[PagedSequence.pagesFor(most, pageTokens)];
      for (int page = 0; page < pageTables[i].length; page++) {
        pageTables[i][page] = pages++;
      }
    }
    pool = backend.openPool(pages, pageTokens);
    SplittableRandom random = new SplittableRandom(SEED);
    ids = random.ints(Math.max(tokens, sequences), 0, backend.model().vocabSize()).toArray();
  }

  /** Prefills one sequence and draws one token; tokens a second. */
  double prefill(int tokens, int chunk) throws InterruptedException {
    long start = System.nanoTime();
    for (int position = 0; position < tokens; ) {
      int rows = Math.min(Math.min(chunk, backend.maxBatchRows()), tokens - position);
      batch.clear();
      batch.beginChunk(pageTables[0], pageTables[0].length, position);
      for (int row = 0; row < rows; row++) {
        batch.token(ids[position++]);
      }
      if (position == tokens) {
        batch.output(greedy(), Batch.TOKEN);
      }
      run();
    }
    return tokens / seconds(start);
  }

  /**
   * Decodes sequences together; tokens a second over all of them.
   *
   * @param context tokens of each sequence before the first step; their KV entries are whatever the
   *     pages happen to contain
   */
  double decode(int sequences, int steps, int context) throws InterruptedException {
    SamplingState[] sampling = new SamplingState[sequences];
    int[] next = new int[sequences];
    for (int i = 0; i < sequences; i++) {
      sampling[i] = greedy();
      next[i] = ids[i];
    }
    long start = System.nanoTime();
    for (int step = 0; step < steps; step++) {
      batch.clear();
      for (int i = 0; i < sequences; i++) {
        batch.beginChunk(pageTables[i], pageTables[i].length, context + step);
        batch.token(next[i]);
        batch.output(sampling[i], Batch.TOKEN);
      }
      StepTicket ticket = run();
      for (int i = 0; i < sequences; i++) {
        next[i] = ticket.token(i);
      }
    }
    return (double) sequences * steps / seconds(start);
  }

  private SamplingState greedy() {
    return new SamplingState(
        SamplingParams.GREEDY, new int[0], new int[0], backend.model().vocabSize());
  }

  private StepTicket run() throws InterruptedException {
    StepTicket ticket = backend.submit(batch);
    ticket.await();
    if (ticket.failure() != null) {
      throw new CliException("a step failed: " + Errors.line(ticket.failure()), ticket.failure());
    }
    return ticket;
  }

  private static double seconds(long start) {
    return (System.nanoTime() - start) * 1e-9;
  }

  @Override
  public void close() {
    pool.close();
  }
}
