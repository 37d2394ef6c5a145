package io.radixflow.engine.tier.remote;

import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.PageSizes;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.engine.tier.store.PageStoreStats;
import io.radixflow.protocol.record.kv.KvTier;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * A store with a remote store below it. A page is written to the upper store immediately, and from
 * there to the lower store later ({@link Uploads}). A removed page leaves both.
 */
public record StoreStack(PageStore upper, PageStore lower, Uploads uploads) implements PageStore {
  /**
   * Creates a store from a disk store, a remote store, or both.
   *
   * @param disk null for none
   * @param remote null for none
   * @param sizes the sizes of a page
   * @param uploadMillis time from a page's write to disk to its upload to the remote store
   */
  public static PageStore of(
      PageStore disk, RemoteStore remote, PageSizes sizes, long uploadMillis) {
    if (disk == null || remote == null) {
      return disk == null ? remote : disk;
    }
    return new StoreStack(
        disk, remote, new Uploads(disk, remote, remote::isReady, sizes, uploadMillis));
  }

  @Override
  public KvTier tier() {
    return upper.tier();
  }

  @Override
  public PageStore below() {
    return lower;
  }

  @Override
  public int find(PageId[] chain, int from, int to) {
    return upper.find(chain, from, to);
  }

  @Override
  public int read(PageId[] chain, String[] namespaces, int from, int to, ByteBuffer[] into) {
    return upper.read(chain, namespaces, from, to, into);
  }

  @Override
  public boolean copy(TierPage page, ByteBuffer into) {
    return upper.copy(page, into);
  }

  @Override
  public int write(TierPage[] pages, ByteBuffer[] bytes, int count) {
    int failed = upper.write(pages, bytes, count);
    uploads.offer(pages, count);
    return failed;
  }

  @Override
  public int queuedPages() {
    return uploads.queued();
  }

  @Override
  public long droppedPages() {
    return uploads.dropped();
  }

  @Override
  public void remove(PageId[] pages, int count) {
    removeQueued(pages, count);
    upper.remove(pages, count);
    lower.remove(pages, count);
  }

  private void removeQueued(PageId[] pages, int count) {
    Set<PageId> ids = new HashSet<>(List.of(pages).subList(0, count));
    uploads.remove(
        page -> ids.contains(page.id()) || page.isWindow() && ids.contains(page.parent()));
  }

  @Override
  public void erase(PageId[] pages) {
    removeQueued(pages, pages.length);
    upper.erase(pages);
    lower.erase(pages);
  }

  @Override
  public void removeTenant(long tenant) {
    uploads.remove(page -> page.tenant() == tenant);
    upper.removeTenant(tenant);
    lower.removeTenant(tenant);
  }

  @Override
  public void clear() {
    flush();
    lower.clear();
  }

  @Override
  public void flush() {
    uploads.remove(page -> true);
    upper.clear();
  }

  @Override
  public void resize(long limitBytes) {
    upper.resize(limitBytes);
  }

  @Override
  public CompletableFuture<Void> erased() {
    CompletableFuture<Void> above = upper.erased();
    return uploads
        .batchEnded()
        .thenCompose(ended -> lower.erased())
        .thenCombine(above, (below, both) -> null);
  }

  @Override
  public PageStoreStats stats() {
    return upper.stats();
  }

  @Override
  public void whenChanged(Runnable task) {
    uploads.whenChanged(task);
  }

  @Override
  public void closing() {
    upper.closing();
  }

  /** Closes both stores. Before that, uploads waiting pages for at most a few seconds. */
  @Override
  public void close() {
    uploads.close();
    lower.closing();
    upper.close();
    lower.close();
  }
}
