package io.radixflow.operators.cache;

import io.radixflow.operators.record.KvEvent;
import java.util.List;
import java.util.function.IntConsumer;

/**
 * Pages that outlive a step, found by the tokens they hold: what a request asks for its prefix, and
 * leaves its pages to. Which one an engine has is a switch; see {@link PrefixCaching}.
 *
 * <p>Owned by one thread.
 */
public interface PrefixCache {

  /**
   * The key of a request's tokens.
   *
   * @param request a number that no other request of the engine has
   * @param publicTokens see {@link RadixKey#publicTokens}
   */
  default RadixKey keyOf(
      long request, String namespace, int publicTokens, int[] tokens, int length) {
    return new RadixKey(namespace, tokens, length, false, publicTokens);
  }

  /**
   * Tells of each page that enters or leaves the cache from now on, which is empty. A cache in
   * which no request finds another's pages has nothing to tell.
   *
   * @param tokenIds whether the events tell what pages hold
   * @throws IllegalStateException if pages are cached already
   */
  default void listen(KvEventListener listener, boolean tokenIds) {}

  /**
   * All that a listener knows of, no page before its parent.
   *
   * @throws IllegalStateException if nobody listens: pages have no names then
   */
  default List<KvEvent.Stored> content() {
    return List.of();
  }

  /**
   * Tells of each page that enters or leaves the cache from now on, which is empty, together with
   * its digest. A cache in which no request finds another's pages has nothing to tell.
   *
   * @throws IllegalStateException if pages are cached already
   */
  default void follow(PageListener follower) {}

  /**
   * Tells who follows the cache again of the pages up to the end of a node that at least {@code
   * uses} requests have used, no page before its parent.
   *
   * @param end a locked node
   */
  default void retell(TreeNode end, int uses) {}

  /** Pages that {@link #evict} could free now. */
  int evictablePages();

  /** Pages that are locked. */
  int protectedPages();

  /** Changes whenever a match made before may be out of date. */
  long version();

  /**
   * Finds the longest cached prefix of {@code key}, looking at its new pages only.
   *
   * @param maxPages most pages to find
   * @param resume a node that {@link #lock} or {@link #insert} returned, in the tree or not; or
   *     null, to begin at the root
   * @param known pages of the key, from its beginning, that are those the node's path ended with
   *     when it was returned: the caller vouches for it
   */
  PrefixMatch match(RadixKey key, int maxPages, TreeNode resume, int known);

  /** Finds the longest cached prefix of {@code key}, at most {@code maxPages} pages of it. */
  default PrefixMatch match(RadixKey key, int maxPages) {
    return match(key, maxPages, null, 0);
  }

  /**
   * Writes the numbers of the pages from the root to the end of {@code node} to {@code table}.
   *
   * @param pages how many these are
   */
  void copyPages(TreeNode node, int pages, int[] table);

  /** How many of the matched pages could be evicted now; locking the match protects them. */
  int evictablePages(PrefixMatch match);

  /** How many pages would become evictable if the lock that ends at {@code locked} was released. */
  int pagesLockedOnce(TreeNode locked);

  /**
   * Protects the matched pages from eviction until {@link #unlock}.
   *
   * @param key the key that was matched
   * @param match made since the cache last changed
   * @return the node to hand to {@link #insert} and {@link #unlock}
   */
  TreeNode lock(RadixKey key, PrefixMatch match);

  /** Adds a lock that ends at {@code node}, which is locked; {@link #unlock} releases it. */
  void relock(TreeNode node);

  /**
   * Raises the priority of cached pages by a hint, until a time.
   *
   * @param locked a locked node that ends at or after the pages
   * @param from first page of the prefix that the hint is about
   * @param to end of these pages
   * @param until milliseconds of the clock that {@link #expire} is called with
   */
  void retain(TreeNode locked, int from, int to, int priority, long until);

  /** Takes back the priorities whose time has come. */
  void expire(long now);

  /**
   * Says which turn of a conversation stored the newest pages before the end of {@code locked}, so
   * that an eviction policy can tell how long conversations go on.
   *
   * @param locked a locked node whose request has not ended
   * @param turn 1 for the first
   */
  default void storedInTurn(TreeNode locked, int turn) {}

  /**
   * Releases one lock that ends at {@code node}.
   *
   * @param hit whether the request has ended, which counts as a use; if not, only the time of the
   *     last use is set
   */
  void unlock(TreeNode node, boolean hit);

  /**
   * Passes pages of a request to the cache.
   *
   * <p>Where the cache has pages of its own for the same tokens, the request's are duplicates: with
   * {@code redirect} its table is pointed at the cache's and the duplicate is freed; without, the
   * insertion ends before it.
   *
   * @param locked the node that the request has locked; ends where page {@code from} begins
   * @param from first page to insert
   * @param to end of the pages to insert; all tokens before it must be in the pool
   * @param table the request's page table
   * @param redirect whether the table may be changed, which needs that no step reads it
   * @param priority what the path's priority is raised to, and the new pages'
   * @return the node at the end of what is now cached, holding the lock instead of {@code locked},
   *     and how many pages of the key lie before its end
   */
  PrefixMatch insert(
      TreeNode locked, RadixKey key, int from, int to, int[] table, boolean redirect, int priority);

  /**
   * Evicts up to {@code pages} pages, one by one as the policy says; returns how many. They are
   * free, but for those that a {@link PageListener} keeps for a while.
   */
  int evict(int pages);

  /**
   * Frees the end of a prefix, page by page, as far as nobody has locked it and nothing extends it;
   * of a prefix that ends in a namespace of its own, no public page.
   *
   * @param node where the prefix ends, in the tree or not, as {@link #lock} or {@link #insert}
   *     returned it
   * @param end how many pages the prefix has; what the cache holds beyond them stays
   * @param keep pages from the beginning that stay in any case
   * @return how many were freed
   */
  int freeEnd(TreeNode node, int end, int keep);

  /**
   * Frees every page.
   *
   * @throws IllegalStateException if any is locked
   */
  void reset();

  /** Calls {@code visitor} for each cached page's number. */
  void forEachPage(IntConsumer visitor);

  /** Counts evictable and protected pages anew; returns whether the counters were right. */
  boolean recount();
}
