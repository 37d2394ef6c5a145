package io.radixflow.cli.command.model;

import io.radixflow.kernels.device.Batch;
import java.util.Arrays;

/** A sequence of token ids that is computed chunk by chunk. It has pages for all tokens. */
public final class PagedSequence {
  private final int[] ids;
  private final boolean[] wanted;
  private final int length;
  private final int[] pageTable;
  private int position;

  /**
   * @param ids token ids
   * @param wanted positions whose logits are requested, at least one; tokens after the last such
   *     position are not computed
   * @param firstPage the first of its own pages
   */
  PagedSequence(int[] ids, boolean[] wanted, int firstPage, int pageTokens) {
    this.ids = ids;
    this.wanted = wanted;
    int last = wanted.length - 1;
    while (!wanted[last]) {
      last--;
    }
    length = last + 1;
    pageTable = new int[pagesFor(length, pageTokens)];
    Arrays.setAll(pageTable, i -> firstPage + i);
  }

  public static int pagesFor(int tokens, int pageTokens) {
    return (tokens + pageTokens - 1) / pageTokens;
  }

  int position() {
    return position;
  }

  boolean wants(int at) {
    return wanted[at];
  }

  boolean done() {
    return position == length;
  }

  /**
   * Adds the next chunk of at most {@code rows} rows with its outputs; returns the number of its
   * rows.
   */
  int addChunk(Batch batch, int rows) {
    int count = Math.min(rows, length - position);
    batch.beginChunk(pageTable, pageTable.length, position);
    for (int row = 0; row < count; row++) {
      batch.token(ids[position]);
      if (wanted[position++]) {
        batch.output(null, Batch.LOGITS);
      }
    }
    return count;
  }
}
