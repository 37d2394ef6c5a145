package io.radixflow.cli.command.model;

import io.radixflow.kernels.device.Batch;
import java.util.Arrays;

/** Token ids that are computed chunk by chunk, with pages for all of them. */
public final class PagedSequence {
  private final int[] ids;
  private final boolean[] wanted;
  private final int length;
  private final int[] pageTable;
  private int position;

  /**
   * @param ids token ids
   * @param wanted positions whose logits are asked for, at least one; nothing after the last of
   *     them is computed
   * @param firstPage the first of the pages that are its own
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

  /** Adds the next chunk, of at most {@code rows} rows, with its outputs; returns its rows. */
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
