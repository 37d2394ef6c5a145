package io.radixflow.engine.tier.store;

import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.kernels.device.KvPool;

/**
 * The sizes of a store's pages.
 *
 * @param page bytes of a page
 * @param window bytes of a page's window part; 0 without window parts
 */
public record PageSizes(int page, int window) {
  /** Returns the sizes of a pool without window parts. */
  public static PageSizes of(int page) {
    return new PageSizes(page, 0);
  }

  /** Returns the sizes of a pool's pages. */
  public static PageSizes of(KvPool pool) {
    return new PageSizes(Math.toIntExact(pool.pageBytes()), Math.toIntExact(pool.partBytes()));
  }

  /** Returns the bytes of a page, or of a window part. */
  public int of(TierPage page) {
    return page.isWindow() ? window : this.page;
  }

  /** Returns the bytes of the larger kind. */
  public int largest() {
    return Math.max(page, window);
  }

  /**
   * Returns the epoch of pages of these sizes. The epoch differs with window parts, because the
   * pages of a prefix then have different bytes.
   */
  public String epoch(String numericsEpoch) {
    return window == 0 ? numericsEpoch : numericsEpoch + "-window";
  }
}
