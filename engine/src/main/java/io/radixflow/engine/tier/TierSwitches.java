package io.radixflow.engine.tier;

import io.radixflow.engine.tier.host.Backup;
import io.radixflow.engine.tier.host.Checksums;
import io.radixflow.engine.tier.host.HostPage;
import io.radixflow.engine.tier.host.HostTier;
import io.radixflow.engine.tier.host.StoreLink;
import io.radixflow.engine.tier.loadback.LoadBacks;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.kernels.device.HostPages;
import io.radixflow.kernels.device.KvPool;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * Changes the tiers below the device while requests run: empties, holds and resizes host memory;
 * attaches, detaches and empties a store. Refuses a change that is not safe at the time.
 *
 * <p>The engine thread owns it, like its {@link HiRadixCache}, and nothing blocks there. {@link
 * #call}, {@link #await}, {@link #poll} and {@link #resizeHost} are for other threads, which wait.
 */
public final class TierSwitches {
  private static final long PAUSE_MILLIS = 2;

  private final KvPool pool;
  private final HostTier host;
  private final Backup backup;
  private final Checksums checksums;
  private final LoadBacks loadBacks;
  private final StoreLink store;
  private final Executor engine;
  private long patienceMillis = 20_000;

  /** A move of the pages of host memory to other memory. */
  private record HostMove(HostPages from, HostPages to, Map<HostPage, Integer> slots) {
    /** Copies the pages; any thread, while host memory is held. */
    void copy() {
      slots.forEach((page, slot) -> to.buffer(slot).put(from.buffer(page.slot)));
    }
  }

  /**
   * @param engine runs tasks on the engine thread
   */
  TierSwitches(
      KvPool pool,
      HostTier host,
      Backup backup,
      Checksums checksums,
      LoadBacks loadBacks,
      StoreLink store,
      Executor engine) {
    this.pool = pool;
    this.host = host;
    this.backup = backup;
    this.checksums = checksums;
    this.loadBacks = loadBacks;
    this.store = store;
    this.engine = engine;
  }

  /** Sets the longest time that other threads wait for the engine thread. */
  void patience(long millis) {
    patienceMillis = millis;
  }

  // ---- on the engine thread

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
   * Sets whether host memory is held. While it is held, no page enters or leaves it, copies to it
   * are dropped, and requests compute its pages again. So its pages are soon out of use.
   *
   * @return whether host memory is held
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
   * Plans the move to other memory; evicts pages that do not fit there.
   *
   * @return null if host memory is not at rest
   * @throws IllegalArgumentException if more pages are locked than fit
   */
  private HostMove planMove(HostPages other) {
    if (!isHostAtRest()) {
      return null;
    }
    Map<HostPage, Integer> slots = host.slotsIn(other);
    if (slots == null) {
      throw new IllegalArgumentException(
          "turns that wait have %d pages locked, more than the %d pages of the new size"
              .formatted(host.locked(), other.pages()));
    }
    return new HostMove(host.memory(), other, slots);
  }

  /** Uses the other memory from now on; returns null if host memory is not at rest. */
  private Boolean finish(HostMove move) {
    if (!isHostAtRest()) {
      return null;
    }
    host.moveTo(move.to, move.slots).close();
    return true;
  }

  // ---- on threads that wait

  /**
   * Runs a task on the engine thread and waits for its result.
   *
   * @throws TimeoutException if the engine thread does not run the task in time
   */
  public <T> T call(Supplier<T> task) throws TimeoutException, InterruptedException {
    return await(CompletableFuture.supplyAsync(task, engine));
  }

  /**
   * Waits for a result.
   *
   * @throws TimeoutException if the result does not arrive in time
   */
  public <T> T await(CompletableFuture<T> result) throws TimeoutException, InterruptedException {
    try {
      return result.get(patienceMillis, TimeUnit.MILLISECONDS);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      throw new IllegalStateException(e.getCause());
    } catch (TimeoutException e) {
      throw new TimeoutException(
          "the engine was busy for %d ms; try again".formatted(patienceMillis));
    }
  }

  /**
   * Runs a task on the engine thread repeatedly, until it has a result.
   *
   * @param task returns null while the task cannot be done
   * @throws TimeoutException if the task had no result in time
   */
  public <T> T poll(Supplier<T> task) throws TimeoutException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(patienceMillis);
    T result = call(task);
    while (result == null) {
      if (System.nanoTime() > deadline) {
        throw new TimeoutException(
            "pages were on their way for %d ms; try again".formatted(patienceMillis));
      }
      TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
      result = call(task);
    }
    return result;
  }

  /**
   * Resizes host memory while the engine runs: the pages that fit are copied to the new memory, and
   * turns do without host memory until the copy is done. During that time both memories are
   * allocated.
   *
   * @param bytes the new size; 0 for one page
   * @param hold whether host memory is not used afterwards
   * @return how many pages were kept
   * @throws IllegalArgumentException if the memory cannot be allocated or is too small; then
   *     nothing has changed
   * @throws TimeoutException if pages were on their way all the time, or the engine was busy; then
   *     nothing has changed, unless the engine runs the task later
   */
  public int resizeHost(long bytes, boolean hold) throws TimeoutException, InterruptedException {
    boolean heldBefore = call(host::isHeld);
    HostPages memory =
        bytes == 0 ? pool.openHostPages(1, Math.min(1, pool.parts())) : openHost(pool, bytes);
    try {
      call(() -> holdHost(true));
      HostMove move = poll(() -> planMove(memory));
      move.copy();
      poll(() -> finish(move));
      return move.slots.size();
    } finally {
      // a call that timed out may have run since: only the engine thread knows, which runs this
      // after it
      call(() -> closeOne(memory, hold, heldBefore));
    }
  }

  /** Closes the new memory unless the pages have moved there; returns whether they have. */
  private boolean closeOne(HostPages memory, boolean hold, boolean heldBefore) {
    boolean moved = host.memory() == memory;
    holdHost(moved ? hold : heldBefore);
    if (!moved) {
      memory.close();
    }
    return moved;
  }

  /**
   * Allocates as many pages as fit into {@code bytes} bytes, with window parts in the same
   * proportion as on the device. Blocks.
   *
   * @throws IllegalArgumentException if the memory cannot be allocated, or is smaller than a page
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
}
