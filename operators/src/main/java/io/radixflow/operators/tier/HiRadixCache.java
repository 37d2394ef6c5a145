package io.radixflow.operators.tier;

import io.radixflow.kernels.device.KvPool;
import io.radixflow.operators.cache.CachedPage;
import io.radixflow.operators.cache.KvEventListener;
import io.radixflow.operators.cache.PageAllocator;
import io.radixflow.operators.cache.PageListener;
import io.radixflow.operators.cache.RadixCache;
import io.radixflow.operators.cache.TreeNode;
import io.radixflow.operators.record.KvEvent;
import io.radixflow.operators.record.KvTier;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * The tiers below a radix cache: what its pages' copies in host memory and in a store are, and how
 * they come back.
 *
 * <ul>
 *   <li>The tree holds what the device has. What the host has is found by its digest alone, so
 *       neither follows the other's splits and merges.
 *   <li>Down: pages are copied to the host as the {@link WritePolicy} says, checksummed, and given
 *       to the store. Nobody waits for that; what does not fit is dropped and counted.
 *   <li>Up: a {@link Retrieval} locks a waiting request's pages in host memory, has their checksums
 *       verified and fetches what is missing from the store. When the request is admitted, its
 *       pages are copied to the device and belong to it as if it had computed them.
 * </ul>
 *
 * <p>A bit that changes in host memory between the copy's arrival and its next verification makes
 * the page a miss. Faults between the device and the first checksum, or between the last
 * verification and the copy to the device, are the memory's and the bus's own to find.
 *
 * <p>Owned by the engine thread: nothing here blocks but {@link #reset}, {@link #close} and the
 * wait for a copy that steps which have ended depended on.
 */
public final class HiRadixCache implements PageListener, AutoCloseable {
  private final KvPool pool;
  private final TierOptions options;
  private final Namespaces namespaces = new Namespaces();
  private final TierWorker worker;
  private final HostTier host;
  private final Backup backup;
  private final Misses misses = new Misses();
  private final LoadModel model;
  private final Checks checks;
  private final StoreLink store;
  private final Forgotten forgotten;
  private final StoreFetches fetches;
  private RadixCache cache;

  private final Loads loads;
  private final Retrievals retrievals;
  private final Prefetcher prefetcher;
  private final TierSwitches switches;

  /**
   * @param pool the device's pages
   * @param store below host memory, which this owns from here; null for none
   * @param engine runs tasks on the engine thread
   * @param nanoClock nanoseconds that only grow
   * @throws IllegalArgumentException if there is not enough memory
   */
  public HiRadixCache(
      KvPool pool, TierOptions options, PageStore store, Executor engine, LongSupplier nanoClock) {
    this.pool = pool;
    this.options = options;
    int pageTokens = pool.pageTokens();
    host = new HostTier(TierSwitches.openHost(pool, options.hostBytes()), pageTokens);
    worker = new TierWorker(engine);
    model = new LoadModel(pageTokens);
    loads = new Loads(pool, host, model, misses, this::release, nanoClock);
    checks = new Checks(host, worker, misses);
    this.store = new StoreLink(store, host, worker, misses);
    fetches =
        new StoreFetches(this.store, host, checks, misses, model, options, pageTokens, nanoClock);
    retrievals =
        new Retrievals(host, fetches, checks, misses, model, options, pageTokens, nanoClock);
    prefetcher = new Prefetcher(host, fetches, retrievals);
    backup = new Backup(pool, host, entries -> checks.sum(entries, this.store::write));
    forgotten = new Forgotten(host, backup, this.store);
    switches = new TierSwitches(pool, host, backup, loads, checks, this.store, fetches);
  }

  /** Follows another tree, which is empty; what was copied stays. */
  public void attach(RadixCache other, PageAllocator allocator) {
    reset();
    cache = other;
    backup.attach(allocator);
    other.follow(this);
  }

  /** Tells of pages that enter or leave host memory from now on. */
  public void listen(KvEventListener listener) {
    host.listen(listener);
  }

  /** What is in host memory, no page before its parent. */
  public List<KvEvent.Stored> content() {
    return host.content();
  }

  /** Says whose a namespace is, before pages of it are stored. */
  public void owns(long tenant, String namespace) {
    namespaces.put(namespace, tenant);
  }

  @Override
  public void stored(CachedPage page) {
    PageId id = PageId.of(page.digests(), page.digestAt());
    HostEntry entry = host.get(id);
    if (!forgotten.isEmpty()) {
      forgotten.used(describe(page, id));
    }
    if (entry != null) {
      if (!entry.onDevice) {
        host.onDevice(entry, true);
      }
      store.writeAgain(entry);
      return;
    }
    backup.stored(id);
    if (page.uses() >= options.writePolicy().uses()) {
      backup.offer(describe(page, id), page.number(), page.index());
    }
  }

  @Override
  public boolean leaving(CachedPage page, boolean evicted) {
    PageId id = PageId.of(page.digests(), page.digestAt());
    HostEntry entry = host.get(id);
    if (entry != null) {
      host.onDevice(entry, false);
    }
    boolean wanted = evicted;
    if (!forgotten.isEmpty()) {
      wanted &= !forgotten.leaves(describe(page, id));
    }
    boolean copy = wanted && entry == null && options.writePolicy().copiesOnEviction(page.uses());
    TierPage copied = copy || wanted && entry != null ? describe(page, id) : null;
    return backup.leaving(page.number(), id, copied, page.index());
  }

  private TierPage describe(CachedPage page, PageId id) {
    PageId parent = page.isFirst() ? null : PageId.of(page.parents(), page.parentAt());
    return namespaces.describe(id, parent, page.namespace());
  }

  /**
   * A request has ended that used the pages up to the end of a node: those that are due are copied.
   */
  public void used(TreeNode end) {
    if (options.writePolicy() != WritePolicy.WRITE_BACK) {
      cache.replay(end, options.writePolicy().uses());
    }
  }

  /** Pages that have left the tree and are free once they have been copied. */
  public int leavingPages() {
    return backup.leaving();
  }

  /** Whether a page is one of {@link #leavingPages}, which nobody else may free. */
  public boolean isLeaving(int page) {
    return backup.isLeaving(page);
  }

  /** Calls {@code visitor} for each of {@link #leavingPages}. */
  public void forEachLeavingPage(IntConsumer visitor) {
    backup.forEachLeaving(visitor);
  }

  /**
   * Begins to get what can be had of a prefix.
   *
   * @param devicePages pages of it that the device has
   * @param limit end of the pages that are of use
   * @return null if nothing can be had
   */
  public Retrieval retrieve(PageChain chain, int devicePages, int limit) {
    return retrievals.begin(chain, devicePages, limit);
  }

  /**
   * Whether a request has to wait for its pages.
   *
   * @param devicePages pages of its prefix that the device has now
   */
  public boolean mustWait(Retrieval retrieval, int devicePages) {
    return retrievals.mustWait(retrieval) || isLoading() && loadable(retrieval, devicePages) > 0;
  }

  /** Whether pages are on their way to the device, or are about to be. */
  public boolean isLoading() {
    return loads.isUnderWay();
  }

  /** How many pages to load for a request that is admitted now; the rest is faster computed. */
  public int loadable(Retrieval retrieval, int devicePages) {
    return retrievals.loadable(retrieval, devicePages);
  }

  /**
   * Adds pages to the copy that {@link #startLoads} begins.
   *
   * @param from first page to load, which the device does not have
   * @param count what {@link #loadable} said, or less
   * @param table the request's page table, whose pages {@code from .. from+count-1} are its own
   * @return how many are loaded
   */
  public int load(Retrieval retrieval, int from, int count, int[] table) {
    return loads.add(retrieval, from, count, table);
  }

  /** Begins to copy what was added, before the step that reads it is submitted. */
  public void startLoads() {
    loads.start();
  }

  /** Takes note of what has ended and begins what is next; never blocks. Whether there was any. */
  public boolean poll() {
    boolean worked = backup.poll();
    fetches.poll();
    worked |= prefetcher.poll();
    return loads.poll() || worked;
  }

  /** Waits for the copy to the device; at most a moment once a step that reads it has ended. */
  public void awaitLoads() {
    loads.await();
  }

  /** Lets go of what a request does not wait for any more. Idempotent. */
  public void release(Retrieval retrieval) {
    retrievals.release(retrieval);
  }

  /**
   * Takes pages from host memory and the store for good, but for those that another page follows
   * there which stays: they are the beginning of somebody else's text, too. What the device has of
   * them does not come down again unless a request uses it.
   *
   * @param pages none before its parent
   * @return completes when no file holds their bytes, with whether there was a store
   */
  public CompletableFuture<Boolean> forget(PageId[] pages) {
    return forgotten.forget(pages);
  }

  /** As {@link #forget}, of all pages there are. */
  public CompletableFuture<Boolean> forgetAll() {
    return forgotten.forgetAll();
  }

  /** As {@link #forget}, of all pages of a tenant, whoever else's text they begin. */
  public CompletableFuture<Boolean> forgetTenant(long tenant) {
    return forgotten.forgetTenant(tenant);
  }

  /** Has the store tell what it holds, for {@link #stats}; whether there is one. */
  public boolean refreshStats() {
    store.refreshStats();
    return store.isAttached();
  }

  /** Changes what is below the device while requests run. */
  public TierSwitches switches() {
    return switches;
  }

  /** Fetches pages for turns that are expected. */
  public Prefetcher prefetcher() {
    return prefetcher;
  }

  /**
   * Tells how many pages of a prefix are where, and changes nothing by it.
   *
   * @param devicePages pages of it that the device has
   * @param then gets, by {@link io.radixflow.operators.record.KvTier#ordinal}, how many come after
   *     those in host memory, and after these in the store
   */
  public void locate(PageChain chain, int devicePages, Consumer<int[]> then) {
    store.locate(chain, devicePages, host.readyPages(chain, devicePages), then);
  }

  /** Measures how long copies to the device take, before anything is served; blocks. */
  public void calibrate(int pages, int rounds) {
    loads.calibrate(pages, rounds);
  }

  /** A prefill of so many tokens from a position on took so long. */
  public void computed(int position, int tokens, long nanos) {
    model.computed(position, tokens, nanos);
  }

  /** Whether copies are under way whose end nobody else tells of. */
  public boolean isMoving() {
    return loads.isUnderWay() || !backup.isIdle();
  }

  /** Waits for copies under way and forgets what waits, as the pool's pages are void. */
  public void reset() {
    loads.abandon();
    backup.abandon();
    host.notOnDevice();
  }

  /** Its pages in host memory. */
  HostTier host() {
    return host;
  }

  /** Whether host pages and their counters agree; walks everything. */
  public boolean audit() {
    return host.audit();
  }

  public TierStats stats() {
    return new TierStats(
        host.total(),
        host.used(),
        host.evicted(),
        backup.pages(),
        backup.dropped() + namespaces.unknown(),
        loads.pages(),
        fetches.pages(),
        store.droppedWrites(),
        loads.failures() + backup.failures(),
        backup.queued() + checks.pending() + store.queuedPages() + fetches.queuedPages(),
        misses.byReason(),
        prefetcher.stats(),
        store.stats(KvTier.DISK),
        store.stats(KvTier.REMOTE));
  }

  /** Ends copies and threads, and frees host memory. */
  @Override
  public void close() {
    reset();
    store.closing();
    boolean ended = worker.stop();
    store.close();
    if (ended) {
      host.memory().close();
    }
  }
}
