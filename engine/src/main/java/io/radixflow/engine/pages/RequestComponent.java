package io.radixflow.engine.pages;

import io.radixflow.engine.WindowStats;
import io.radixflow.engine.cache.CacheComponent;
import io.radixflow.engine.request.Request;
import io.radixflow.kernels.device.KvPool;
import java.util.function.IntConsumer;

/**
 * Locks and releases the parts of a {@link CacheComponent} for requests, from their admission to
 * their end. {@link KvPages} owns the page tables and calls each operation when the table changes
 * or a step ends; {@code table} is the request's page table. The defaults are for a pool whose
 * pages have no parts. Operations change only the component and what the request keeps for it, and
 * allocate nothing; their time grows with the pages that they lock or release. Engine thread only.
 */
interface RequestComponent {
  RequestComponent NONE = new RequestComponent() {};

  /**
   * @param window tokens that a query sees in the layers of the pool's window parts
   */
  static RequestComponent of(KvPool pool, int window) {
    return pool.parts() == 0 ? NONE : new RequestWindows(pool, window);
  }

  /** Returns the owner of the parts. */
  default CacheComponent component() {
    return CacheComponent.NONE;
  }

  default WindowStats stats() {
    return WindowStats.NONE;
  }

  /** Returns whether a waiting request could always continue next to the running requests. */
  default boolean hasRoomFor(Request request) {
    return true;
  }

  /**
   * Locks the parts that the first step of a request reads, and reserves the parts that the request
   * may always have.
   *
   * @param computed number of tokens that the request does not compute
   * @param found the cached pages of its tokens; the usable ones are in its table
   * @param filled pages of its table that hold tokens
   */
  default void admitted(Request request, int[] table, int computed, int found, int filled) {}

  /** Takes over the parts that tiers have locked for {@code pages} pages that are being loaded. */
  default void loads(Request request, int from, int pages) {}

  /** Releases the parts that a request no longer needs because its pages have been loaded. */
  default void loaded(Request request, int[] table) {}

  /**
   * Gives parts to the pages that a step is about to fill, as far as parts are available.
   *
   * @param end the end of the positions that the step computes
   * @return the end of the positions that it can compute
   */
  default int extend(Request request, int[] table, int end) {
    return end;
  }

  /** Releases the parts that a request's next queries do not reach. Called after its step. */
  default void computed(Request request, int[] table) {}

  /** Notes that another request awaits the first {@code pages} pages of a running request. */
  default void awaited(Request running, int pages) {}

  /** Releases the parts that a request had for failed steps; no step is in flight. */
  default void rewound(Request request, int[] table) {}

  /**
   * Releases all parts of a request that gives its pages back. Other requests may continue after
   * these parts.
   */
  default void release(Request request, int[] table) {}

  /** Visits the page of each part that a request has locked. */
  default void forEachLocked(Request request, int[] table, IntConsumer visitor) {}
}
