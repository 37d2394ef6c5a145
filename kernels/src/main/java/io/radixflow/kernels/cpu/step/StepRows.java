package io.radixflow.kernels.cpu.step;

import io.radixflow.kernels.cpu.attention.CpuKvPool;
import io.radixflow.kernels.cpu.attention.ScoreRoom;
import io.radixflow.kernels.device.Batch;
import java.util.Arrays;

/**
 * The rows of the current step, validated: the token, position and page table of each row, and the
 * blocks of consecutive rows that attention processes together. It is reused from step to step. The
 * dispatcher writes it before the step's regions run.
 */
final class StepRows {

  private final int vocabSize;
  private final int contextLength;
  private final ScoreRoom room;

  int rows;
  int[] token = new int[64];
  int[] position = new int[64];
  int[][] pages = new int[64][];

  int blocks;
  int[] blockFirst = new int[64];
  int[] blockRows = new int[64];

  /** Length of the longest sequence, up to and including its last row. */
  int longest;

  StepRows(int vocabSize, int contextLength, ScoreRoom room) {
    this.vocabSize = vocabSize;
    this.contextLength = contextLength;
    this.room = room;
  }

  /**
   * Validates a batch and copies its rows.
   *
   * @throws IllegalArgumentException if a token, position or page is out of range
   */
  void take(Batch batch, int poolPages) {
    clear();
    rows = batch.rows();
    if (token.length < rows) {
      grow(Math.max(rows, token.length * 2));
    }
    for (int chunk = 0; chunk < batch.chunks(); chunk++) {
      takeChunk(batch, chunk, poolPages);
    }
  }

  /** Drops references to page tables. */
  void clear() {
    Arrays.fill(pages, 0, rows, null);
    rows = 0;
    blocks = 0;
    longest = 0;
  }

  private void grow(int size) {
    token = Arrays.copyOf(token, size);
    position = Arrays.copyOf(position, size);
    pages = Arrays.copyOf(pages, size);
    blockFirst = Arrays.copyOf(blockFirst, size);
    blockRows = Arrays.copyOf(blockRows, size);
  }

  private void takeChunk(Batch batch, int chunk, int poolPages) {
    int count = batch.chunkRows(chunk);
    int first = batch.chunkFirstRow(chunk);
    int start = batch.chunkPosition(chunk);
    int[] table = batch.chunkPages(chunk);
    if (start < 0 || (long) start + count > contextLength) {
      throw new IllegalArgumentException(
          String.format(
              "positions %s to %s exceed the context of %s",
              start, start + count - 1, contextLength));
    }
    checkPages(table, batch.chunkPageCount(chunk), start + count, poolPages);
    int rowsPerBlock = room.rows(start + count);
    for (int i = 0; i < count; i++) {
      int id = batch.rowToken(first + i);
      if (id < 0 || id >= vocabSize) {
        throw new IllegalArgumentException("token " + id + " is not in 0 to " + (vocabSize - 1));
      }
      token[first + i] = id;
      position[first + i] = start + i;
      pages[first + i] = table;
      if (i % rowsPerBlock == 0) {
        blockFirst[blocks] = first + i;
        blockRows[blocks++] = Math.min(rowsPerBlock, count - i);
      }
    }
    longest = Math.max(longest, start + count);
  }

  private static void checkPages(int[] table, int pageCount, int tokens, int poolPages) {
    int needed = (tokens + CpuKvPool.PAGE_TOKENS - 1) / CpuKvPool.PAGE_TOKENS;
    if (pageCount < needed || table.length < needed) {
      throw new IllegalArgumentException(
          "page table has " + pageCount + " pages; " + tokens + " tokens need " + needed);
    }
    for (int i = 0; i < needed; i++) {
      if (table[i] < 0 || table[i] >= poolPages) {
        throw new IllegalArgumentException(
            "page " + table[i] + " is not in a pool of " + poolPages + " pages");
      }
    }
  }
}
