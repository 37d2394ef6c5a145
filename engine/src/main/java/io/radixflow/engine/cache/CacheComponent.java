package io.radixflow.engine.cache;

/**
 * What a request needs, besides the pages of a cached prefix, to continue after the prefix: for
 * example the keys and values of layers with an attention window ({@link WindowParts}). The tree
 * owns the order of pages. A component owns at most one <b>part</b> per page, in memory of its own.
 * It knows pages only by their numbers in the pool, so splits and merges of nodes do not affect it,
 * and a part stays with its page in the tree, a session or a request.
 *
 * <p>A part is free, locked by running requests and copies, or kept for later requests. A kept part
 * may be taken for another page at any time, so each match asks {@link #usable}. Tiers copy parts
 * under names of their own and need only this interface.
 *
 * <p>The defaults are the component of a pool whose pages have all that a request needs ({@link
 * #NONE}). Owned by the cache's thread. Operations take constant time and allocate nothing, unless
 * they say otherwise.
 */
public interface CacheComponent {
  CacheComponent NONE = new CacheComponent() {};

  // ---- matching

  /**
   * Returns how many of the last whole pages before an end must have parts, so that a request can
   * continue there: the pages of a window, or 1 for a state. A prefix with fewer pages needs parts
   * for all of them. 0 if pages have no parts. Constant.
   */
  default int endPages() {
    return 0;
  }

  /** Returns a number that changes whenever {@link #usable} may give another result. */
  default long version() {
    return 0;
  }

  /**
   * Shortens a match to the longest beginning after which a request can continue. Changes nothing.
   * The time grows with the number of pages between the two ends.
   *
   * @param match made since the tree last changed
   */
  default PrefixMatch usable(PrefixMatch match) {
    return match;
  }

  /** Returns whether a page has its part, or needs none; also for pages that are not cached. */
  default boolean has(int page) {
    return true;
  }

  // ---- requests and copies

  /**
   * Gives a page a part if it has none, taking a kept part if none is free, and locks the part.
   *
   * @return false if no part is available because all are locked; then nothing changes
   */
  default boolean attach(int page) {
    return true;
  }

  /**
   * Locks the part of a page for a request or a copy, so that the part is not taken.
   *
   * @throws IllegalStateException if the page has no part
   */
  default void lock(int page) {}

  /**
   * Releases one lock. A part whose last lock is released becomes a kept part.
   *
   * @param end whether the page is before an end from which another request may continue
   * @throws IllegalStateException if the part is not locked
   */
  default void unlock(int page, boolean end) {}

  /**
   * Protects the part of a page: other parts are taken first. Each call needs one {@link #unpin}.
   */
  default void pin(int page) {}

  /** Undoes one call of {@link #pin}. */
  default void unpin(int page) {}

  // ---- the life of a page

  /**
   * Passes locks, and the part if the other page has none, to a page with the same tokens.
   *
   * @param page the page that is replaced and will be freed; only one request uses it
   */
  default void replaced(int page, int by) {}

  /**
   * Frees the part of a page that has become free.
   *
   * @throws IllegalStateException if the part is locked
   */
  default void pageFreed(int page) {}

  // ---- tiers

  /**
   * Returns whether a page has its part and is before an end, so that a copy of the part in the
   * tiers below is useful.
   */
  default boolean isBeforeEnd(int page) {
    return false;
  }

  /** Returns the number of a page's part among the pool's parts, for copies; -1 for none. */
  default int part(int page) {
    return -1;
  }

  // ---- audit

  /**
   * Compares all counters with the locks of requests and the pages in use, and repairs differences.
   * The time grows with the pages of the pool.
   *
   * @param held for each page, how many running requests and copies have locked its part
   * @param inUse for each page, whether it is not free
   * @return how many pages and counters were wrong; 0 if all is well
   */
  default int repair(int[] held, boolean[] inUse) {
    return 0;
  }
}
