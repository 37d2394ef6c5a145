package io.radixflow.operators.cache;

import io.radixflow.operators.record.KvEvent;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * A radix tree of token prefixes whose nodes own KV pages; granularity is the page, and an {@link
 * EvictionPolicy} decides which goes first.
 *
 * <ul>
 *   <li>{@link #match} never changes the tree: its result is a node and an offset.
 *   <li>{@link #lock} protects exactly the matched pages and counts along the path to the root; if
 *       the match ends inside a node, the node is split there, so that the rest stays evictable and
 *       all pages of a node have one history.
 *   <li>{@link #insert} passes pages from a request to the tree and moves the request's lock to
 *       their end, beginning at the locked node, not at the root.
 *   <li>{@link #unlock} makes pages evictable again and counts as their use.
 *   <li>{@link #evict} frees single pages from the ends of leaves.
 * </ul>
 *
 * <p>A namespace is a tree of its own, but for keys that begin with public tokens: their whole
 * pages lie in the public namespace's tree, and the namespace's own pages below them. Owned by one
 * thread.
 */
public final class RadixCache implements PrefixCache {
  private final PageAllocator allocator;
  private final PageShape shape;
  private final EvictionPolicy policy;
  private final PageHistory history;
  private final RadixTree tree;
  private final Retention retention;
  private final PathLocks locks;
  private final PrefixInsertion insertion;
  private long clock;

  /** Why a page leaves: for want of room, because nobody needs it, or together with all others. */
  private enum Leaving {
    EVICTED,
    DROPPED,
    CLEARED
  }

  /** Null if nobody listens. */
  private CacheEvents events;

  /** A cache of token keys that evicts the least recently used. */
  public RadixCache(PageAllocator allocator, int pageTokens) {
    this(allocator, pageTokens, false, new LruPolicy());
  }

  /** A cache whose hashes nobody can foretell. */
  public RadixCache(
      PageAllocator allocator, int pageTokens, boolean bigram, EvictionPolicy policy) {
    this(allocator, pageTokens, bigram, policy, new SecureRandom().nextLong());
  }

  /**
   * @param allocator of the pool whose pages the tree owns
   * @param pageTokens units a page
   * @param bigram whether keys are of pairs of tokens
   * @param policy decides what is evicted; this cache's alone
   * @param seed of the hashes, which change nothing but where in memory a node is found; secret
   *     where strangers write prompts
   */
  public RadixCache(
      PageAllocator allocator, int pageTokens, boolean bigram, EvictionPolicy policy, long seed) {
    this(allocator, new PageShape(pageTokens, bigram ? 1 : 0), policy, seed);
  }

  private RadixCache(PageAllocator allocator, PageShape shape, EvictionPolicy policy, long seed) {
    this(allocator, shape, policy, new ChildHash(seed, shape.tokensOf(1)));
  }

  RadixCache(PageAllocator allocator, PageShape shape, EvictionPolicy policy, ChildHash hash) {
    this.allocator = allocator;
    this.shape = shape;
    this.policy = policy;
    this.tree = new RadixTree(shape, policy, hash);
    this.retention = new Retention(tree, policy);
    this.history = new PageHistory(policy, shape);
    this.locks = new PathLocks(tree, policy);
    this.insertion = new PrefixInsertion(allocator, shape, tree, locks, history);
    policy.attach(this);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Costs a SHA-256 of each page that is stored, and its 32 bytes.
   */
  @Override
  public void listen(KvEventListener listener, boolean tokenIds) {
    if (evictablePages() + protectedPages() > 0) {
      throw new IllegalStateException("the cache has pages that nobody was told of");
    }
    events().listen(listener, tokenIds);
  }

  /**
   * {@inheritDoc}
   *
   * <p>Costs as much as {@link #listen}, and no more beside it.
   */
  @Override
  public void follow(PageListener follower) {
    if (evictablePages() + protectedPages() > 0) {
      throw new IllegalStateException("the cache has pages that nobody was told of");
    }
    events().follow(follower);
  }

  private CacheEvents events() {
    if (events == null) {
      events = new CacheEvents(shape);
      insertion.tell(events);
    }
    return events;
  }

  @Override
  public void retell(TreeNode end, int uses) {
    if (events != null) {
      events.retell(end, uses);
    }
  }

  @Override
  public List<KvEvent.Stored> content() {
    if (events == null || !events.hasListener()) {
      throw new IllegalStateException("nobody listens to the cache's events");
    }
    List<KvEvent.Stored> content = new ArrayList<>(evictablePages() + protectedPages());
    tree.forEachNode(node -> events.tell(node, 0, content::add));
    return content;
  }

  /** Tokens a page, or pairs of tokens. */
  public int pageTokens() {
    return shape.pageTokens();
  }

  @Override
  public int evictablePages() {
    return locks.evictablePages();
  }

  @Override
  public int protectedPages() {
    return locks.protectedPages();
  }

  /** Nodes, roots not counted. */
  public int nodes() {
    return tree.nodes();
  }

  @Override
  public long version() {
    return tree.version();
  }

  /** The logical clock: grows with each use. */
  long clock() {
    return clock;
  }

  /** What decides about evictions. */
  public EvictionPolicy policy() {
    return policy;
  }

  @Override
  public PrefixMatch match(RadixKey key, int maxPages, TreeNode resume, int known) {
    checkKind(key);
    return tree.match(key, maxPages, resume, known);
  }

  private void checkKind(RadixKey key) {
    if (key.bigram() != (shape.overlap() == 1)) {
      throw new IllegalArgumentException("the key's units are not those of the cache");
    }
  }

  @Override
  public void copyPages(TreeNode node, int pages, int[] table) {
    int end = pages;
    for (TreeNode each = node; each.parent != null; each = each.parent) {
      end -= each.pageCount();
      each.copyPagesTo(table, end);
    }
  }

  @Override
  public int evictablePages(PrefixMatch match) {
    return locks.evictablePages(match);
  }

  @Override
  public int pagesLockedOnce(TreeNode locked) {
    return locks.pagesLockedOnce(locked);
  }

  @Override
  public TreeNode lock(RadixKey key, PrefixMatch match) {
    TreeNode node = match.node();
    if (match.pages() == 0) {
      node = tree.rootOf(key.namespaceAt(0, shape.pageTokens()));
    } else if (match.offset() < node.pageCount()) {
      node = tree.split(node, match.offset());
    }
    locks.lock(node);
    return node;
  }

  @Override
  public void relock(TreeNode node) {
    locks.lock(node);
  }

  @Override
  public void retain(TreeNode locked, int from, int to, int priority, long until) {
    retention.retain(locked, from, to, priority, until);
  }

  @Override
  public void expire(long now) {
    retention.expire(now);
  }

  @Override
  public void storedInTurn(TreeNode locked, int turn) {
    for (TreeNode each = locked; each != null && each.fresh; each = each.parent) {
      each.turn = (byte) Math.min(turn, Byte.MAX_VALUE);
    }
  }

  /** Releases one lock that ends at {@code node}, whose path was used. */
  public void unlock(TreeNode node) {
    unlock(node, true);
  }

  @Override
  public void unlock(TreeNode node, boolean hit) {
    locks.unlock(node, hit, ++clock);
  }

  /** As {@link #insert(TreeNode, RadixKey, int, int, int[], boolean, int)}, of priority 0. */
  public PrefixMatch insert(
      TreeNode locked, RadixKey key, int from, int to, int[] table, boolean redirect) {
    return insert(locked, key, from, to, table, redirect, 0);
  }

  @Override
  public PrefixMatch insert(
      TreeNode locked,
      RadixKey key,
      int from,
      int to,
      int[] table,
      boolean redirect,
      int priority) {
    checkKind(key);
    return insertion.insert(locked, key, from, to, table, redirect, priority, ++clock);
  }

  @Override
  public int evict(int pages) {
    int evicted = evict(pages, Leaving.EVICTED);
    flushEvents();
    return evicted;
  }

  private int evict(int pages, Leaving why) {
    int evicted = 0;
    for (TreeNode node; evicted < pages && (node = policy.victim()) != null; evicted++) {
      history.evicted(node);
      freeLast(node, why);
    }
    return evicted;
  }

  @Override
  public int freeEnd(TreeNode node, int end, int keep) {
    int freed = 0;
    int known = end;
    for (TreeNode last = node; ; freed++) {
      known = last.resumablePages(known);
      last = last.resume();
      while (last != null && !last.isRoot() && last.startPage >= known) {
        last = last.parent;
      }
      boolean free =
          last != null
              && !last.isRoot()
              && last.namespace.equals(node.namespace)
              && last.lockCount == 0
              && last.children.size() == 0
              && last.endPage() <= known
              && last.endPage() > keep;
      if (!free) {
        break;
      }
      history.dropped(last);
      freeLast(last, Leaving.DROPPED);
    }
    flushEvents();
    return freed;
  }

  private void flushEvents() {
    if (events != null) {
      events.flush();
    }
  }

  /** Frees the last page of a node that is not locked and has no children. */
  private void freeLast(TreeNode node, Leaving why) {
    int last = node.pageCount() - 1;
    if (events != null && events.removing(node, why == Leaving.EVICTED, why == Leaving.CLEARED)) {
      allocator.keepInFlight(node.dropLast(shape));
    } else {
      allocator.free(node.dropLast(shape));
    }
    locks.freedPage();
    tree.changed();
    if (last == 0) {
      tree.remove(node);
    }
  }

  @Override
  public void reset() {
    if (protectedPages() > 0) {
      throw new IllegalStateException(protectedPages() + " pages are locked; unlock them first");
    }
    evict(evictablePages(), Leaving.CLEARED);
    if (events != null) {
      events.cleared();
    }
  }

  /** Splits a node after {@code count} pages; returns the new node that has the front. */
  TreeNode split(TreeNode node, int count) {
    return tree.split(node, count);
  }

  @Override
  public void forEachPage(IntConsumer visitor) {
    forEachNode(
        node -> {
          for (int i = 0; i < node.pageCount(); i++) {
            visitor.accept(node.page(i));
          }
        });
  }

  /** Calls {@code visitor} for each node that is no root. */
  void forEachNode(Consumer<TreeNode> visitor) {
    tree.forEachNode(visitor);
  }

  @Override
  public boolean recount() {
    return locks.recount();
  }
}
