package io.radixflow.lab.workload;

import io.radixflow.lab.simulate.CacheWorkload;

/**
 * Joins a request's blocks into pages. Each whole group becomes a page, by default with the name of
 * its last block, because a block's id stands for the whole prefix. Blocks after the last whole
 * group are dropped.
 */
final class PageJoiner {
  private final CacheWorkload.Builder requests;
  private final int blocksPerPage;
  private long position;
  private long name;

  PageJoiner(CacheWorkload.Builder requests, int blocksPerPage) {
    this.requests = requests;
    this.blocksPerPage = blocksPerPage;
  }

  /** Begins a request's blocks. */
  void begin() {
    position = 0;
    name = 0;
  }

  /**
   * Adds a block whose id stands only for its own content. Then the name of a page is a hash of all
   * its blocks.
   */
  void addBlock(long id) {
    name = (name ^ id) * 0x9E37_79B9_7F4A_7C15L;
    name ^= name >>> 32;
    if (++position % blocksPerPage == 0) {
      requests.block(name);
      name = 0;
    }
  }

  /** Adds {@code count} blocks with ids from {@code first}. */
  void addRange(long first, long count) {
    long lastOfPage = position / blocksPerPage * blocksPerPage + blocksPerPage - 1;
    for (long at = lastOfPage; at < position + count; at += blocksPerPage) {
      requests.block(first + at - position);
    }
    position += count;
  }
}
