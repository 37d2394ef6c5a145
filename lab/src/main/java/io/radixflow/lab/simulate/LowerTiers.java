package io.radixflow.lab.simulate;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.session.SessionPosition;
import java.util.List;

/** The tiers below the device in a {@link CacheSimulation}. */
public interface LowerTiers {

  /** Nothing. */
  LowerTiers NONE = new LowerTiers() {};

  /** Belongs to a cache from here, which is empty. */
  default void attach(RadixCache cache, PageAllocator allocator) {}

  /**
   * A request looks for pages of its prompt and waits for them.
   *
   * @param from how many the device has
   */
  default void look(RadixKey prompt, int from) {}

  /** Waits until pages that have left the cache are free. */
  default void awaitRoom() {}

  /**
   * Fills pages {@code from .. to-1} of the request that looked last: loads the pages of its prompt
   * that were found, and computes the other pages.
   *
   * @param table the pages, by the same index
   */
  default void fill(RadixKey request, int from, int to, int[] table) {}

  /** A request has ended, and no other comes before all copies have been made that it is due. */
  default void ended(TreeNode end) {}

  /** Called when the session with these positions has been closed. */
  default void forget(List<SessionPosition> positions) {}
}
