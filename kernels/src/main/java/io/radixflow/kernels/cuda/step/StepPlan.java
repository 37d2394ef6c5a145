package io.radixflow.kernels.cuda.step;

import io.radixflow.kernels.cuda.pages.CudaKvPool;
import io.radixflow.kernels.device.Batch;
import io.radixflow.kernels.device.StepTicket;
import io.radixflow.kernels.sampling.SamplingState;
import io.radixflow.kernels.sampling.TokenMask;
import java.nio.IntBuffer;

/**
 * Writes one step's metadata ({@link StepLayout}) from a batch into a buffer that is sent to the
 * device in one copy, and checks the batch. {@link #attention} adds the tiles of attention.
 *
 * <p>Reused from step to step. Owned by the thread that submits.
 */
public final class StepPlan {

  /** Finds a token that an earlier step draws. */
  @FunctionalInterface
  public interface TokenRing {
    /**
     * @return the index in the device's ring of sampled tokens; -1 if the ticket is done and has
     *     the token
     */
    int index(StepTicket ticket, int output);
  }

  private final StepLayout layout;
  private final int vocabSize;
  private final int contextLength;
  private final SamplingRecord records;
  private IntBuffer target;
  private int rows;
  private int chunks;
  private int outputs;
  private int end;
  private boolean decodeOnly;

  public StepPlan(StepLayout layout, int vocabSize, int contextLength) {
    this.layout = layout;
    this.vocabSize = vocabSize;
    this.contextLength = contextLength;
    records = new SamplingRecord(vocabSize);
  }

  /**
   * Checks a batch and writes its metadata.
   *
   * @param target receives {@link #ints()} integers
   * @param pages pages of the pool
   * @param pageTokens tokens per page
   * @param ring finds tokens of earlier steps
   * @param ringBase ring index for this step's first token
   * @throws IllegalArgumentException if a token, position or page is out of range, or the step does
   *     not fit
   */
  public void take(
      IntBuffer target, Batch batch, int pages, int pageTokens, TokenRing ring, int ringBase) {
    this.target = target;
    rows = batch.rows();
    chunks = batch.chunks();
    outputs = batch.outputs();
    end = layout.tail();
    decodeOnly = chunks == rows;
    if (rows < 1 || rows > layout.maxRows() || outputs > layout.maxRows()) {
      throw new IllegalArgumentException(
          String.format(
              "a step of %s rows and %s outputs; 1 to %s are possible",
              rows, outputs, layout.maxRows()));
    }
    for (int chunk = 0; chunk < chunks; chunk++) {
      takeChunk(batch, chunk, pages, pageTokens, ring);
    }
    target.put(layout.chunkFirstRow() + chunks, rows);
    target.put(layout.chunkPageStart() + chunks, end - layout.tail());
    takeOutputs(batch, ring);
    target.put(StepLayout.ROWS, rows);
    target.put(StepLayout.CHUNKS, chunks);
    target.put(StepLayout.OUTPUTS, outputs);
    target.put(StepLayout.RING, ringBase);
    target.put(StepLayout.PADDED_ROWS, rows);
    for (int block = 0; block < StepLayout.OUTPUT_BLOCKS; block++) {
      int left = outputs - block * layout.blockOutputs();
      target.put(
          StepLayout.BLOCK_OUTPUTS + block, Math.max(0, Math.min(left, layout.blockOutputs())));
    }
  }

  private void takeChunk(Batch batch, int chunk, int poolPages, int pageTokens, TokenRing ring) {
    int first = batch.chunkFirstRow(chunk);
    int count = batch.chunkRows(chunk);
    int start = batch.chunkPosition(chunk);
    if (start < 0 || (long) start + count > contextLength) {
      throw new IllegalArgumentException(
          String.format(
              "positions %s to %s exceed the context of %s",
              start, start + count - 1, contextLength));
    }
    int[] table = batch.chunkPages(chunk);
    int needed = (start + count + pageTokens - 1) / pageTokens;
    if (batch.chunkPageCount(chunk) < needed || table.length < needed) {
      throw new IllegalArgumentException(
          String.format(
              "page table has %s pages; %s tokens need %s",
              batch.chunkPageCount(chunk), start + count, needed));
    }
    target.put(layout.chunkFirstRow() + chunk, first);
    target.put(layout.chunkPosition() + chunk, start);
    target.put(layout.chunkPageStart() + chunk, end - layout.tail());
    reserve(needed);
    for (int i = 0; i < needed; i++) {
      if (table[i] < 0 || table[i] >= poolPages) {
        throw new IllegalArgumentException(
            "page " + table[i] + " is not in a pool of " + poolPages + " pages");
      }
      target.put(end + i, table[i]);
    }
    end += needed;
    for (int i = 0; i < count; i++) {
      int row = first + i;
      int position = start + i;
      target.put(layout.rowToken() + row, token(batch, row, ring));
      target.put(layout.rowPosition() + row, position);
      target.put(
          layout.rowSlot() + row,
          table[position / pageTokens] * pageTokens + position % pageTokens);
    }
  }

  private int token(Batch batch, int row, TokenRing ring) {
    int index = ringIndex(batch, row, ring);
    if (index >= 0) {
      return -1 - index;
    }
    int id = batch.rowToken(row);
    if (id < 0 || id >= vocabSize) {
      throw new IllegalArgumentException("token " + id + " is not in 0 to " + (vocabSize - 1));
    }
    return id;
  }

  private static int ringIndex(Batch batch, int row, TokenRing ring) {
    StepTicket source = batch.rowSource(row);
    return source == null ? -1 : ring.index(source, batch.rowSourceOutput(row));
  }

  private void takeOutputs(Batch batch, TokenRing ring) {
    int first = end + 3 & -4;
    target.put(StepLayout.ADJUSTMENTS, first);
    end = first;
    for (int output = 0; output < outputs; output++) {
      int row = batch.outputRow(output);
      int at = layout.sampling() + output * StepLayout.SAMPLING_INTS;
      target.put(layout.outputRow() + output, row);
      SamplingState state = batch.outputSampling(output);
      if (state == null) {
        SamplingRecord.writeNone(target, at);
        continue;
      }
      int from = (end - first) / SamplingRecord.ADJUSTMENT_INTS;
      reserve(SamplingRecord.ADJUSTMENT_INTS * state.mostAdjustments());
      int written = state.writeAdjustments(target, end);
      end += SamplingRecord.ADJUSTMENT_INTS * written;
      boolean logprobs = (batch.outputFlags(output) & Batch.LOGPROBS) != 0;
      int pending = ringIndex(batch, row, ring);
      records.write(target, at, state, logprobs, pending, from, written);
      SamplingRecord.writeGiven(target, at, batch.outputGiven(output));
    }
    takeMasks(batch);
  }

  private void takeMasks(Batch batch) {
    long[] taken = null;
    int offset = 0;
    for (int output = 0; output < outputs; output++) {
      long[] mask = batch.outputMask(output);
      if (mask == null || batch.outputSampling(output) == null) {
        continue;
      }
      if (mask != taken) {
        TokenMask.check(mask, vocabSize);
        int words = TokenMask.words(vocabSize);
        reserve(2 * words);
        for (int word = 0; word < words; word++) {
          target.put(end + 2 * word, (int) mask[word]);
          target.put(end + 2 * word + 1, (int) (mask[word] >>> 32));
        }
        taken = mask;
        offset = end;
        end += 2 * words;
      }
      SamplingRecord.writeMask(
          target, layout.sampling() + output * StepLayout.SAMPLING_INTS, offset);
    }
  }

  private void reserve(int ints) {
    if (ints > layout.ints() - end) {
      throw new IllegalArgumentException(
          String.format(
              "the page tables, logit adjustments and token masks of a step of %s rows take more "
                  + "than %s integers; run fewer requests at once",
              rows, layout.tailInts()));
    }
  }

  /**
   * Adds the window parts of the last batch, for layers with an attention window. A chunk's table
   * of parts begins with the split that contains the first key of its window. Only pages before the
   * window may lack a part, because the kernels use the entries of all others.
   *
   * @param window number of tokens that a query sees
   * @throws IllegalArgumentException if the tables do not fit
   * @throws IllegalStateException if a page that a row's query sees has no part
   */
  void windows(CudaKvPool pool, int window) {
    int pageTokens = pool.pageTokens();
    for (int chunk = 0; chunk < chunks; chunk++) {
      int position = target.get(layout.chunkPosition() + chunk);
      int seen = Math.max(0, position - window + 1);
      int from = seen / AttentionPlanner.SPLIT_TOKENS * AttentionPlanner.SPLIT_TOKENS / pageTokens;
      int to = (position + chunkRows(chunk) - 1) / pageTokens + 1;
      int pages = layout.tail() + target.get(layout.chunkPageStart() + chunk);
      target.put(layout.chunkPartStart() + chunk, end - from - layout.tail());
      reserve(to - from);
      for (int i = from; i < to; i++) {
        int page = target.get(pages + i);
        int part = pool.partOf(page);
        if (part == pool.parts() && i >= seen / pageTokens) {
          throw new IllegalStateException("page " + page + " has no window part");
        }
        target.put(end++, part);
      }
    }
    for (int row = 0; row < rows; row++) {
      int slot = target.get(layout.rowSlot() + row);
      int part = pool.partOf(slot / pageTokens);
      target.put(layout.rowPartSlot() + row, part * pageTokens + slot % pageTokens);
    }
  }

  /**
   * Pads the step to {@code padded} rows with token 0 at position 0.
   *
   * @param dummySlot slot for the keys and values of these rows
   * @param dummyPartSlot their slot in layers with window parts
   */
  void pad(int padded, int dummySlot, int dummyPartSlot) {
    for (int row = rows; row < padded; row++) {
      target.put(layout.rowToken() + row, 0);
      target.put(layout.rowPosition() + row, 0);
      target.put(layout.rowSlot() + row, dummySlot);
      target.put(layout.rowPartSlot() + row, dummyPartSlot);
    }
    target.put(StepLayout.PADDED_ROWS, padded);
  }

  /** Plans the attention of the last batch for the layers of a shape. */
  void attention(int shape, AttentionPlanner planner) {
    planner.begin();
    for (int chunk = 0; chunk < chunks; chunk++) {
      planner.add(target.get(layout.chunkPosition() + chunk), chunkRows(chunk));
    }
    planner.plan();
    int tileInts = AttentionPlanner.TILE_INTS * planner.tiles();
    target.put(layout.tiles(shape), planner.tileInts(), 0, tileInts);
    target.put(layout.merge(shape), planner.mergeInts(), 0, 2 * chunks);
    int header = layout.plan(shape);
    target.put(header + StepLayout.TILES, planner.tiles());
    target.put(header + StepLayout.KEY_TILES, planner.keyTiles());
    target.put(header + StepLayout.SPLIT_TOKENS, planner.splitTokens());
    target.put(header + StepLayout.FOLDED_SPLITS, planner.foldedSplits());
  }

  private int chunkRows(int chunk) {
    return target.get(layout.chunkFirstRow() + chunk + 1)
        - target.get(layout.chunkFirstRow() + chunk);
  }

  public int rows() {
    return rows;
  }

  int outputs() {
    return outputs;
  }

  /** Returns whether every chunk is one row. */
  boolean decodeOnly() {
    return decodeOnly;
  }

  /** Number of integers to send to the device. */
  public int ints() {
    return end;
  }
}
