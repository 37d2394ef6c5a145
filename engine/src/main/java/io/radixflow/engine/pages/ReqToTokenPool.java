package io.radixflow.engine.pages;

import java.util.Arrays;

/**
 * The page tables of running requests, one row per request. Rows and their arrays are reused. The
 * entries that a step was given are never changed while the step may read them; a row that grows
 * gets a new array.
 */
public final class ReqToTokenPool {
  private static final int FIRST_PAGES = 32;

  private final int[][] rows;
  private final int[] free;
  private int freeCount;

  /**
   * @param requests number of rows
   */
  public ReqToTokenPool(int requests) {
    rows = new int[requests][FIRST_PAGES];
    free = new int[requests];
    for (int i = 0; i < requests; i++) {
      free[i] = requests - 1 - i;
    }
    freeCount = requests;
  }

  public int free() {
    return freeCount;
  }

  /** Takes a row; at least one must be free. */
  public int acquire() {
    return free[--freeCount];
  }

  /** Returns a row to the pool; no step may be reading it. */
  public void release(int row) {
    free[freeCount++] = row;
  }

  /** Returns the page table of a row, valid until the next {@link #ensure} for it. */
  public int[] pages(int row) {
    return rows[row];
  }

  /** Makes room for {@code pages} entries and returns the table. */
  public int[] ensure(int row, int pages) {
    int[] table = rows[row];
    if (table.length < pages) {
      table = Arrays.copyOf(table, Math.max(pages, 2 * table.length));
      rows[row] = table;
    }
    return table;
  }
}
