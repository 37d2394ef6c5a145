package io.radixflow.operators.tier;

/**
 * A page of host memory and what it holds. A page that is being filled is nobody's to read but the
 * one's that fills it. Owned by the engine thread.
 */
final class HostPage {
  final TierPage page;

  /** Where it is in host memory. */
  int hostPage;

  /** Tells entries of equal age apart. */
  final long number;

  /** Whether it may be read. */
  boolean ready;

  /** Whether it has left the directory; its host page goes back with the last lock. */
  boolean removed;

  /** CRC32C of its bytes, once ready. */
  int checksum;

  /** Entries of pages that come after this one. */
  int children;

  /** Who reads or fills it. */
  int locks;

  long lastUsed;

  /** Whether the device has the page, too. */
  boolean onDevice;

  /** Whether the store was given the page. */
  boolean stored;

  HostPage(TierPage page, int hostPage, long number) {
    this.page = page;
    this.hostPage = hostPage;
    this.number = number;
  }

  PageId id() {
    return page.id();
  }
}
