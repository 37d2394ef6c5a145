package io.radixflow.engine.tier.store;

import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.remote.StoreStack;
import io.radixflow.engine.tier.remote.Uploads;
import io.radixflow.protocol.record.kv.KvTier;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/** A store in memory that tests can slow down and break. */
public final class MemoryPageStore implements PageStore {
  private record Stored(TierPage page, byte[] bytes) {}

  private final KvTier tier;
  private final Map<PageId, Stored> pages = new ConcurrentHashMap<>();
  private final Set<PageId> damaged = ConcurrentHashMap.newKeySet();
  private final AtomicInteger reads = new AtomicInteger();
  private final AtomicInteger finds = new AtomicInteger();

  /** Reads and writes wait for it; null if they do not wait. */
  private volatile Semaphore gate;

  /** {@link #find} waits for it; null if it does not wait. */
  private volatile Semaphore findGate;

  private volatile boolean failing;
  private volatile boolean closed;

  /** A store as if on disk. */
  public MemoryPageStore() {
    this(KvTier.DISK);
  }

  public MemoryPageStore(KvTier tier) {
    this.tier = tier;
  }

  /** This store with another below it, to which its pages go at once. */
  public PageStore over(MemoryPageStore lower, PageSizes sizes) {
    return new StoreStack(this, lower, new Uploads(this, lower, () -> true, sizes, 0));
  }

  /** Makes each read and write wait for a permit from now on. */
  public Semaphore slowDown() {
    gate = new Semaphore(0);
    return gate;
  }

  /** Makes each look for pages wait for a permit from now on. */
  public Semaphore slowDownFinds() {
    findGate = new Semaphore(0);
    return findGate;
  }

  /** Makes reads and writes throw, or not. */
  public void fail(boolean on) {
    failing = on;
  }

  /** Loses every n-th page. */
  public void lose(int every) {
    int i = 0;
    for (PageId id : pages.keySet()) {
      if (i++ % every == 0) {
        pages.remove(id);
      }
    }
  }

  /** Makes reads of a page fail from now on, as if it were damaged. */
  public void damage(PageId id) {
    damaged.add(id);
  }

  public int size() {
    return pages.size();
  }

  public boolean has(PageId id) {
    return pages.containsKey(id);
  }

  public TierPage page(PageId id) {
    return pages.get(id).page();
  }

  public byte[] bytes(PageId id) {
    return pages.get(id).bytes();
  }

  /** Pages read. */
  public int reads() {
    return reads.get();
  }

  /** Counts the calls of {@link #find}. */
  public int finds() {
    return finds.get();
  }

  public boolean isClosed() {
    return closed;
  }

  private void pass() {
    if (gate != null) {
      gate.acquireUninterruptibly();
    }
    if (failing) {
      throw new IllegalStateException("injected");
    }
  }

  @Override
  public KvTier tier() {
    return tier;
  }

  @Override
  public int find(PageId[] chain, int from, int to) {
    finds.incrementAndGet();
    if (findGate != null) {
      findGate.acquireUninterruptibly();
    }
    int at = from;
    while (at < to && pages.containsKey(chain[at])) {
      at++;
    }
    return at - from;
  }

  @Override
  public int read(PageId[] chain, String[] namespaces, int from, int to, ByteBuffer[] into) {
    pass();
    for (int i = from; i < to; i++) {
      Stored stored = pages.get(chain[i]);
      if (stored == null
          || damaged.contains(chain[i])
          || !stored.page.namespace().equals(namespaces[i])) {
        return i - from;
      }
      into[i].clear().put(stored.bytes);
      reads.incrementAndGet();
    }
    return to - from;
  }

  @Override
  public int write(TierPage[] written, ByteBuffer[] bytes, int count) {
    pass();
    for (int i = 0; i < count; i++) {
      byte[] copy = new byte[bytes[i].clear().remaining()];
      bytes[i].get(copy);
      pages.putIfAbsent(written[i].id(), new Stored(written[i], copy));
    }
    return 0;
  }

  @Override
  public void remove(PageId[] removed, int count) {
    for (int i = 0; i < count; i++) {
      pages.remove(removed[i]);
      pages.remove(removed[i].window());
    }
  }

  @Override
  public void removeTenant(long tenant) {
    pages.values().removeIf(stored -> stored.page.tenant() == tenant);
  }

  @Override
  public void clear() {
    pages.clear();
  }

  @Override
  public CompletableFuture<Void> erased() {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public PageStoreStats stats() {
    return new PageStoreStats(pages.size(), 0, 0, reads.get(), 0, 0, Map.of(), 0);
  }

  @Override
  public void close() {
    closed = true;
  }
}
