package io.radixflow.lab.simulate;

import io.radixflow.engine.cache.PageAllocator;
import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.cache.session.SessionPosition;
import io.radixflow.engine.tier.HiRadixCache;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.loadback.LoadBack;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.protocol.record.kv.KvTier;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * Host memory and disk below a {@link CacheSimulation}: the {@link HiRadixCache} of an engine, with
 * its threads and checksums, over a {@link SimulatedDisk}. It differs from an engine in three ways:
 *
 * <ul>
 *   <li>A page contains only the first bytes of its name; each loaded page is checked against it.
 *   <li>A request waits for all pages of its prefix and loads them all, even if computing them
 *       would be faster.
 *   <li>The next request comes when all copies have been made, so no copy is dropped for lack of
 *       time.
 * </ul>
 *
 * <p>Only the thread of the simulation uses it.
 */
public final class SimulatedTiers implements LowerTiers, AutoCloseable {
  private static final long LOOK_MILLIS = 1;

  private final StampedPool pool;
  private final HiRadixCache tiers;
  private final LinkedBlockingQueue<Runnable> inbox = new LinkedBlockingQueue<>();
  private RadixCache cache;
  private PageChain chain;
  private LoadBack loadBack;
  private long hostHits;
  private long diskHits;

  /**
   * Opens empty tiers.
   *
   * @param devicePages pages of the simulated cache
   * @param hostPages at least 1
   * @param diskPages 0 for no disk tier
   */
  public SimulatedTiers(int devicePages, int hostPages, int diskPages) {
    this.pool = new StampedPool(devicePages);
    TierOptions options =
        TierOptions.NONE
            .withHostBytes((long) hostPages * Long.BYTES)
            .withLoadBackThreshold(1)
            .withPrefetch(PrefetchPolicy.WAIT_COMPLETE, 1);
    tiers =
        new HiRadixCache(
            pool,
            options,
            diskPages == 0 ? null : new SimulatedDisk(diskPages),
            inbox::add,
            System::nanoTime);
  }

  public long hostHits() {
    return hostHits;
  }

  public long diskHits() {
    return diskHits;
  }

  @Override
  public void attach(RadixCache cache, PageAllocator allocator) {
    this.cache = cache;
    tiers.attach(cache, allocator);
  }

  @Override
  public void look(RadixKey prompt, int from) {
    chain = PageChain.of(prompt, 1, 0);
    loadBack = tiers.loadBack(chain, from, chain.pages());
    while (loadBack != null && loadBack.mustWait(from)) {
      turn();
    }
  }

  @Override
  public void awaitRoom() {
    while (tiers.leavingPages() > 0) {
      turn();
    }
  }

  @Override
  public void fill(RadixKey request, int from, int to, int[] table) {
    chain = PageChain.of(request, 1, 0);
    int computed = from;
    if (loadBack != null) {
      computed += load(from, to, table);
    }
    for (int i = computed; i < to; i++) {
      pool.stamp(table[i], chain.id(i).a());
    }
  }

  private int load(int from, int to, int[] table) {
    int loaded = loadBack.copy(from, to, table);
    tiers.startCopies();
    while (loadBack.isCopying()) {
      turn();
    }
    loadBack.release();
    hostHits += loadBack.copiedPages(KvTier.HOST);
    diskHits += loadBack.copiedPages(KvTier.DISK);
    for (int i = from; i < from + loaded; i++) {
      if (pool.stamp(table[i]) != chain.id(i).a()) {
        throw new IllegalStateException(
            "page " + i + " of a request has the contents of another page");
      }
    }
    return loaded;
  }

  @Override
  public void ended(TreeNode end) {
    tiers.used(end);
    while (tiers.isMoving() || tiers.stats().queuedPages() > 0) {
      turn();
    }
  }

  @Override
  public void forget(List<SessionPosition> positions) {
    for (SessionPosition place : positions) {
      RadixKey key = place.fullPages();
      int kept = cache.match(key, Integer.MAX_VALUE).pages();
      tiers.erase(PageChain.of(key, 1, 0).from(kept));
    }
  }

  /** Does the work of the engine thread between steps; waits if there is nothing to do. */
  private void turn() {
    boolean worked = tiers.poll();
    try {
      Runnable task = worked ? inbox.poll() : inbox.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      for (; task != null; task = inbox.poll()) {
        task.run();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the simulation was interrupted", e);
    }
  }

  @Override
  public void close() {
    tiers.close();
  }
}
