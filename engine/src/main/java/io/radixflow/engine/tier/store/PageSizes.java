package io.radixflow.engine.tier.store;

import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.kernels.device.KvPool;

/**
 * How large the pages of a store are.
 *
 * @param page bytes of a page
 * @param window bytes of the window part of one; 0 without window parts
 */
public record PageSizes(int page, int window) {
  /** The sizes of a pool without window parts. */
  public static PageSizes of(int page) {
    return new PageSizes(page, 0);
  }

  /** The sizes of a pool's pages. */
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
   * Returns the epoch of pages of these sizes. It differs with window parts, since the pages of a
   * prefix then have other bytes.
   */
  public String epoch(String numericsEpoch) {
    return window == 0 ? numericsEpoch : numericsEpoch + "-window";
  }
}
