package io.radixflow.engine.cache;

import io.radixflow.engine.cache.key.PageHash;
import io.radixflow.engine.cache.key.PageHasher;
import java.util.Arrays;

/**
 * A run of pages in the radix tree: the token ids they hold and their numbers in the pool.
 *
 * <p>All pages of a node have one history: they were stored together and used together. A lock
 * counts at its node and all ancestors, so a node's count is at least that of each child.
 *
 * <p>When a node is split, the new object takes the front and this one keeps the end. So a
 * reference to a node still refers to the end of the same prefix. A node that left the tree refers
 * to the rest of its prefix, so that a search can be resumed from it; see {@link #resume}.
 */
public final class TreeNode {
  /** The value if no hint raises the priority. */
  static final int NOT_RETAINED = Integer.MIN_VALUE;

  private static final int[] NONE = {};
  private static final long[] NO_HASHES = {};
  private static final byte[] NO_DIGESTS = {};

  final String namespace;

  /** True if pages of the public namespace come before the pages of this node's own namespace. */
  final boolean belowPublic;

  public TreeNode parent;
  ChildTable children = new ChildTable();

  /** Locks on this node or a descendant. */
  int lockCount;

  /** The number of sessions' positions at this node or below it. */
  public int claims;

  /** Pages of the prefix before this node. */
  int startPage;

  /** The number of requests that used these pages. */
  public int uses;

  /** When the request that stored these pages began to store, on the tree's logical clock. */
  long createdAt;

  /** When these pages were last used, on the same clock. */
  public long lastUsedAt;

  /** The turn of the conversation that stored these pages, 1 for the first, or 0 if unknown. */
  byte turn;

  /** The highest priority of the requests that stored these pages or a descendant's. */
  int priority;

  /** A priority that a hint gives until a time in milliseconds, or {@link #NOT_RETAINED}. */
  int retention = NOT_RETAINED;

  long retainedUntil;

  /**
   * True if the request that stored the pages still holds them, and no other request has used them
   * yet.
   */
  boolean fresh;

  /** The {@link ChildHash} of the first page, by which the parent finds this node. */
  int firstPageHash;

  /** Neighbours in the list of an eviction policy, and that list. */
  TreeNode older;

  public TreeNode newer;
  NodeList list;

  /** Index in the heap of an eviction policy; -1 if it is in none. */
  int heapIndex = -1;

  /** The node that took over this node's pages, if this node left the tree that way. */
  private TreeNode mergedInto;

  private boolean removed;

  /** True if pages were dropped from the end: such a node never grows again. */
  private boolean truncated;

  private int[] tokens = NONE;
  private int[] pages = NONE;
  private long[] hashes = NO_HASHES;
  private byte[] digests = NO_DIGESTS;
  private int pageCount;

  /** Creates a root. */
  public TreeNode(String namespace) {
    this.namespace = namespace;
    this.belowPublic = false;
  }

  /**
   * @param namespace the parent's namespace, or another one if the parent's is the public namespace
   */
  public TreeNode(TreeNode parent, String namespace) {
    this.namespace = namespace;
    this.belowPublic = parent.belowPublic || !namespace.equals(parent.namespace);
    this.parent = parent;
  }

  /** Returns the node before this one on its path; null if there is none. */
  public TreeNode parent() {
    return parent;
  }

  /** Returns the number of pages of this node alone. */
  public int pageCount() {
    return pageCount;
  }

  /** Returns the number of pages of the prefix that ends with this node. */
  public int endPage() {
    return startPage + pageCount;
  }

  /** Returns the number of pages of the prefix before this node. */
  public int startPage() {
    return startPage;
  }

  /** Returns whether a lock ends at this node or below it. */
  public boolean isLocked() {
    return lockCount > 0;
  }

  /** Returns the number of sessions' positions at this node or below it. */
  public int claims() {
    return claims;
  }

  /** Adds to the number of {@link #claims}, or takes from it. */
  public void addClaims(int change) {
    claims += change;
  }

  /** Returns whether the node has no children. */
  public boolean isLeaf() {
    return children.size() == 0;
  }

  /** Returns how many requests that have ended used these pages. */
  public int uses() {
    return uses;
  }

  /** Returns when the pages were last used, on the tree's logical clock. */
  public long lastUsedAt() {
    return lastUsedAt;
  }

  /** Returns when the request that stored the pages began to store, on the tree's logical clock. */
  public long createdAt() {
    return createdAt;
  }

  /** Returns the turn of the conversation that stored the pages, 1 for the first; 0 if unknown. */
  public byte turn() {
    return turn;
  }

  /** Returns the eviction policy's list that contains this node, or null. */
  public NodeList list() {
    return list;
  }

  /** Returns the node after this one in that list, or null. */
  public TreeNode newer() {
    return newer;
  }

  int page(int index) {
    return pages[index];
  }

  int[] tokens() {
    return tokens;
  }

  /**
   * Returns the chained hash of a page (see {@link PageHash}); only if the policy asked for hashes.
   */
  long pageHash(int index) {
    return hashes[index];
  }

  /** Returns the short name of a page; only if the cache has a listener for its events. */
  long block(int index) {
    return PageHasher.blockId(digests, index * PageHasher.BYTES);
  }

  /** Returns the digest of the last page; only if the cache has a listener for its events. */
  byte[] lastDigest() {
    int end = pageCount * PageHasher.BYTES;
    return Arrays.copyOfRange(digests, end - PageHasher.BYTES, end);
  }

  /** Makes room for the digest of each page; existing digests stay. */
  byte[] ensureDigests() {
    int length = pages.length * PageHasher.BYTES;
    if (digests.length < length) {
      digests = Arrays.copyOf(digests, length);
    }
    return digests;
  }

  public boolean isRoot() {
    return parent == null;
  }

  /** Returns the priority that currently applies. */
  public int effectivePriority() {
    return Math.max(priority, retention);
  }

  /** Returns whether hints treat both alike, now and after they have expired. */
  boolean isRetainedAs(TreeNode other) {
    return retention == other.retention
        && (retention == NOT_RETAINED
            || retainedUntil == other.retainedUntil && priority == other.priority);
  }

  boolean canGrow() {
    return !truncated;
  }

  /**
   * Finds the rest of the prefix that once ended with this node.
   *
   * @return the node that holds the longest part of the prefix that is still cached, or null
   */
  public TreeNode resume() {
    TreeNode node = this;
    while (node != null && node.hasLeft()) {
      node.shorten();
      node = node.rest();
    }
    return node;
  }

  private boolean hasLeft() {
    return removed || mergedInto != null;
  }

  /** Returns the node to which a node that left the tree refers for the rest of its prefix. */
  private TreeNode rest() {
    return mergedInto != null ? mergedInto : parent;
  }

  /**
   * Shortens the path from a node that left the tree: it skips the next node if that node has also
   * left. Repeated look-ups are then short (path halving; Tarjan, van Leeuwen 1984).
   */
  private void shorten() {
    TreeNode next = rest();
    if (next == null || !next.hasLeft() || next.rest() == null) {
      return;
    }
    if (next.mergedInto == null) {
      startPage = Math.min(startPage, next.startPage);
      mergedInto = null;
      removed = true;
      parent = next.parent;
    } else if (mergedInto != null) {
      mergedInto = next.mergedInto;
    } else {
      parent = next.mergedInto;
    }
  }

  /**
   * Returns how many of the first {@code count} pages of the prefix that once ended with this node
   * are still cached.
   */
  int resumablePages(int count) {
    int pagesLeft = count;
    TreeNode node = this;
    while (node.hasLeft()) {
      if (node.mergedInto == null) {
        pagesLeft = Math.min(pagesLeft, node.startPage);
      }
      node = node.rest();
      if (node == null) {
        return 0;
      }
    }
    return Math.min(pagesLeft, node.endPage());
  }

  void markRemoved() {
    removed = true;
  }

  /**
   * Returns whether this node begins with the {@code span} tokens of {@code ids} at {@code from}.
   */
  boolean beginsWith(String namespace, int[] ids, int from, int span) {
    return goesOn(0, namespace, ids, from, span);
  }

  /**
   * Returns whether the {@code span} tokens of this node at {@code at} equal the tokens of {@code
   * ids} at {@code from}.
   *
   * @param at index of the node's first token to compare; the node has {@code at + span} tokens
   */
  boolean goesOn(int at, String namespace, int[] ids, int from, int span) {
    return this.namespace.equals(namespace)
        && Arrays.equals(tokens, at, at + span, ids, from, from + span);
  }

  /**
   * Returns how many whole pages from {@code first} on equal the pages of {@code ids} from {@code
   * from} on.
   *
   * @param limit most pages to compare
   */
  int matchingPages(int first, int[] ids, int from, int limit, int pageTokens) {
    int count = Math.min(limit, pageCount - first);
    int length = count * pageTokens;
    int begin = first * pageTokens;
    int at = Arrays.mismatch(tokens, begin, begin + length, ids, from, from + length);
    return at < 0 ? count : at / pageTokens;
  }

  /**
   * Copies token ids from {@code from} on until {@code ids} is full; returns how many were copied.
   */
  int copyTokensTo(int[] ids, int at, int from, int pageTokens) {
    int count = Math.min(pageCount * pageTokens - from, ids.length - at);
    System.arraycopy(tokens, from, ids, at, count);
    return count;
  }

  void copyPagesTo(int[] table, int at) {
    System.arraycopy(pages, 0, table, at, pageCount);
  }

  /** Appends pages {@code from .. to-1} of a sequence, whose hashes are at the same indices. */
  void append(int[] ids, int[] table, long[] pageHashes, int from, int to, int pageTokens) {
    int count = pageCount + to - from;
    if (count > pages.length) {
      int capacity = pageCount == 0 ? count : Math.max(count, 2 * pageCount);
      pages = Arrays.copyOf(pages, capacity);
      tokens = Arrays.copyOf(tokens, capacity * pageTokens);
    }
    System.arraycopy(table, from, pages, pageCount, to - from);
    System.arraycopy(
        ids, from * pageTokens, tokens, pageCount * pageTokens, (to - from) * pageTokens);
    if (pageHashes != null) {
      hashes = hashes.length < count ? Arrays.copyOf(hashes, pages.length) : hashes;
      System.arraycopy(pageHashes, from, hashes, pageCount, to - from);
    }
    pageCount = count;
  }

  /** Takes over the pages and children of the only child, which leaves the tree. */
  void takeIn(TreeNode child, int pageTokens) {
    int before = pageCount;
    append(child.tokens, child.pages, child.hashesOrNull(), 0, child.pageCount, pageTokens);
    copyDigests(child, before, child.pageCount);
    truncated = child.truncated;
    children = child.children;
    children.forEach(each -> each.parent = this);
    child.mergedInto = this;
  }

  private long[] hashesOrNull() {
    return hashes.length == 0 ? null : hashes;
  }

  /** Drops the last page and returns its number. */
  int dropLast(int pageTokens) {
    int page = pages[--pageCount];
    truncated = true;
    if (pageCount > 0 && pageCount < pages.length / 2) {
      pages = Arrays.copyOf(pages, pageCount);
      tokens = Arrays.copyOf(tokens, pageCount * pageTokens);
      hashes = hashes.length > 0 ? Arrays.copyOf(hashes, pageCount) : hashes;
      digests = digests.length > 0 ? Arrays.copyOf(digests, pageCount * PageHasher.BYTES) : digests;
    }
    return page;
  }

  /**
   * Passes the first {@code count} pages, at least one and not all, to a new node that has the same
   * history. If the front is the longer part, it takes the arrays, so only the shorter part is
   * copied.
   */
  void moveFrontTo(TreeNode front, int count, int pageTokens) {
    if (2 * count >= pages.length) {
      front.pages = pages;
      front.tokens = tokens;
      front.hashes = hashes;
      front.digests = digests;
      front.pageCount = count;
    } else {
      front.append(tokens, pages, hashesOrNull(), 0, count, pageTokens);
      front.copyDigests(this, 0, count);
    }
    front.firstPageHash = firstPageHash;
    front.startPage = startPage;
    front.lockCount = lockCount;
    front.claims = claims;
    front.uses = uses;
    front.createdAt = createdAt;
    front.lastUsedAt = lastUsedAt;
    front.priority = priority;
    front.retention = retention;
    front.retainedUntil = retainedUntil;
    front.fresh = fresh;
    front.turn = turn;
    dropFront(count, pageTokens);
  }

  private void dropFront(int count, int pageTokens) {
    int from = count * pageTokens;
    int left = pageCount - count;
    pages = Arrays.copyOfRange(pages, count, pageCount);
    tokens = Arrays.copyOfRange(tokens, from, from + left * pageTokens);
    if (hashes.length > 0) {
      hashes = Arrays.copyOfRange(hashes, count, pageCount);
    }
    if (digests.length > 0) {
      digests = Arrays.copyOfRange(digests, count * PageHasher.BYTES, pageCount * PageHasher.BYTES);
    }
    pageCount = left;
    startPage += count;
  }

  /** Takes over the first {@code count} digests of another node, if it has any. */
  private void copyDigests(TreeNode from, int at, int count) {
    if (from.digests.length > 0) {
      System.arraycopy(
          from.digests, 0, ensureDigests(), at * PageHasher.BYTES, count * PageHasher.BYTES);
    }
  }
}
