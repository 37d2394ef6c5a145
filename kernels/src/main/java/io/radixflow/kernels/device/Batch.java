package io.radixflow.kernels.device;

import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.kernels.sampling.TokenMask;
import java.util.Arrays;

/**
 * The rows of one step, as flat arrays that are reused from step to step.
 *
 * <p>A batch is a list of <em>chunks</em>; a chunk is a run of consecutive positions of one
 * sequence: one row for a decode step, several for a prefill chunk or drafts. Each row has an input
 * token, a literal or the output of an earlier ticket; rows may ask for an output.
 *
 * <pre>
 *   batch.clear();
 *   batch.beginChunk(pageTable, pages, position);
 *   batch.token(id); …            // or batch.tokenFrom(ticket, output)
 *   int output = batch.output(sampling, wants);   // of the row added last, or
 *   int output = batch.score(sampling, id);       // what the row added last says of a token
 * </pre>
 *
 * <p>Page tables and token masks are borrowed, not copied: they must not change until the ticket is
 * done.
 *
 * <p>Not thread safe; owned by the engine, lent to the backend from submit until the ticket is
 * done.
 */
public final class Batch {

  /** Output flag: only the sampled token. */
  public static final int TOKEN = 0;

  /** Output flag: the log probability of the sampled token and of the most probable tokens. */
  public static final int LOGPROBS = 1;

  /** Output flag: the raw logits of the row. */
  public static final int LOGITS = 2;

  private int chunks;
  private int[][] chunkPages = new int[16][];
  private int[] chunkPageCount = new int[16];
  private int[] chunkPosition = new int[16];
  private int[] chunkFirstRow = new int[17];

  private int rows;
  private int[] rowToken = new int[64];
  private StepTicket[] rowSource = new StepTicket[64];
  private int[] rowSourceOutput = new int[64];

  private int outputs;
  private int[] outputRow = new int[16];
  private int[] outputFlags = new int[16];
  private SamplingState[] outputSampling = new SamplingState[16];
  private long[][] outputMask = new long[16][];
  private int[] outputGiven = new int[16];

  /** Empties the batch, keeping its arrays. */
  public void clear() {
    Arrays.fill(chunkPages, 0, chunks, null);
    Arrays.fill(rowSource, 0, rows, null);
    Arrays.fill(outputSampling, 0, outputs, null);
    Arrays.fill(outputMask, 0, outputs, null);
    chunks = 0;
    rows = 0;
    outputs = 0;
    chunkFirstRow[0] = 0;
  }

  /**
   * Begins a chunk.
   *
   * @param pageTable page numbers of the sequence, in order from position 0; must cover every row
   *     of the chunk
   * @param pages how many entries of {@code pageTable} are valid
   * @param position position of the chunk's first row in its sequence, from 0
   */
  public void beginChunk(int[] pageTable, int pages, int position) {
    if (chunks == chunkPages.length) {
      int size = chunks * 2;
      chunkPages = Arrays.copyOf(chunkPages, size);
      chunkPageCount = Arrays.copyOf(chunkPageCount, size);
      chunkPosition = Arrays.copyOf(chunkPosition, size);
      chunkFirstRow = Arrays.copyOf(chunkFirstRow, size + 1);
    }
    chunkPages[chunks] = pageTable;
    chunkPageCount[chunks] = pages;
    chunkPosition[chunks] = position;
    chunkFirstRow[chunks] = rows;
    chunks++;
    chunkFirstRow[chunks] = rows;
  }

  /** Adds a row whose input is a token id. */
  public void token(int id) {
    addRow(id, null, 0);
  }

  /**
   * Adds a row whose input token is an output of an earlier ticket. That ticket need not be done.
   */
  public void tokenFrom(StepTicket ticket, int output) {
    addRow(-1, ticket, output);
  }

  private void addRow(int id, StepTicket source, int sourceOutput) {
    if (rows == rowToken.length) {
      int size = rows * 2;
      rowToken = Arrays.copyOf(rowToken, size);
      rowSource = Arrays.copyOf(rowSource, size);
      rowSourceOutput = Arrays.copyOf(rowSourceOutput, size);
    }
    rowToken[rows] = id;
    rowSource[rows] = source;
    rowSourceOutput[rows] = sourceOutput;
    rows++;
    chunkFirstRow[chunks] = rows;
  }

  /**
   * Asks for an output of the row that was added last.
   *
   * @param sampling how to draw the token; null to draw none (then flags must say {@link #LOGITS})
   * @param flags bit set of {@link #LOGPROBS} and {@link #LOGITS}, or {@link #TOKEN}
   * @return the number of the output on the ticket
   */
  public int output(SamplingState sampling, int flags) {
    return output(sampling, flags, null);
  }

  /**
   * Like {@link #output(SamplingState, int)}, but draws only tokens that the mask allows.
   *
   * @param mask see {@link TokenMask}, borrowed until the ticket is done; null for all tokens
   */
  public int output(SamplingState sampling, int flags, long[] mask) {
    if (outputs == outputRow.length) {
      int size = outputs * 2;
      outputRow = Arrays.copyOf(outputRow, size);
      outputFlags = Arrays.copyOf(outputFlags, size);
      outputSampling = Arrays.copyOf(outputSampling, size);
      outputMask = Arrays.copyOf(outputMask, size);
      outputGiven = Arrays.copyOf(outputGiven, size);
    }
    outputRow[outputs] = rows - 1;
    outputFlags[outputs] = flags;
    outputSampling[outputs] = sampling;
    outputMask[outputs] = mask;
    outputGiven[outputs] = -1;
    return outputs++;
  }

  /**
   * Asks for log probabilities of the row that was added last. The output's token is {@code token};
   * none is drawn.
   *
   * @param sampling says how many of the most probable tokens are reported. It must be greedy. A
   *     {@linkplain SamplingState#draftView view} may be used for several rows.
   * @param token an id of the vocabulary
   * @return the number of the output on the ticket
   */
  public int score(SamplingState sampling, int token) {
    int output = output(sampling, LOGPROBS, null);
    outputGiven[output] = token;
    return output;
  }

  /** Number of chunks. */
  public int chunks() {
    return chunks;
  }

  /** Number of rows. */
  public int rows() {
    return rows;
  }

  /** Number of outputs. */
  public int outputs() {
    return outputs;
  }

  /** The page table of a chunk; only the first {@link #chunkPageCount} entries are valid. */
  public int[] chunkPages(int chunk) {
    return chunkPages[chunk];
  }

  /** Valid entries of the chunk's page table. */
  public int chunkPageCount(int chunk) {
    return chunkPageCount[chunk];
  }

  /** Sequence position of the chunk's first row. */
  public int chunkPosition(int chunk) {
    return chunkPosition[chunk];
  }

  /** Batch row of the chunk's first row. */
  public int chunkFirstRow(int chunk) {
    return chunkFirstRow[chunk];
  }

  /** Number of rows of the chunk. */
  public int chunkRows(int chunk) {
    return chunkFirstRow[chunk + 1] - chunkFirstRow[chunk];
  }

  /**
   * The input token of a row: its literal id, or the token of its source ticket, which must be
   * done.
   */
  public int rowToken(int row) {
    StepTicket source = rowSource[row];
    return source == null ? rowToken[row] : source.token(rowSourceOutput[row]);
  }

  /** The ticket that a row's token comes from, or null for a literal. */
  public StepTicket rowSource(int row) {
    return rowSource[row];
  }

  /** Which output of {@link #rowSource} is the row's token. */
  public int rowSourceOutput(int row) {
    return rowSourceOutput[row];
  }

  /** The row that an output belongs to. */
  public int outputRow(int output) {
    return outputRow[output];
  }

  /** The flags of an output. */
  public int outputFlags(int output) {
    return outputFlags[output];
  }

  /** The sampling state of an output, or null. */
  public SamplingState outputSampling(int output) {
    return outputSampling[output];
  }

  /** The token passed to {@link #score}; -1 if the output's token is drawn. */
  public int outputGiven(int output) {
    return outputGiven[output];
  }

  /** The token mask of an output, or null if it may draw any token. */
  public long[] outputMask(int output) {
    return outputMask[output];
  }
}
