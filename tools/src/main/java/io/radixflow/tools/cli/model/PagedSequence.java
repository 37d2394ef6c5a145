package io.radixflow.tools.cli.model;

import io.radixflow.kernels.device.Batch;

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
   * @param pages gives the pages
   */
  PagedSequence(int[] ids, boolean[] wanted, PageStack pages, int pageTokens) {
    this.ids = ids;
    this.wanted = wanted;
    int last = wanted.length - 1;
    while (!wanted[last]) {
      last--;
    }
    length = last + 1;
    pageTable = new int[pagesFor(length, pageTokens)];
    for (int i = 0; i < pageTable.length; i++) {
      pageTable[i] = pages.take();
    }
  }

  public static int pagesFor(int tokens, int pageTokens) {
    return (tokens + pageTokens - 1) / pageTokens;
  }

  /** Position of the next token to compute. */
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

  void release(PageStack pages) {
    for (int page : pageTable) {
      pages.give(page);
    }
  }
}
