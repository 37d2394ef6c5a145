package io.radixflow.lab.device;

import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Errors;
import io.radixflow.cli.command.model.PagedSequence;
import io.radixflow.kernels.cuda.CudaBackend;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.kernels.sampling.SamplingState;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * Times steps of a backend without an engine: greedy sampling, random token ids, one page table per
 * sequence. Not thread-safe.
 */
public final class StepBench implements AutoCloseable {
  private static final long SEED = 20260101;
  private static final int PAGE_TOKENS = 16;
  private static final int WARM_UP = 4;

  private final Backend backend;
  private final KvPool pool;
  private final int[][] pageTables;
  private final SamplingState[] states;
  private final int[] ids;
  private final Batch[] batches = {new Batch(), new Batch()};

  /**
   * @param sequences the most sequences in a step
   * @param tokens the most tokens of a sequence that runs alone
   * @param tokensTogether the most tokens of each of several sequences
   */
  public StepBench(Backend backend, int sequences, int tokens, int tokensTogether) {
    this.backend = backend;
    int[] sizes = backend.pageTokens();
    int pageTokens =
        Arrays.stream(sizes)
            .filter(size -> size == PAGE_TOKENS)
            .findAny()
            .orElse(sizes[sizes.length - 1]);
    pageTables = new int[sequences][];
    int pages = 0;
    for (int i = 0; i < sequences; i++) {
      int most = i == 0 ? Math.max(tokens, tokensTogether) : tokensTogether;
      int first = pages;
      pages += PagedSequence.pagesFor(most, pageTokens);
      pageTables[i] = IntStream.range(first, pages).toArray();
    }
    pool = backend.openPool(pages, pageTokens);
    if (backend instanceof CudaBackend cuda) {
      cuda.fillPool(); // a device runs faster on constant keys and values
    }
    states = new SamplingState[sequences];
    Arrays.setAll(states, i -> greedy());
    SplittableRandom random = new SplittableRandom(SEED);
    ids = random.ints(Math.max(tokens, sequences), 0, backend.model().vocabSize()).toArray();
  }

  private SamplingState greedy() {
    return new SamplingState(
        SamplingParams.GREEDY, new int[0], new int[0], backend.model().vocabSize());
  }

  /** Prefills one sequence and draws one token; returns the seconds. */
  public double prefill(int tokens, int chunk) throws InterruptedException {
    long start = System.nanoTime();
    for (int position = 0; position < tokens; ) {
      int rows = Math.min(Math.min(chunk, backend.maxBatchRows()), tokens - position);
      Batch batch = batches[0];
      batch.clear();
      batch.beginChunk(pageTables[0], pageTables[0].length, position);
      for (int row = 0; row < rows; row++) {
        batch.token(ids[position++]);
      }
      if (position == tokens) {
        batch.output(greedy(), Batch.TOKEN);
      }
      check(backend.submit(batch));
    }
    return (System.nanoTime() - start) * 1e-9;
  }

  /**
   * Decodes sequences together, one step after the other; returns the seconds of all steps.
   *
   * @param context tokens of each sequence before the first step; their KV entries have arbitrary
   *     contents
   */
  public double decode(int sequences, int steps, int context) throws InterruptedException {
    for (int i = 0; i < sequences; i++) {
      states[i] = greedy();
    }
    int[] next = Arrays.copyOf(ids, sequences);
    long start = System.nanoTime();
    for (int step = 0; step < steps; step++) {
      StepTicket ticket = submit(batches[0], sequences, context + step, next, null);
      check(ticket);
      Arrays.setAll(next, ticket::token);
    }
    return (System.nanoTime() - start) * 1e-9;
  }

  /**
   * Decodes all sequences at the end of their context, as an engine does: one step is in flight
   * while the next is queued. Returns the seconds of a step.
   */
  double decodeAhead(int steps, int context) throws InterruptedException {
    long start = 0;
    StepTicket before = null;
    for (int step = -WARM_UP; step < steps; step++) {
      if (step == 0) {
        check(before);
        start = System.nanoTime();
      }
      Batch batch = batches[step & 1];
      StepTicket ticket = submit(batch, pageTables.length, context - 1, ids, before);
      if (before != null) {
        check(before);
      }
      before = ticket;
    }
    check(before);
    return (System.nanoTime() - start) * 1e-9 / steps;
  }

  /**
   * @param next the tokens of the sequences, unless they are the tokens of {@code before}
   */
  private StepTicket submit(
      Batch batch, int sequences, int position, int[] next, StepTicket before) {
    batch.clear();
    for (int i = 0; i < sequences; i++) {
      batch.beginChunk(pageTables[i], pageTables[i].length, position);
      if (before == null) {
        batch.token(next[i]);
      } else {
        batch.tokenFrom(before, i);
      }
      batch.output(states[i], Batch.TOKEN);
    }
    return backend.submit(batch);
  }

  private static void check(StepTicket ticket) throws InterruptedException {
    ticket.await();
    if (ticket.failure() != null) {
      throw new CliException("a step failed: " + Errors.line(ticket.failure()), ticket.failure());
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
