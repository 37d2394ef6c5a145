package io.radixflow.engine.tier.store;

import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.protocol.record.kv.KvTier;
import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;

/**
 * A tier below host memory: pages of one numerics epoch, found by their digest, that outlive the
 * process.
 *
 * <p>The window part of a page is stored as a page of its own, under the name {@link
 * PageId#window}, and removed with its page.
 *
 * <p>No method throws for a failure of the device: a page that cannot be read or is damaged is a
 * miss, and a page that cannot be written is not stored. Both are counted in {@link #stats}.
 * Methods block on the tier's device. Any thread except the engine's and Flink's mailbox may call
 * them, several at once.
 */
public interface PageStore extends AutoCloseable {

  /** Opens the store of an engine. */
  @FunctionalInterface
  interface Factory extends Serializable {
    /**
     * @param numericsEpoch what decides the bits of the engine's pages
     * @param sizes bytes of a page
     */
    PageStore open(String numericsEpoch, PageSizes sizes);
  }

  KvTier tier();

  /**
   * Returns the store that is asked for pages that this one lacks, or null. This store passes on
   * writes and removals itself: others call only {@link #find}, {@link #read} and {@link #stats} of
   * the store below.
   */
  default PageStore below() {
    return null;
  }

  /**
   * Returns how many pages of {@code chain}, from {@code from} and before {@code to}, the store
   * seems to have, up to the first page that it lacks. Reads no page.
   */
  int find(PageId[] chain, int from, int to);

  /**
   * Finds pages as {@link #find} does and counts them by tier. No page counts as used.
   *
   * @return pages by {@link KvTier#ordinal}; pages of a slower tier come after pages of a faster
   *     one
   */
  default int[] findByTier(PageId[] chain, int from, int to) {
    int[] pages = new int[KvTier.values().length];
    int at = from;
    for (PageStore each = this; each != null && at < to; each = each.below()) {
      int found = each.find(chain, at, to);
      pages[each.tier().ordinal()] = found;
      at += found;
    }
    return pages;
  }

  /**
   * Reads and verifies pages {@code from .. to-1} of a chain, up to the first page that is missing
   * or damaged. Verifies the checksum, the digest, the namespace and the epoch.
   *
   * @param namespaces published name of each page's namespace
   * @param into one buffer per page, at the same index, of the page's size from position 0; buffers
   *     beyond the pages that were read have undefined content
   * @return the number of pages read
   */
  int read(PageId[] chain, String[] namespaces, int from, int to, ByteBuffer[] into);

  /**
   * Reads and verifies one page. The read does not count as a use.
   *
   * @param into receives the page from position 0 on
   * @return whether the page was read
   */
  default boolean copy(TierPage page, ByteBuffer into) {
    PageId[] id = {page.id()};
    return read(id, new String[] {page.namespace()}, 0, 1, new ByteBuffer[] {into}) == 1;
  }

  /**
   * Stores pages that are not stored yet.
   *
   * @param pages the pages, each after its parent if both are given
   * @param bytes one buffer per page, of the page's size from position 0; unchanged, and reusable
   *     when the call returns
   * @param count how many entries of both are valid
   * @return number of pages that could not be stored and may be offered again
   */
  int write(TierPage[] pages, ByteBuffer[] bytes, int count);

  /** Returns the number of pages that wait to be written to the store below; never blocks. */
  default int queuedPages() {
    return 0;
  }

  /**
   * Returns the number of pages that should have been written to the store below and were not;
   * never blocks.
   */
  default long droppedPages() {
    return 0;
  }

  /**
   * Removes pages: they are misses immediately, and their bytes are deleted in the background; see
   * {@link #erased}. Skips pages that the store does not have.
   */
  void remove(PageId[] pages, int count);

  /**
   * Removes pages. A page stays if another page that stays follows it here.
   *
   * @param pages the pages, each after its parent
   */
  default void erase(PageId[] pages) {
    remove(pages, pages.length);
  }

  /** Removes all pages of a tenant; see {@link #remove}. */
  void removeTenant(long tenant);

  /** Removes all pages; see {@link #remove}. */
  void clear();

  /** Removes all pages, except pages of a store below, which other engines also use. */
  default void flush() {
    clear();
  }

  /** Completes, on any thread, when no file contains bytes of pages removed so far. */
  CompletableFuture<Void> erased();

  /**
   * Changes the store's limit; pages beyond it are evicted in the background.
   *
   * @throws IllegalArgumentException if the limit is too small
   * @throws UnsupportedOperationException if the store's size cannot be changed
   */
  default void resize(long limitBytes) {
    throw new UnsupportedOperationException("this store has no size that can be changed");
  }

  /** Returns the store's gauges and counters. */
  PageStoreStats stats();

  /** Sets a task that runs whenever background work has changed {@link #stats}. */
  default void whenChanged(Runnable task) {}

  /** Prepares for {@link #close}: ends writes that would take long. */
  default void closing() {}

  /** Ends background work and closes files; written pages stay. Idempotent. */
  @Override
  void close();
}
