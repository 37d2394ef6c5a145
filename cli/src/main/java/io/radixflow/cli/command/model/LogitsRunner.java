package io.radixflow.cli.command.model;

import io.radixflow.cli.command.common.Errors;
import io.radixflow.kernels.device.Backend;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.protocol.json.InvalidInputException;
import java.util.ArrayList;
import java.util.List;

/**
 * Computes logits on a backend, one request after another, each in chunks. Other sequences may run
 * in the same batches, to test that they do not change the result. Not thread-safe.
 */
final class LogitsRunner implements AutoCloseable {
  private static final int PREFERRED_PAGE_TOKENS = 16;
  private static final int COMPANIONS = 3;

  private final Backend backend;
  private final int chunk;
  private final List<int[]> company;
  private final KvPool pool;
  private final int firstOfCompanions;
  private final int pagesOfCompanion;
  private final List<PagedSequence> companions = new ArrayList<>();
  private final Batch batch = new Batch();
  private final float[] logits;
  private int nextCompanion;

  /**
   * @param chunk rows of one sequence in a batch
   * @param company token ids of other sequences, which run repeatedly; may be empty
   * @param longest length of the longest request
   */
  LogitsRunner(Backend backend, int chunk, List<int[]> company, int longest) {
    this.backend = backend;
    this.chunk = chunk;
    this.company = company;
    int seats = Math.min(COMPANIONS, company.size());
    int pageTokens = pageTokens(backend);
    int companionTokens = company.stream().mapToInt(ids -> ids.length).max().orElse(0);
    int pages = PagedSequence.pagesFor(longest, pageTokens);
    pagesOfCompanion = PagedSequence.pagesFor(companionTokens, pageTokens);
    pool = backend.openPool(pages + seats * pagesOfCompanion, pageTokens);
    firstOfCompanions = pages;
    for (int i = 0; i < seats; i++) {
      companions.add(nextCompanion(i));
    }
    logits = new float[backend.model().vocabSize()];
  }

  private static int pageTokens(Backend backend) {
    int[] supported = backend.pageTokens();
    for (int tokens : supported) {
      if (tokens == PREFERRED_PAGE_TOKENS) {
        return tokens;
      }
    }
    return supported[0];
  }

  private PagedSequence nextCompanion(int seat) {
    int[] ids = company.get(nextCompanion++ % company.size());
    boolean[] wanted = new boolean[ids.length];
    wanted[ids.length - 1] = true;
    return new PagedSequence(
        ids, wanted, firstOfCompanions + seat * pagesOfCompanion, pool.pageTokens());
  }

  /**
   * Returns the logits after each of {@code positions}. There must be at least one position; tokens
   * after the last position are not computed.
   *
   * @throws InvalidInputException if a step fails
   */
  LogitsResult run(int[] ids, int[] positions) throws InterruptedException {
    boolean[] wanted = new boolean[ids.length];
    for (int position : positions) {
      wanted[position] = true;
    }
    LogitsResult result = new LogitsResult(logits.length);
    PagedSequence sequence = new PagedSequence(ids, wanted, 0, pool.pageTokens());
    while (!sequence.done()) {
      step(sequence, result);
    }
    return result;
  }

  private void step(PagedSequence sequence, LogitsResult result) throws InterruptedException {
    batch.clear();
    int room = backend.maxBatchRows();
    int first = sequence.position();
    int rows = sequence.addChunk(batch, Math.min(chunk, room - companions.size()));
    addCompanions(room - rows);
    StepTicket ticket = backend.submit(batch);
    ticket.await();
    if (ticket.failure() != null) {
      throw new InvalidInputException("the step failed: " + Errors.line(ticket.failure()));
    }
    int output = 0;
    for (int position = first; position < first + rows; position++) {
      if (sequence.wants(position)) {
        ticket.logits(output++, logits);
        result.add(position, logits);
      }
    }
  }

  private void addCompanions(int rows) {
    for (int i = 0; i < companions.size(); i++) {
      if (companions.get(i).done()) {
        companions.set(i, nextCompanion(i));
      }
      companions.get(i).addChunk(batch, Math.min(chunk, rows / companions.size()));
    }
  }

  @Override
  public void close() {
    pool.close();
  }
}
