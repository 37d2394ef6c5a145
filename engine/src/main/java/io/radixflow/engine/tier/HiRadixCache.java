package io.radixflow.engine.tier;

import io.radixflow.engine.cache.CacheComponent;
import io.radixflow.engine.cache.CachedPage;
import io.radixflow.engine.cache.KvEventListener;
import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.PageListener;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.tier.host.Backup;
import io.radixflow.engine.tier.host.Checksums;
import io.radixflow.engine.tier.host.HostPage;
import io.radixflow.engine.tier.host.HostTier;
import io.radixflow.engine.tier.host.StoreLink;
import io.radixflow.engine.tier.host.TierWorker;
import io.radixflow.engine.tier.loadback.HostToDeviceCopies;
import io.radixflow.engine.tier.loadback.LoadBack;
import io.radixflow.engine.tier.loadback.LoadBacks;
import io.radixflow.engine.tier.loadback.StorageReads;
import io.radixflow.engine.tier.page.Namespaces;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.kernels.device.KvPool;
import io.radixflow.protocol.record.kv.KvEvent;
import io.radixflow.protocol.record.kv.KvTier;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.IntConsumer;
import java.util.function.LongSupplier;

/**
 * The tiers below a radix cache: keeps copies of its pages in host memory and in a store, and
 * brings them back.
 *
 * <ul>
 *   <li>The tree contains the pages of the device. Pages of the host are found by their digests
 *       alone, so splits and merges of nodes do not affect them.
 *   <li>Down: pages are copied to the host as the {@link WritePolicy} says, checksummed, and given
 *       to the store. No request waits for that; pages that do not fit are dropped and counted.
 *   <li>Up: a {@link LoadBack} locks a waiting request's pages in host memory, has their checksums
 *       verified and reads missing pages from the store. When the request is admitted, its pages
 *       are copied to the device and belong to it as if it had computed them.
 * </ul>
 *
 * <p>A bit that changes in host memory between the copy's arrival and its next verification makes
 * the page a miss. Faults between the device and the first checksum, or between the last
 * verification and the copy to the device, are not detected here; that is up to the memory and the
 * bus.
 */
public final class HiRadixCache implements Tiers, PageListener {
  private static final long MOVING_NANOS = 50_000;
  private static final long WAITING_NANOS = 5_000_000;

  private final TierOptions options;
  private final Namespaces namespaces = new Namespaces();
  private final TierWorker worker;
  private final HostTier host;
  private final Checksums checksums;
  private final StoreLink store;
  private final Backup backup;
  private final LoadBacks loadBacks;
  private final ErasedPages erased;
  private final TierSwitches switches;
  private RadixCache cache;
  private CacheComponent component = CacheComponent.NONE;

  /**
   * @param pool the device's pages
   * @param store the store below host memory, which this object owns from now on; null for none
   * @param engine runs tasks on the engine thread
   * @param nanoClock nanoseconds that never decrease
   * @throws IllegalArgumentException if there is not enough memory
   */
  public HiRadixCache(
      KvPool pool, TierOptions options, PageStore store, Executor engine, LongSupplier nanoClock) {
    this.options = options;
    host = new HostTier(TierSwitches.openHost(pool, options.hostBytes()), pool.pageTokens());
    worker = new TierWorker(engine);
    checksums = new Checksums(host, worker);
    this.store = new StoreLink(store, host, worker);
    backup = new Backup(pool, host, pages -> checksums.sum(pages, this.store::write));
    loadBacks = new LoadBacks(pool, host, checksums, this.store, options.loadBack(), nanoClock);
    erased = new ErasedPages(host, backup, this.store);
    switches = new TierSwitches(pool, host, backup, checksums, loadBacks, this.store, engine);
  }

  @Override
  public void attach(RadixCache other, PageAllocator allocator) {
    voidDevicePages();
    cache = other;
    component = other.component();
    erased.attach(other);
    backup.attach(allocator, component);
    loadBacks.attach(component);
    other.follow(this);
  }

  private void voidDevicePages() {
    loadBacks.copies().abandon();
    backup.abandon();
    host.notOnDevice();
  }

  @Override
  public void listen(KvEventListener listener) {
    host.listen(listener);
  }

  @Override
  public List<KvEvent.Stored> content() {
    return host.content();
  }

  @Override
  public void stored(CachedPage page) {
    PageId id = PageId.of(page.digests(), page.digestAt());
    HostPage onHost = host.get(id);
    if (!erased.isEmpty()) {
      erased.used(describe(page, id));
    }
    offerWindow(page, id);
    if (onHost != null) {
      if (!onHost.onDevice) {
        host.onDevice(onHost, true);
      }
      store.writeAgain(onHost);
      return;
    }
    backup.stored(id);
    if (page.uses() >= options.writePolicy().uses()) {
      backup.offer(describe(page, id), page.number(), page.index());
    }
  }

  /**
   * Copies the window part of a page to the host if another request may continue shortly after the
   * page. Later queries read no other parts, unless they follow a shorter beginning of the
   * conversation.
   */
  private void offerWindow(CachedPage page, PageId id) {
    if (!component.isBeforeEnd(page.number()) || page.uses() < options.writePolicy().windowUses()) {
      return;
    }
    HostPage onHost = host.get(id.window());
    if (onHost == null) {
      backup.offer(windowOf(describe(page, id)), page.number(), page.index());
    } else {
      host.used(onHost);
      store.writeAgain(onHost);
    }
  }

  private static TierPage windowOf(TierPage page) {
    return page == null ? null : page.window();
  }

  @Override
  public boolean leaving(CachedPage page, boolean evicted) {
    PageId id = PageId.of(page.digests(), page.digestAt());
    HostPage onHost = host.get(id);
    if (onHost != null) {
      host.onDevice(onHost, false);
    }
    boolean wanted = evicted;
    if (!erased.isEmpty()) {
      wanted &= !erased.isErased(describe(page, id));
    }
    boolean copy = wanted && onHost == null && options.writePolicy().copiesOnEviction(page.uses());
    TierPage copied = copy || wanted && onHost != null ? describe(page, id) : null;
    boolean window = component.isBeforeEnd(page.number());
    return backup.leaving(
        page.number(), id, copied, window ? windowOf(copied) : null, page.index());
  }

  private TierPage describe(CachedPage page, PageId id) {
    PageId parent = page.isFirst() ? null : PageId.of(page.parents(), page.parentAt());
    return namespaces.describe(id, parent, page.namespace());
  }

  @Override
  public void used(TreeNode end) {
    if (options.writePolicy() != WritePolicy.WRITE_BACK || component.endPages() > 0) {
      cache.replay(end, options.writePolicy().windowUses());
    }
  }

  @Override
  public boolean copiesLeavingPages() {
    return true;
  }

  @Override
  public int lockedParts() {
    return backup.lockedParts();
  }

  @Override
  public void forEachLockedPart(IntConsumer visitor) {
    backup.forEachLockedPart(visitor);
  }

  @Override
  public int leavingPages() {
    return backup.leaving();
  }

  @Override
  public boolean isLeaving(int page) {
    return backup.isLeaving(page);
  }

  @Override
  public void forEachLeavingPage(IntConsumer visitor) {
    backup.forEachLeaving(visitor);
  }

  @Override
  public PageChain name(RadixKey key, String tenant) {
    boolean open = key.namespace().equals(NamespaceKey.PUBLIC);
    return PageChain.of(key, host.pageTokens(), open ? 0 : tag(tenant));
  }

  private long tag(String tenant) {
    return options.tenants() == null || tenant == null ? 0 : options.tenants().tenantTag(tenant);
  }

  @Override
  public LoadBack loadBack(PageChain chain, int devicePages, int limit) {
    namespaces.put(chain.namespace(), chain.tenant());
    return loadBacks.begin(chain, devicePages, limit);
  }

  @Override
  public LoadBack announce(PageChain chain, int devicePages, Runnable onEnd) {
    namespaces.put(chain.namespace(), chain.tenant());
    return loadBacks.announce(chain, devicePages, onEnd);
  }

  @Override
  public int pagesAtHand(PageChain chain, int devicePages) {
    return loadBacks.pagesAtHand(chain, devicePages);
  }

  @Override
  public void startCopies() {
    loadBacks.copies().start();
  }

  @Override
  public void awaitCopies() {
    loadBacks.copies().await();
  }

  @Override
  public boolean poll() {
    boolean worked = backup.poll();
    return loadBacks.poll() || worked;
  }

  @Override
  public long pollNanos() {
    if (isMoving()) {
      return MOVING_NANOS;
    }
    return loadBacks.areAwaited() ? WAITING_NANOS : 0;
  }

  @Override
  public void computed(int position, int tokens, long nanos) {
    loadBacks.computed(position, tokens, nanos);
  }

  @Override
  public void calibrate(Runnable prefills) {
    prefills.run();
    loadBacks.copies().calibrate();
  }

  @Override
  public void erase(RadixKey key, int kept) {
    erased.erase(key, kept);
  }

  @Override
  public CompletableFuture<Boolean> erase(PageId[] pages) {
    return erased.erase(pages);
  }

  @Override
  public CompletableFuture<Boolean> eraseTenant(String tenant) {
    return options.tenants() == null
        ? CompletableFuture.completedFuture(false)
        : erased.eraseTenant(tag(tenant));
  }

  @Override
  public CompletableFuture<Boolean> eraseAll() {
    return erased.eraseAll();
  }

  @Override
  public void locate(PageChain chain, int devicePages, Consumer<int[]> then) {
    store.locate(chain, devicePages, host.readyPages(chain, devicePages), then);
  }

  @Override
  public TierSwitches switches() {
    return switches;
  }

  @Override
  public boolean isMoving() {
    return loadBacks.copies().isInProgress() || !backup.isIdle();
  }

  @Override
  public boolean refreshStats() {
    store.refreshStats();
    return store.isAttached();
  }

  /** Returns the pages in host memory. */
  HostTier host() {
    return host;
  }

  @Override
  public boolean audit() {
    return host.audit();
  }

  @Override
  public TierStats stats() {
    HostToDeviceCopies copies = loadBacks.copies();
    StorageReads reads = loadBacks.reads();
    return new TierStats(
        host.total(),
        host.used(),
        host.usedParts(),
        host.evicted(),
        backup.pages(),
        backup.dropped() + namespaces.unknown(),
        copies.pages(),
        reads.pages(),
        store.droppedWrites(),
        copies.failures() + backup.failures(),
        backup.queued() + checksums.pending() + store.queuedPages() + reads.queuedPages(),
        host.misses().byReason(),
        loadBacks.announcementStats(),
        store.stats(KvTier.DISK),
        store.stats(KvTier.REMOTE));
  }

  @Override
  public void close() {
    voidDevicePages();
    store.closing();
    boolean ended = worker.stop();
    store.close();
    if (ended) {
      host.memory().close();
    }
  }
}
