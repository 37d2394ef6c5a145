package io.radixflow.kernels.cpu.attention;

/**
 * The addresses of pages, for native code. The list is the same for all heads and for all layers of
 * one kind, so it is kept until {@link #clear}.
 *
 * <p>Owned by one worker. Needs the library of native kernels.
 */
final class PageList {

  /** The addresses, from index 0 on. */
  final long[] addresses = new long[mostPages()];

  /** Number of addresses. */
  int count;

  /** The page table of the current list; null if there is no list. */
  private int[] table;

  private KvSlabs slabs;
  private int firstPage;
  private int from;
  private int to;

  /** Returns the largest number of pages that native code accepts. */
  private static native int mostPages();

  /** Lists pages from {@code from} on, up to {@code to} or until the list is full. */
  void take(HeadQueries q, int from, int to) {
    KvSlabs slabs = q.pool.slabs(q.layer);
    if (table == q.table
        && this.slabs == slabs
        && firstPage == q.firstPage
        && this.from == from
        && this.to == to) {
      return;
    }
    clear();
    count = Math.min(to - from, addresses.length);
    for (int i = 0; i < count; i++) {
      addresses[i] = slabs.address(q.pool.unit(q.table[q.firstPage + from + i], q.layer));
    }
    table = q.table;
    this.slabs = slabs;
    firstPage = q.firstPage;
    this.from = from;
    this.to = to;
  }

  /** Discards the list, before a page table or the pool changes. */
  void clear() {
    table = null;
    slabs = null;
  }
}
