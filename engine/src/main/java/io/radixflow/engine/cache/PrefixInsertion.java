package io.radixflow.engine.cache;

import io.radixflow.engine.cache.key.RadixKey;

/**
 * Passes pages of requests to a tree. The request's lock moves with the insertion: it always ends
 * after the last inserted page.
 */
final class PrefixInsertion {
  private final PageAllocator allocator;
  private final int pageTokens;
  private final RadixTree tree;
  private final PathLocks locks;
  private final PageHistory history;

  /** The reporter of changes; null without a listener or follower. */
  private CacheEvents events;

  private CacheComponent component = CacheComponent.NONE;

  PrefixInsertion(
      PageAllocator allocator,
      int pageTokens,
      RadixTree tree,
      PathLocks locks,
      PageHistory history) {
    this.allocator = allocator;
    this.pageTokens = pageTokens;
    this.tree = tree;
    this.locks = locks;
    this.history = history;
  }

  /** From now on, passes the parts of duplicates to the tree's pages. */
  void use(CacheComponent other) {
    component = other;
  }

  /** Reports stored pages to {@code listener} from now on. */
  void reportTo(CacheEvents listener) {
    events = listener;
  }

  /**
   * See {@link RadixCache#insert}.
   *
   * @param now the tree's clock
   */
  PrefixMatch insert(
      TreeNode locked,
      RadixKey key,
      int from,
      int to,
      int[] table,
      boolean redirect,
      int priority,
      long now) {
    TreeNode node = locked;
    int page = from;
    while (page < to) {
      int at = page * pageTokens;
      TreeNode child = tree.child(node, key, page);
      if (child == null) {
        raisePriority(node, priority);
        node = add(node, key, page, to, table, priority, now);
        page = to;
        break;
      }
      int count =
          child.matchingPages(
              0, key.tokens(), at, key.namespaceEnd(page, to, pageTokens) - page, pageTokens);
      if (!redirect && !holds(child, count, table, page)) {
        break;
      }
      if (count < child.pageCount()) {
        child = tree.split(child, count);
      }
      adopt(child, count, table, page);
      locks.extendTo(child);
      node = child;
      page += count;
    }
    raisePriority(node, priority);
    return new PrefixMatch(node, node.pageCount(), page);
  }

  /**
   * Raises the priorities on the path to the root. A node's priority is at least the priority of
   * each child, so the loop ends at the first node whose priority is high enough.
   */
  private static void raisePriority(TreeNode node, int priority) {
    for (TreeNode each = node; each != null && each.priority < priority; each = each.parent) {
      each.priority = priority;
    }
  }

  private static boolean holds(TreeNode node, int count, int[] table, int at) {
    for (int i = 0; i < count; i++) {
      if (table[at + i] != node.page(i)) {
        return false;
      }
    }
    return true;
  }

  /** Puts the tree's pages into the table, then frees the duplicates. */
  private void adopt(TreeNode node, int count, int[] table, int at) {
    for (int i = 0; i < count; i++) {
      int own = table[at + i];
      if (own != node.page(i)) {
        table[at + i] = node.page(i);
        component.replaced(own, node.page(i));
        allocator.free(own);
      }
    }
  }

  /** Puts new pages under {@code node}, which the caller has locked, and moves the lock there. */
  private TreeNode add(
      TreeNode node, RadixKey key, int from, int to, int[] table, int priority, long now) {
    for (int i = from; i < to; i++) {
      allocator.cache(table[i]);
    }
    locks.storedPages(to - from);
    tree.changed();
    history.lookAt(node, key, from, to);
    TreeNode end = node;
    for (int begin = from, next; begin < to; begin = next) {
      next = history.endOfRun(begin, key.namespaceEnd(begin, to, pageTokens));
      end = addRun(end, key, begin, next, table, priority, now);
    }
    return end;
  }

  /** Puts pages of one history under {@code node}, or at its end if it has the same history. */
  private TreeNode addRun(
      TreeNode node, RadixKey key, int from, int to, int[] table, int priority, long now) {
    String namespace = key.namespaceAt(from, pageTokens);
    long[] pageHashes = history.hashes();
    int uses = history.usesBefore(from);
    if (node.fresh
        && node.namespace.equals(namespace)
        && node.lockCount == 1
        && node.children.size() == 0
        && node.uses == uses
        && node.priority == priority
        && node.retention == TreeNode.NOT_RETAINED) {
      node.append(key.tokens(), table, pageHashes, from, to, pageTokens);
      reportStored(node, to - from);
      return node;
    }
    TreeNode leaf = new TreeNode(node, namespace);
    leaf.append(key.tokens(), table, pageHashes, from, to, pageTokens);
    leaf.startPage = from;
    leaf.lockCount = 1;
    leaf.uses = uses;
    leaf.priority = priority;
    leaf.createdAt = node.fresh ? node.createdAt : now;
    leaf.lastUsedAt = now;
    leaf.fresh = true;
    tree.add(leaf);
    reportStored(leaf, to - from);
    return leaf;
  }

  private void reportStored(TreeNode node, int count) {
    history.stored(node, count);
    if (events != null) {
      events.stored(node, count);
    }
  }
}
