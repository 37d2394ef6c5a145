package io.radixflow.engine.tier;

import io.radixflow.engine.tier.host.Backup;
import io.radixflow.engine.tier.host.Checksums;
import io.radixflow.engine.tier.host.HostMove;
import io.radixflow.engine.tier.host.HostTier;
import io.radixflow.engine.tier.host.StoreLink;
import io.radixflow.engine.tier.loadback.LoadBacks;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.KvPool;
import java.util.concurrent.CompletableFuture;

/**
 * Changes the tiers below the device while requests run: empties, holds and replaces host memory;
 * attaches, detaches and empties a store. It refuses a change that is not safe at the time.
 *
 * <p>Owned by the engine thread, like its {@link HiRadixCache}. Only {@link #openHost} blocks.
 */
public final class TierSwitches {
  private final KvPool pool;
  private final HostTier host;
  private final Backup backup;
  private final Checksums checksums;
  private final LoadBacks loadBacks;
  private final StoreLink store;

  TierSwitches(
      KvPool pool,
      HostTier host,
      Backup backup,
      Checksums checksums,
      LoadBacks loadBacks,
      StoreLink store) {
    this.pool = pool;
    this.host = host;
    this.backup = backup;
    this.checksums = checksums;
    this.loadBacks = loadBacks;
    this.store = store;
  }

  /**
   * Empties host memory.
   *
   * @return false if pages are on their way to the device; then nothing changes
   */
  public boolean flush() {
    if (loadBacks.copies().isInProgress()) {
      return false;
    }
    backup.cancel(page -> true);
    host.clear();
    return true;
  }

  /**
   * Attaches a store below host memory. From now on the tiers own it.
   *
   * @return false if another store is attached; then the caller still owns {@code other}
   */
  public boolean attachStore(PageStore other) {
    return store.attach(other);
  }

  /**
   * Detaches the store. It is closed when its reads and writes in progress have ended.
   *
   * @return completes when the store is closed; null if no store is attached
   */
  public CompletableFuture<Void> detachStore() {
    return store.detach();
  }

  /** Empties only the store; returns false if no store is attached. */
  public boolean flushStore() {
    host.clearStored();
    return store.change(PageStore::flush);
  }

  /**
   * Sets whether host memory is held: no page enters or leaves. Copies to it are dropped, and
   * requests compute its pages again, so soon no page of it is in use.
   *
   * @return whether it is held
   */
  public boolean holdHost(boolean held) {
    host.hold(held);
    return held;
  }

  /** Returns whether host memory is held. */
  public boolean isHostHeld() {
    return host.isHeld();
  }

  /** Returns whether host memory is held and no page of it is being read or filled. */
  private boolean isHostAtRest() {
    return host.isHeld()
        && loadBacks.copies().isIdle()
        && !backup.isInProgress()
        && checksums.pending() == 0
        && store.writingPages() == 0
        && loadBacks.reads().queuedPages() == 0;
  }

  /**
   * Allocates memory of another size for pages. Any thread may call this; it blocks until the
   * memory is allocated.
   *
   * @param bytes size of the memory; 0 for one page
   * @throws IllegalArgumentException if it cannot be allocated, or is smaller than a page
   */
  HostPages openHost(long bytes) {
    return bytes == 0 ? pool.openHostPages(1, Math.min(1, pool.parts())) : openHost(pool, bytes);
  }

  /**
   * Allocates as many pages as fit into {@code bytes} bytes, with window parts in the same
   * proportion as on the device.
   */
  static HostPages openHost(KvPool pool, long bytes) {
    double share = (double) pool.parts() / pool.pages();
    long least = pool.pageBytes() + pool.partBytes();
    double most = bytes / (pool.pageBytes() + share * pool.partBytes());
    long pages = bytes < least ? 0 : (long) Math.max(1, Math.min(most, Integer.MAX_VALUE / 2));
    if (pages == 0) {
      throw new IllegalArgumentException(
          "host memory of %d bytes holds no page of %d bytes; give it more"
              .formatted(bytes, least));
    }
    int parts = pool.parts() == 0 ? 0 : (int) Math.max(1, Math.round(share * pages));
    return pool.openHostPages((int) pages, parts);
  }

  /**
   * Plans the move to other memory; evicts pages that do not fit there.
   *
   * @return null if host memory is not at rest
   * @throws IllegalArgumentException if more pages are locked than fit
   */
  HostMove planMove(HostPages other) {
    return isHostAtRest() ? HostMove.plan(host, other) : null;
  }

  /** Uses the other memory from now on; returns false if host memory is not at rest. */
  boolean finish(HostMove move) {
    if (!isHostAtRest()) {
      return false;
    }
    move.finish(host);
    return true;
  }
}
