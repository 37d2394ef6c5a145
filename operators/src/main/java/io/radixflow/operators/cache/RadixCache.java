package io.radixflow.operators.cache;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * A radix tree of token prefixes whose nodes own KV pages; granularity is the page, eviction is
 * least recently used.
 *
 * <ul>
 *   <li>{@link #match} never changes the tree: its result is a node and an offset.
 *   <li>{@link #lock} protects exactly the matched pages and counts along the path to the root; if
 *       the match ends inside a node, the node is split there, so that the rest stays evictable.
 *   <li>{@link #insert} passes pages from a request to the tree and moves the request's lock to
 *       their end, beginning at the locked node, not at the root.
 *   <li>{@link #unlock} makes pages evictable again and counts as their last use.
 *   <li>{@link #evict} frees single pages from the ends of leaves, O(1) each.
 * </ul>
 *
 * <p>A namespace is a tree of its own. Owned by one thread.
 */
public final class RadixCache {
  private final PageAllocator allocator;
  private final int pageTokens;
  private final LruOrder order = new LruOrder();
  private final Map<String, TreeNode> roots = new HashMap<>();
  private final Map<TreeNode, String> namespaces = new HashMap<>();

  private int evictablePages;
  private int protectedPages;
  private int nodes;

  /**
   * @param allocator of the pool whose pages the tree owns
   * @param pageTokens tokens a page
   */
  public RadixCache(PageAllocator allocator, int pageTokens) {
    this.allocator = allocator;
    this.pageTokens = pageTokens;
  }

  /** Tokens a page. */
  public int pageTokens() {
    return pageTokens;
  }

  /** Pages that {@link #evict} could free now. */
  public int evictablePages() {
    return evictablePages;
  }

  /** Pages that are locked. */
  public int protectedPages() {
    return protectedPages;
  }

  /** Nodes, roots not counted. */
  public int nodes() {
    return nodes;
  }

  /** Finds the longest cached prefix of {@code key}, at most {@code maxPages} pages of it. */
  public PrefixMatch match(RadixKey key, int maxPages) {
    TreeNode node = roots.get(key.namespace());
    int limit = Math.min(maxPages, key.pages(pageTokens));
    int page = 0;
    int offset = 0;
    while (node != null && page < limit) {
      TreeNode child = node.children.find(key.tokens(), page * pageTokens, pageTokens);
      if (child == null) {
        break;
      }
      node = child;
      offset = child.matchingPages(key.tokens(), page * pageTokens, limit - page, pageTokens);
      page += offset;
      if (offset < child.pageCount()) {
        break;
      }
    }
    return new PrefixMatch(node, offset, page);
  }

  /**
   * Writes the numbers of the pages from the root to the end of {@code node} to {@code table}.
   *
   * @param pages how many these are
   */
  public void copyPages(TreeNode node, int pages, int[] table) {
    int end = pages;
    for (TreeNode each = node; each.parent != null; each = each.parent) {
      end -= each.pageCount();
      each.copyPagesTo(table, end);
    }
  }

  /**
   * Protects the matched pages from eviction until {@link #unlock}.
   *
   * @param key the key that was matched
   * @return the node to hand to {@link #insert} and {@link #unlock}
   */
  public TreeNode lock(RadixKey key, PrefixMatch match) {
    TreeNode node = match.node();
    if (match.pages() == 0) {
      node = roots.computeIfAbsent(key.namespace(), this::newRoot);
    } else if (match.offset() < node.pageCount()) {
      node = split(node, match.offset());
    }
    for (TreeNode each = node; each != null; each = each.parent) {
      addLock(each);
    }
    return node;
  }

  /** Releases one lock that ends at {@code node}. */
  public void unlock(TreeNode node) {
    for (TreeNode each = node; each != null; each = each.parent) {
      if (each.lockCount == 0) {
        throw new IllegalStateException("a node is unlocked more often than it was locked");
      }
      if (--each.lockCount == 0 && each.parent != null) {
        protectedPages -= each.pageCount();
        evictablePages += each.pageCount();
        order.addNewest(each);
      }
    }
    TreeNode root = node;
    while (root.parent != null) {
      root = root.parent;
    }
    dropIfEmpty(root);
    for (TreeNode each = node, next; each != root; each = next) {
      next = each.parent;
      mergeWithOnlyChild(each);
    }
  }

  /**
   * Passes pages of a request to the tree.
   *
   * <p>Where the tree has pages of its own for the same tokens, the request's are duplicates: with
   * {@code redirect} its table is pointed at the tree's and the duplicate is freed; without, the
   * insertion ends before it.
   *
   * @param locked the node that the request has locked; ends where page {@code from} begins
   * @param from first page to insert
   * @param to end of the pages to insert; all tokens before it must be in the pool
   * @param table the request's page table
   * @param redirect whether the table may be changed, which needs that no step reads it
   * @return the node at the end of what is now in the tree, holding the lock instead of {@code
   *     locked}, and how many pages of the key lie before its end
   */
  public PrefixMatch insert(
      TreeNode locked, RadixKey key, int from, int to, int[] table, boolean redirect) {
    TreeNode node = locked;
    int page = from;
    while (page < to) {
      TreeNode child = node.children.find(key.tokens(), page * pageTokens, pageTokens);
      if (child == null) {
        node = add(node, key, page, to, table);
        page = to;
        break;
      }
      int count = child.matchingPages(key.tokens(), page * pageTokens, to - page, pageTokens);
      if (!redirect && !holds(child, count, table, page)) {
        break;
      }
      if (count < child.pageCount()) {
        child = split(child, count);
      }
      adopt(child, count, table, page);
      addLock(child);
      node = child;
      page += count;
    }
    return new PrefixMatch(node, node.pageCount(), page);
  }

  /** Frees up to {@code pages} pages, the least recently used first; returns how many. */
  public int evict(int pages) {
    int evicted = 0;
    while (evicted < pages && order.oldest() != null) {
      TreeNode node = order.oldest();
      while (evicted < pages && node.pageCount() > 0) {
        allocator.free(node.dropLast(pageTokens));
        evictablePages--;
        evicted++;
      }
      if (node.pageCount() == 0) {
        remove(node);
      }
    }
    return evicted;
  }

  /** Calls {@code visitor} for each cached page's number. */
  void forEachPage(IntConsumer visitor) {
    forEachNode(
        node -> {
          for (int i = 0; i < node.pageCount(); i++) {
            visitor.accept(node.page(i));
          }
        });
  }

  /** Calls {@code visitor} for each node that is no root. */
  void forEachNode(Consumer<TreeNode> visitor) {
    ArrayDeque<TreeNode> open = new ArrayDeque<>(roots.values());
    while (!open.isEmpty()) {
      TreeNode node = open.pop();
      if (node.parent != null) {
        visitor.accept(node);
      }
      node.children.forEach(open::push);
    }
  }

  /** Counts evictable and protected pages anew; returns whether the counters were right. */
  boolean recount() {
    int[] counts = new int[2];
    forEachNode(node -> counts[node.lockCount > 0 ? 1 : 0] += node.pageCount());
    boolean right = counts[0] == evictablePages && counts[1] == protectedPages;
    evictablePages = counts[0];
    protectedPages = counts[1];
    return right;
  }

  private TreeNode newRoot(String namespace) {
    TreeNode root = new TreeNode(null);
    namespaces.put(root, namespace);
    return root;
  }

  private void dropIfEmpty(TreeNode root) {
    if (root.children.size() == 0 && root.lockCount == 0) {
      roots.remove(namespaces.remove(root));
    }
  }

  private void addLock(TreeNode node) {
    if (node.lockCount++ == 0 && node.parent != null) {
      evictablePages -= node.pageCount();
      protectedPages += node.pageCount();
      order.remove(node);
    }
  }

  /** Puts new pages under {@code node}, which the caller has locked, and moves the lock there. */
  private TreeNode add(TreeNode node, RadixKey key, int from, int to, int[] table) {
    for (int i = from; i < to; i++) {
      allocator.cache(table[i]);
    }
    protectedPages += to - from;
    if (node.parent != null && node.lockCount == 1 && node.children.size() == 0) {
      node.append(key.tokens(), table, from, to, pageTokens);
      return node;
    }
    TreeNode leaf = new TreeNode(node);
    leaf.append(key.tokens(), table, from, to, pageTokens);
    leaf.lockCount = 1;
    node.children.add(leaf);
    nodes++;
    return leaf;
  }

  private static boolean holds(TreeNode node, int count, int[] table, int at) {
    for (int i = 0; i < count; i++) {
      if (table[at + i] != node.page(i)) {
        return false;
      }
    }
    return true;
  }

  /** Points the table at the tree's pages, then frees the duplicates. */
  private void adopt(TreeNode node, int count, int[] table, int at) {
    for (int i = 0; i < count; i++) {
      int own = table[at + i];
      if (own != node.page(i)) {
        table[at + i] = node.page(i);
        allocator.free(own);
      }
    }
  }

  /** Splits a node after {@code count} pages; returns the new node that has the front. */
  private TreeNode split(TreeNode node, int count) {
    TreeNode front = new TreeNode(node.parent);
    node.copyFrontTo(front, count, pageTokens);
    node.parent.children.replace(node, front);
    node.dropFront(count, pageTokens);
    front.lockCount = node.lockCount;
    front.children.add(node);
    node.parent = front;
    if (node.ordered) {
      order.addAfter(front, node);
    }
    nodes++;
    return front;
  }

  private void remove(TreeNode node) {
    TreeNode parent = node.parent;
    order.remove(node);
    parent.children.remove(node);
    node.parent = null;
    nodes--;
    if (parent.parent == null) {
      dropIfEmpty(parent);
    } else {
      mergeWithOnlyChild(parent);
    }
  }

  /** Undoes a split that no longer tells anything: same locks (none), used one after the other. */
  private void mergeWithOnlyChild(TreeNode node) {
    if (node.children.size() != 1 || !node.ordered) {
      return;
    }
    TreeNode child = node.children.only();
    if (!child.ordered || child.newer != node) {
      return;
    }
    TreeNode merged = new TreeNode(node.parent);
    merged.appendAll(node, pageTokens);
    merged.appendAll(child, pageTokens);
    child.children.forEach(
        each -> {
          each.parent = merged;
          merged.children.add(each);
        });
    node.parent.children.replace(node, merged);
    order.addAfter(merged, node);
    order.remove(node);
    order.remove(child);
    nodes--;
  }
}
