package io.radixflow.engine.request;

import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.StepTicket;
import java.util.Arrays;

/** One step: its batch, its ticket, and the requests whose rows are in it. Reused. */
public final class Step {
  public final Batch batch = new Batch();
  public StepTicket ticket;

  /** Time of the submission, as of {@link System#nanoTime}. */
  public long submittedNanos;

  /** Rows of decoding requests, including drafts, if the step is not for a single request. */
  public int decodeRows;

  /** Rows of prompts, if the step is not for a single request. */
  public int prefillRows;

  /** The sum of these rows' positions. */
  private long prefillPositions;

  /** Logits that the rows of drafts may adjust. */
  public int draftAdjustments;

  private int size;
  private Request[] requests = new Request[16];
  private int[] from = new int[16];
  private int[] rows = new int[16];
  private int[] outputs = new int[16];
  private int[] drafts = new int[16];
  private int[] scores = new int[16];

  public void clear() {
    batch.clear();
    ticket = null;
    decodeRows = 0;
    prefillRows = 0;
    prefillPositions = 0;
    draftAdjustments = 0;
    Arrays.fill(requests, 0, size, null);
    size = 0;
  }

  /** Records a request's chunk without drafts; see {@link #add(Request, int, int, int, int)}. */
  public void add(Request request, int position, int count, int output) {
    add(request, position, count, output, 0);
  }

  /**
   * Records a request's chunk.
   *
   * @param count number of rows, without rows of drafts
   * @param output output of the last row; -1 if the chunk asks for no token
   * @param draftCount number of draft rows after them, which have the next outputs
   */
  public void add(Request request, int position, int count, int output, int draftCount) {
    if (size == requests.length) {
      requests = Arrays.copyOf(requests, 2 * size);
      from = Arrays.copyOf(from, 2 * size);
      rows = Arrays.copyOf(rows, 2 * size);
      outputs = Arrays.copyOf(outputs, 2 * size);
      drafts = Arrays.copyOf(drafts, 2 * size);
      scores = Arrays.copyOf(scores, 2 * size);
    }
    requests[size] = request;
    from[size] = position;
    rows[size] = count;
    outputs[size] = output;
    drafts[size] = draftCount;
    scores[size] = -1;
    size++;
  }

  /** Records the first of the outputs that score the prompt of the last added chunk. */
  public void addScores(int output) {
    scores[size - 1] = output;
  }

  /** Adds rows of a prompt to the prompt rows of the step. */
  public void addPrefill(int position, int count) {
    prefillRows += count;
    prefillPositions += count * (2L * position + count - 1) / 2;
  }

  /** Returns the mean position of the rows of prompts; there must be at least one. */
  public double prefillPosition() {
    return (double) prefillPositions / prefillRows;
  }

  public int size() {
    return size;
  }

  public Request request(int index) {
    return requests[index];
  }

  /** Returns the end of the positions that the request's chunk computes, without drafts. */
  public int end(int index) {
    return from[index] + rows[index];
  }

  /** Returns the first output that scores the request's prompt; -1 for none. */
  public int scores(int index) {
    return scores[index];
  }

  /** Returns the position of the first row of the request's chunk. */
  public int from(int index) {
    return from[index];
  }

  public int output(int index) {
    return outputs[index];
  }

  /** Returns the number of drafts that the request's chunk has. */
  public int drafts(int index) {
    return drafts[index];
  }
}
