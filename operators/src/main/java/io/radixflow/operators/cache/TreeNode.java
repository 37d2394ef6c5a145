package io.radixflow.operators.cache;

import java.util.Arrays;

/**
 * A run of pages in the radix tree: the token ids they hold and their numbers in the pool.
 *
 * <p>A lock counts at its node and all ancestors, so a node's count is at least that of each child.
 * Unlocked nodes are linked into the eviction order; locked ones are in none.
 *
 * <p>When a node is split, the new object takes the front and this one keeps the end: whoever holds
 * a node goes on holding the end of the same prefix.
 */
public final class TreeNode {
  private static final int[] NONE = {};

  TreeNode parent;
  final ChildTable children = new ChildTable();

  /** Locks on this node or a descendant. */
  int lockCount;

  /** Neighbours in the eviction order, and whether the node is in it. */
  TreeNode older;

  TreeNode newer;
  boolean ordered;

  private int[] tokens = NONE;
  private int[] pages = NONE;
  private int pageCount;
  private int firstPageHash;

  TreeNode(TreeNode parent) {
    this.parent = parent;
  }

  /** Pages of this node alone. */
  public int pageCount() {
    return pageCount;
  }

  int page(int index) {
    return pages[index];
  }

  int firstPageHash() {
    return firstPageHash;
  }

  /** Whether this node begins with the page of {@code ids} at {@code from}. */
  boolean beginsWith(int[] ids, int from, int pageTokens) {
    return Arrays.equals(tokens, 0, pageTokens, ids, from, from + pageTokens);
  }

  /** How many whole pages equal those of {@code ids} from {@code from}, at most {@code limit}. */
  int matchingPages(int[] ids, int from, int limit, int pageTokens) {
    int length = Math.min(limit, pageCount) * pageTokens;
    int at = Arrays.mismatch(tokens, 0, length, ids, from, from + length);
    return (at < 0 ? length : at) / pageTokens;
  }

  void copyPagesTo(int[] table, int at) {
    System.arraycopy(pages, 0, table, at, pageCount);
  }

  /** Appends pages {@code from .. to-1} of a sequence. */
  void append(int[] ids, int[] table, int from, int to, int pageTokens) {
    int count = pageCount + to - from;
    if (count > pages.length) {
      int capacity = pageCount == 0 ? count : Math.max(count, 2 * pageCount);
      pages = Arrays.copyOf(pages, capacity);
      tokens = Arrays.copyOf(tokens, capacity * pageTokens);
    }
    System.arraycopy(table, from, pages, pageCount, to - from);
    System.arraycopy(
        ids, from * pageTokens, tokens, pageCount * pageTokens, (to - from) * pageTokens);
    if (pageCount == 0) {
      firstPageHash = ChildTable.hash(tokens, 0, pageTokens);
    }
    pageCount = count;
  }

  /** Appends all pages of {@code next}. */
  void appendAll(TreeNode next, int pageTokens) {
    append(next.tokens, next.pages, 0, next.pageCount, pageTokens);
  }

  /** Drops the first {@code count} pages, which are at least one and not all. */
  void dropFront(int count, int pageTokens) {
    pages = Arrays.copyOfRange(pages, count, pageCount);
    tokens = Arrays.copyOfRange(tokens, count * pageTokens, pageCount * pageTokens);
    pageCount -= count;
    firstPageHash = ChildTable.hash(tokens, 0, pageTokens);
  }

  /** Drops the last page and returns its number. */
  int dropLast(int pageTokens) {
    int page = pages[--pageCount];
    if (pageCount > 0 && pageCount < pages.length / 2) {
      pages = Arrays.copyOf(pages, pageCount);
      tokens = Arrays.copyOf(tokens, pageCount * pageTokens);
    }
    return page;
  }

  /** Makes {@code front} hold the first {@code count} pages of this node. */
  void copyFrontTo(TreeNode front, int count, int pageTokens) {
    front.append(tokens, pages, 0, count, pageTokens);
  }
}
