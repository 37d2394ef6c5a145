package io.radixflow.lab.simulate;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.session.SessionPosition;
import java.util.List;

/** The tiers below the device in a {@link CacheSimulation}. */
public interface LowerTiers {

  LowerTiers NONE = new LowerTiers() {};

  /** Attaches the tiers to an empty cache. */
  default void attach(RadixCache cache, PageAllocator allocator) {}

  /**
   * Looks for the pages of a request's prompt, and waits until they are found.
   *
   * @param from number of pages that the device has
   */
  default void look(RadixKey prompt, int from) {}

  /** Waits until pages that have left the cache are free. */
  default void awaitRoom() {}

  /**
   * Fills pages {@code from .. to-1} of the request of the last {@link #look}: loads the found
   * pages, and computes the other pages.
   *
   * @param table the pages, by the same index
   */
  default void fill(RadixKey request, int from, int to, int[] table) {}

  /** Called when a request has ended; returns after all due copies of its pages were made. */
  default void ended(TreeNode end) {}

  /** Called when the session with these positions has been closed. */
  default void forget(List<SessionPosition> positions) {}
}
