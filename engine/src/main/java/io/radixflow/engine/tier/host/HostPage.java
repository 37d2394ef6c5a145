package io.radixflow.engine.tier.host;

import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;

/**
 * A page in host memory, or the window part of one. Only the thread that fills it may read it until
 * it is {@link #ready}. The fields belong to the engine thread.
 */
public final class HostPage {
  public final TierPage page;

  private final boolean window;

  /** The page's index in host memory. */
  public int slot;

  /** Orders pages of equal age. */
  final long number;

  /** Set once the page is filled and may be read. */
  boolean ready;

  /** Set once the page can no longer be found; its slot is freed with the last lock. */
  boolean removed;

  /** The CRC32C of the page's bytes, once ready. */
  int checksum;

  /** The number of pages in host memory whose parent is this page. */
  public int children;

  /** The number of readers and writers. */
  int locks;

  long lastUsed;

  /** Set while the device also has the page. */
  public boolean onDevice;

  /** Set once the page was given to the store. */
  public boolean stored;

  HostPage(TierPage page, int slot, long number) {
    this.page = page;
    this.window = page.isWindow();
    this.slot = slot;
    this.number = number;
  }

  /** Returns whether this is the window part of a page. */
  boolean isWindow() {
    return window;
  }

  PageId id() {
    return page.id();
  }
}
