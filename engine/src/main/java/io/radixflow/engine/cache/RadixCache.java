package io.radixflow.engine.cache;

import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.protocol.record.kv.KvEvent;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/**
 * A radix tree of token prefixes whose nodes own KV pages; the unit is the page, and an {@link
 * EvictionPolicy} decides which page is evicted first.
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
 * <p>A namespace is a tree of its own. Keys that begin with public tokens are an exception: their
 * whole public pages are in the public namespace's tree, and the namespace's own pages are below
 * them.
 *
 * <p>{@link PrefixCaching} says which prefixes requests share. Unless they share every prefix, each
 * request has its own namespace. Owned by one thread.
 */
public final class RadixCache {
  private final PrefixCaching caching;
  private final PageAllocator allocator;
  private final int pageTokens;
  private final EvictionPolicy policy;
  private final PageHistory history;
  private final RadixTree tree;
  private final HintPriorities retention;
  private final PathLocks locks;
  private final PrefixInsertion insertion;
  private CacheComponent component = CacheComponent.NONE;
  private long clock;

  /** Why a page leaves: to make room, because its session has ended, or with all other pages. */
  private enum Leaving {
    EVICTED,
    DROPPED,
    CLEARED
  }

  /** The reporter of changes; null without a listener or follower. */
  private CacheEvents events;

  /** Creates a cache whose hashes cannot be predicted. */
  public RadixCache(
      PrefixCaching caching, PageAllocator allocator, int pageTokens, EvictionPolicy policy) {
    this(
        caching,
        allocator,
        pageTokens,
        policy,
        new ChildHash(new SecureRandom().nextLong(), pageTokens));
  }

  /**
   * @param allocator the allocator of the pool whose pages the tree owns
   * @param pageTokens tokens per page
   * @param policy decides which page is evicted; used by this cache only
   * @param seed the seed of the hashes, which only decide where in memory a node is found; keep the
   *     seed secret if strangers write prompts
   */
  public RadixCache(PageAllocator allocator, int pageTokens, EvictionPolicy policy, long seed) {
    this(PrefixCaching.RADIX, allocator, pageTokens, policy, new ChildHash(seed, pageTokens));
  }

  public RadixCache(
      PrefixCaching caching,
      PageAllocator allocator,
      int pageTokens,
      EvictionPolicy policy,
      ChildHash hash) {
    if (pageTokens < 1) {
      throw new IllegalArgumentException("a page has " + pageTokens + " tokens; at least 1");
    }
    this.caching = caching;
    this.allocator = allocator;
    this.pageTokens = pageTokens;
    this.policy = policy;
    this.tree = new RadixTree(pageTokens, policy, hash);
    this.retention = new HintPriorities(tree, policy);
    this.history = new PageHistory(policy, pageTokens);
    this.locks = new PathLocks(tree, policy);
    this.insertion = new PrefixInsertion(allocator, pageTokens, tree, locks, history);
    policy.attach(this);
  }

  /**
   * Returns the key of a request's tokens.
   *
   * @param request a number that no other request of the engine has
   * @param publicTokens see {@link RadixKey#publicTokens}
   */
  public RadixKey keyOf(
      long request, String namespace, int publicTokens, int[] tokens, int length) {
    return caching == PrefixCaching.RADIX
        ? new RadixKey(namespace, tokens, length, publicTokens)
        : new RadixKey("request " + request, tokens, length);
  }

  /**
   * Reports each page that enters or leaves the cache from now on. The cache must be empty. A cache
   * in which no request finds pages of another request reports nothing. Each stored page costs one
   * SHA-256 and 32 bytes.
   *
   * @param tokenIds whether the events carry the token ids of pages
   * @throws IllegalStateException if pages are cached already
   */
  public void listen(KvEventListener listener, boolean tokenIds) {
    if (caching == PrefixCaching.RADIX) {
      events().listen(listener, tokenIds);
    }
  }

  /**
   * Reports each page that enters or leaves the cache from now on, with its digest, under the same
   * conditions as {@link #listen}. A cache that does both computes each digest once.
   *
   * @throws IllegalStateException if pages are cached already
   */
  public void follow(PageListener follower) {
    if (caching == PrefixCaching.RADIX) {
      events().follow(follower);
    }
  }

  /** Sets the component that owns the parts of pages. The cache must be empty. */
  public void use(CacheComponent other) {
    component = other;
    insertion.use(other);
  }

  /** Returns the component that owns the parts of pages. */
  public CacheComponent component() {
    return component;
  }

  private CacheEvents events() {
    if (evictablePages() + protectedPages() > 0) {
      throw new IllegalStateException("pages are cached already, which no listener knows");
    }
    if (events == null) {
      events = new CacheEvents(pageTokens);
      insertion.reportTo(events);
    }
    return events;
  }

  /**
   * Reports pages to the follower again: the pages up to the end of a node that at least {@code
   * uses} requests have used. Each page comes after its parent.
   *
   * @param end a locked node
   */
  public void replay(TreeNode end, int uses) {
    if (events != null) {
      events.replay(end, uses);
    }
  }

  /**
   * Returns all pages that a listener knows. Each page comes after its parent.
   *
   * @throws IllegalStateException if the cache has no listener, because its pages have no names
   *     then
   */
  public List<KvEvent.Stored> content() {
    List<KvEvent.Stored> content = new ArrayList<>(evictablePages() + protectedPages());
    if (caching == PrefixCaching.RADIX) {
      if (events == null || !events.hasListener()) {
        throw new IllegalStateException("the cache has no listener for its events");
      }
      tree.forEachNode(node -> events.report(node, 0, content::add));
    }
    return content;
  }

  /** Returns the number of tokens per page. */
  public int pageTokens() {
    return pageTokens;
  }

  /** Returns the number of pages that {@link #evict} could free now. */
  public int evictablePages() {
    return locks.evictablePages();
  }

  /** Returns the number of pages that are locked. */
  public int protectedPages() {
    return locks.protectedPages();
  }

  /** Returns the number of nodes, not counting roots. */
  public int nodes() {
    return tree.nodes();
  }

  /** Returns a number that changes whenever an earlier match may be out of date or unusable. */
  public long version() {
    return tree.version() + component.version();
  }

  /** Returns the logical clock, which advances with each use. */
  public long clock() {
    return clock;
  }

  /** Returns the policy that decides about evictions. */
  public EvictionPolicy policy() {
    return policy;
  }

  /**
   * Finds the longest cached prefix of {@code key}. Compares only the pages after {@code known}.
   *
   * @param maxPages maximum number of pages to find
   * @param resume a node that {@link #lock} or {@link #insert} returned, in the tree or not; null
   *     to search from the root
   * @param known number of leading pages of the key that equaled the pages of the node's path when
   *     the node was returned; the caller must be sure of this
   */
  public PrefixMatch match(RadixKey key, int maxPages, TreeNode resume, int known) {
    return tree.match(key, maxPages, resume, known);
  }

  /**
   * Copies the tokens that follow the key's tokens in cached pages of its namespace. Where prefixes
   * branch, the copy follows the most recently used page. The cache does not change.
   *
   * @param resume as for {@link #match(RadixKey, int, TreeNode, int)}
   * @param into filled with the tokens, up to its length
   * @return number of copied tokens; 0 if the key's tokens are not all cached
   */
  public int copyContinuation(RadixKey key, TreeNode resume, int known, int[] into) {
    return tree.copyContinuation(key, resume, known, into);
  }

  /**
   * Writes the numbers of the pages from the root to the end of {@code node} to {@code table}.
   *
   * @param pages the number of these pages
   */
  public void copyPages(TreeNode node, int pages, int[] table) {
    int end = pages;
    for (TreeNode each = node; each.parent != null; each = each.parent) {
      end -= each.pageCount();
      each.copyPagesTo(table, end);
    }
  }

  /** Returns how many matched pages could be evicted now; locking the match protects them. */
  public int evictablePages(PrefixMatch match) {
    return locks.evictablePages(match);
  }

  /** Returns how many pages become evictable if the lock that ends at a node is released. */
  public int pagesLockedOnce(TreeNode locked) {
    return locks.pagesLockedOnce(locked);
  }

  /**
   * Protects the matched pages from eviction until {@link #unlock}.
   *
   * @param key the key that was matched
   * @param match a match made since the cache last changed
   * @return the node to pass to {@link #insert} and {@link #unlock}
   */
  public TreeNode lock(RadixKey key, PrefixMatch match) {
    TreeNode node = match.node();
    if (match.pages() == 0) {
      node = tree.rootOf(key.namespaceAt(0, pageTokens));
    } else if (match.offset() < node.pageCount()) {
      node = tree.split(node, match.offset());
    }
    locks.lock(node);
    return node;
  }

  /** Adds a lock that ends at {@code node}, which is locked; {@link #unlock} releases it. */
  public void relock(TreeNode node) {
    locks.lock(node);
  }

  /**
   * Raises the priority of cached pages until a given time, as a hint asks.
   *
   * @param locked a locked node that ends at or after the pages
   * @param from first page of the prefix that the hint covers
   * @param to end of these pages
   * @param until end of the raised priority, in milliseconds of the clock of {@link #expire}
   */
  public void retain(TreeNode locked, int from, int to, int priority, long until) {
    retention.retain(locked, from, to, priority, until);
  }

  /** Resets the priorities that end at {@code now} or earlier. */
  public void expire(long now) {
    retention.expire(now);
  }

  /**
   * Records which turn of a conversation stored the newest pages before the end of {@code locked},
   * so that an eviction policy can learn how long conversations last.
   *
   * @param locked a locked node whose request has not ended
   * @param turn 1 for the first
   */
  public void storedInTurn(TreeNode locked, int turn) {
    for (TreeNode each = locked; each != null && each.fresh; each = each.parent) {
      each.turn = (byte) Math.min(turn, Byte.MAX_VALUE);
    }
  }

  /** Finds the longest cached prefix of {@code key}, at most {@code maxPages} pages of it. */
  public PrefixMatch match(RadixKey key, int maxPages) {
    return match(key, maxPages, null, 0);
  }

  /** Releases one lock that ends at {@code node}, and counts a use of its path. */
  public void unlock(TreeNode node) {
    unlock(node, true);
  }

  /**
   * Releases one lock that ends at {@code node}. Without shared prefixes, a request's pages are
   * freed when it ends.
   *
   * @param hit whether the request has ended, which counts as a use; if not, only the time of the
   *     last use is set
   */
  public void unlock(TreeNode node, boolean hit) {
    locks.unlock(node, hit, ++clock);
    if (hit && caching != PrefixCaching.RADIX) {
      freeEnd(node, node.endPage(), 0);
    }
  }

  /** Inserts with priority 0; see the overload with a priority. */
  public PrefixMatch insert(
      TreeNode locked, RadixKey key, int from, int to, int[] table, boolean redirect) {
    return insert(locked, key, from, to, table, redirect, 0);
  }

  /**
   * Passes pages of a request to the cache.
   *
   * <p>If the cache already has pages for the same tokens, the request's pages are duplicates. With
   * {@code redirect} the request's table gets the cache's pages and the duplicates are freed;
   * without it the insertion ends before the first duplicate.
   *
   * @param locked the node that the request has locked; it ends where page {@code from} begins
   * @param from first page to insert
   * @param to end of the pages to insert; all tokens before it must be in the pool
   * @param table the request's page table
   * @param redirect whether the table may be changed; if so, no step may be reading it
   * @param priority the minimum priority of the path and the new pages after the call
   * @return the node at the end of the cached part, to which the lock has moved, and the number of
   *     pages of the key before its end
   */
  public PrefixMatch insert(
      TreeNode locked,
      RadixKey key,
      int from,
      int to,
      int[] table,
      boolean redirect,
      int priority) {
    return caching == PrefixCaching.NAIVE
        ? new PrefixMatch(locked, 0, from)
        : insertion.insert(locked, key, from, to, table, redirect, priority, ++clock);
  }

  /**
   * Evicts up to {@code pages} pages, one by one in the policy's order, and returns how many were
   * evicted. The pages are free unless a {@link PageListener} keeps them for a while.
   */
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

  /**
   * Frees the end of a prefix page by page, until a page is locked or has children. If the prefix
   * ends in a namespace of its own, its public pages stay.
   *
   * @param node the end of the prefix, in the tree or not, as {@link #lock} or {@link #insert}
   *     returned it
   * @param end how many pages the prefix has; cached pages after them stay
   * @param keep number of leading pages that stay in any case
   * @return the number of freed pages
   */
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
      allocator.keepInFlight(node.dropLast(pageTokens));
    } else {
      allocator.free(node.dropLast(pageTokens));
    }
    locks.freedPage();
    tree.changed();
    if (last == 0) {
      tree.remove(node);
    }
  }

  /**
   * Frees every page.
   *
   * @throws IllegalStateException if any page is locked
   */
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
  public TreeNode split(TreeNode node, int count) {
    return tree.split(node, count);
  }

  /** Calls {@code visitor} for each cached page's number. */
  public void forEachPage(IntConsumer visitor) {
    forEachNode(
        node -> {
          for (int i = 0; i < node.pageCount(); i++) {
            visitor.accept(node.page(i));
          }
        });
  }

  /** Calls {@code visitor} for each node except roots. */
  public void forEachNode(Consumer<TreeNode> visitor) {
    tree.forEachNode(visitor);
  }

  /** Recounts evictable and protected pages; returns whether the counters were right. */
  public boolean recount() {
    return locks.recount();
  }
}
