package io.radixflow.engine.cache;

import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.key.RadixKey;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The structure of a {@link RadixCache}: nodes by their first page, and a root for each namespace.
 * Nodes of other namespaces may be below nodes of the public namespace; only keys of their own
 * namespace find them. Searching never changes the tree. Changes of unlocked nodes are reported to
 * the eviction policy.
 */
final class RadixTree {
  /**
   * Two nodes of a chain are merged only if at most this many children move, and at most this many
   * pages or twice the pages that stay.
   */
  private static final int ALWAYS_MERGED = 64;

  private final int pageTokens;
  private final EvictionPolicy policy;
  private final ChildHash hash;
  private final Map<String, TreeNode> roots = new HashMap<>();
  private int nodes;
  private long version;

  RadixTree(int pageTokens, EvictionPolicy policy, ChildHash hash) {
    this.pageTokens = pageTokens;
    this.policy = policy;
    this.hash = hash;
  }

  /** Returns the number of nodes, not counting roots. */
  int nodes() {
    return nodes;
  }

  /** Returns a number that changes whenever an earlier match may be out of date. */
  long version() {
    return version;
  }

  /** Called when pages were appended to a node or dropped from it. */
  void changed() {
    version++;
  }

  /** See {@link RadixCache#match(RadixKey, int, TreeNode, int)}. */
  PrefixMatch match(RadixKey key, int maxPages, TreeNode resume, int known) {
    int limit = Math.min(maxPages, key.pages(pageTokens));
    TreeNode node = resume == null ? null : resume.resume();
    if (node == null || !isOnPathOf(node, key)) {
      node = roots.get(key.namespaceAt(0, pageTokens));
      return node == null ? new PrefixMatch(null, 0, 0) : descend(key, limit, node, 0);
    }
    boolean own = node.namespace.equals(key.namespace());
    int most = own ? limit : Math.min(limit, key.publicPages(pageTokens));
    int page = Math.min(most, resume.resumablePages(known));
    while (!node.isRoot() && node.startPage >= page) {
      node = node.parent;
    }
    return descend(key, limit, node, page);
  }

  /** Returns whether the path to a node goes through the namespaces of the key's pages. */
  private boolean isOnPathOf(TreeNode node, RadixKey key) {
    boolean sharing = key.publicPages(pageTokens) > 0;
    return node.namespace.equals(key.namespace())
        ? node.belowPublic == sharing
        : sharing && node.namespace.equals(NamespaceKey.PUBLIC);
  }

  /** Continues a match from {@code page}, which is in or at the end of {@code node}. */
  private PrefixMatch descend(RadixKey key, int limit, TreeNode from, int fromPage) {
    int stride = pageTokens;
    int[] tokens = key.tokens();
    TreeNode node = from;
    int offset = fromPage - from.startPage;
    int page = fromPage;
    if (offset < node.pageCount() && node.namespace.equals(key.namespaceAt(page, stride))) {
      int end = key.namespaceEnd(page, limit, stride);
      int more = node.matchingPages(offset, tokens, page * stride, end - page, pageTokens);
      offset += more;
      page += more;
    }
    while (page < limit && offset == node.pageCount()) {
      TreeNode child = child(node, key, page);
      if (child == null) {
        break;
      }
      node = child;
      int end = key.namespaceEnd(page, limit, stride);
      offset = child.matchingPages(0, tokens, page * stride, end - page, pageTokens);
      page += offset;
    }
    return new PrefixMatch(node, offset, page);
  }

  /** Returns the child of a node that begins with a page of a key, or null. */
  TreeNode child(TreeNode node, RadixKey key, int page) {
    if (node.children.size() == 0) {
      return null;
    }
    String namespace = key.namespaceAt(page, pageTokens);
    int from = page * pageTokens;
    int pageHash = hash.of(namespace, key.tokens(), from);
    return node.children.find(pageHash, namespace, key.tokens(), from, pageTokens);
  }

  /** See {@link RadixCache#copyContinuation}. */
  int copyContinuation(RadixKey key, TreeNode resume, int known, int[] into) {
    PrefixMatch match = match(key, Integer.MAX_VALUE, resume, known);
    TreeNode node = match.node();
    if (node == null || match.pages() < key.pages(pageTokens)) {
      return 0;
    }
    int end = match.pages() * pageTokens;
    int rest = key.length() - end;
    int from = match.offset() * pageTokens;
    if (match.offset() == node.pageCount()) {
      node = node.children.latest(key.namespace(), key.tokens(), end, rest);
      from = 0;
    } else if (!node.goesOn(from, key.namespace(), key.tokens(), end, rest)) {
      return 0;
    }
    return copyFrom(node, from + rest, key.namespace(), into);
  }

  /**
   * Copies a node's tokens from {@code from} on, then the tokens of the most recently used nodes
   * below it.
   */
  private int copyFrom(TreeNode first, int from, String namespace, int[] into) {
    TreeNode node = first;
    int begin = from;
    int copied = 0;
    while (node != null && copied < into.length) {
      copied += node.copyTokensTo(into, copied, begin, pageTokens);
      node = node.children.latest(namespace, into, 0, 0);
      begin = 0;
    }
    return copied;
  }

  TreeNode rootOf(String namespace) {
    return roots.computeIfAbsent(namespace, TreeNode::new);
  }

  /** Removes a root that has neither children nor locks. */
  void dropIfEmpty(TreeNode root) {
    if (root.children.size() == 0 && root.lockCount == 0) {
      roots.remove(root.namespace);
      root.markRemoved();
    }
  }

  /** Puts a node below its parent. */
  void add(TreeNode node) {
    node.firstPageHash = hash.of(node.namespace, node.tokens(), 0);
    node.parent.children.add(node);
    nodes++;
    version++;
  }

  /** Splits a node after {@code count} pages; returns the new node that has the front. */
  TreeNode split(TreeNode node, int count) {
    TreeNode front = new TreeNode(node.parent, node.namespace);
    node.moveFrontTo(front, count, pageTokens);
    node.parent.children.replace(node, front);
    node.firstPageHash = hash.of(node.namespace, node.tokens(), 0);
    front.children.add(node);
    node.parent = front;
    if (node.lockCount == 0) {
      policy.split(front, node);
    }
    nodes++;
    version++;
    return front;
  }

  /** Removes a node without pages from the tree, and reports its parent to the policy. */
  void remove(TreeNode node) {
    TreeNode parent = node.parent;
    policy.remove(node);
    parent.children.remove(node);
    node.markRemoved();
    nodes--;
    version++;
    if (parent.isRoot()) {
      dropIfEmpty(parent);
    } else if (parent.lockCount == 0) {
      if (parent.children.size() == 0) {
        policy.childless(parent);
      } else {
        mergeWithOnlyChild(parent);
      }
    }
  }

  /** Undoes a split whose parts have the same history. */
  void mergeWithOnlyChild(TreeNode front) {
    if (front.children.size() != 1 || front.lockCount > 0) {
      return;
    }
    TreeNode back = front.children.only();
    boolean cheap =
        front.namespace.equals(back.namespace)
            && back.children.size() <= ALWAYS_MERGED
            && back.pageCount() <= Math.max(ALWAYS_MERGED, 2 * front.pageCount());
    if (cheap
        && front.canGrow()
        && front.claims == back.claims
        && front.isRetainedAs(back)
        && policy.mergeable(front, back)) {
      front.takeIn(back, pageTokens);
      policy.merged(front, back);
      nodes--;
      version++;
    }
  }

  /** Calls {@code visitor} for each node except roots. */
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
}
