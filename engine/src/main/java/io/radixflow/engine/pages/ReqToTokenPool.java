package io.radixflow.engine.pages;

import java.util.Arrays;

/**
 * The page tables of running requests, one row a request. Rows and their arrays are reused; an
 * array that a step may be reading is never changed below the pages it was given, and a row that
 * grows gets a new array.
 */
public final class ReqToTokenPool {
  private static final int FIRST_PAGES = 32;

  private final int[][] rows;
  private final int[] free;
  private int freeCount;

  /**
   * @param requests rows
   */
  public ReqToTokenPool(int requests) {
    rows = new int[requests][FIRST_PAGES];
    free = new int[requests];
    for (int i = 0; i < requests; i++) {
      free[i] = requests - 1 - i;
    }
    freeCount = requests;
  }

  /** Returns the number of rows that no request has. */
  public int free() {
    return freeCount;
  }

  /** Takes a row; there must be a free one. */
  public int acquire() {
    return free[--freeCount];
  }

  /** Gives a row back; no step may be reading it. */
  public void release(int row) {
    free[freeCount++] = row;
  }

  /** Returns the page table of a row, valid until the next {@link #ensure} of it. */
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
