package io.radixflow.lab.simulate;

import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.PageStore;
import io.radixflow.engine.tier.store.PageStoreStats;
import io.radixflow.protocol.record.kv.KvTier;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * The disk tier of a simulation: keeps a limited number of pages in memory, and drops them in the
 * order of a disk store. Thread-safe.
 */
final class SimulatedDisk implements PageStore {
  private final int limit;
  private final Map<PageId, Stored> pages = new HashMap<>();
  private final TreeMap<Long, PageId> order = new TreeMap<>();
  private long last;
  private long read;
  private long written;
  private long evicted;

  /** A page and its position in the order. */
  private record Stored(TierPage page, byte[] bytes, long sequence) {}

  /**
   * Creates an empty store.
   *
   * @param limit maximum number of pages
   */
  SimulatedDisk(int limit) {
    this.limit = limit;
  }

  @Override
  public KvTier tier() {
    return KvTier.DISK;
  }

  @Override
  public synchronized int find(PageId[] chain, int from, int to) {
    int at = from;
    while (at < to && pages.containsKey(chain[at])) {
      at++;
    }
    return at - from;
  }

  @Override
  public synchronized int read(
      PageId[] chain, String[] namespaces, int from, int to, ByteBuffer[] into) {
    int found = find(chain, from, to);
    for (int i = from; i < from + found; i++) {
      into[i].duplicate().clear().put(pages.get(chain[i]).bytes);
    }
    read += found;
    for (int i = 0; i < from + found && !order.isEmpty(); i++) {
      keep(pages.get(chain[i]));
    }
    return found;
  }

  private void keep(Stored stored) {
    if (stored != null && stored.sequence < (order.firstKey() + last) / 2) {
      order.remove(stored.sequence);
      put(stored.page, stored.bytes);
    }
  }

  private void put(TierPage page, byte[] bytes) {
    order.put(++last, page.id());
    pages.put(page.id(), new Stored(page, bytes, last));
  }

  @Override
  public synchronized int write(TierPage[] given, ByteBuffer[] bytes, int count) {
    for (int i = 0; i < count; i++) {
      if (!pages.containsKey(given[i].id())) {
        byte[] copy = new byte[bytes[i].capacity()];
        bytes[i].duplicate().clear().get(copy);
        put(given[i], copy);
        written++;
      }
    }
    while (pages.size() > limit) {
      pages.remove(order.pollFirstEntry().getValue());
      evicted++;
    }
    return 0;
  }

  @Override
  public synchronized void remove(PageId[] removed, int count) {
    for (PageId id : List.of(removed).subList(0, count)) {
      Stored stored = pages.remove(id);
      if (stored != null) {
        order.remove(stored.sequence);
      }
    }
  }

  @Override
  public synchronized void removeTenant(long tenant) {
    PageId[] ids =
        pages.values().stream()
            .filter(stored -> stored.page.tenant() == tenant)
            .map(stored -> stored.page.id())
            .toArray(PageId[]::new);
    remove(ids, ids.length);
  }

  @Override
  public synchronized void clear() {
    pages.clear();
    order.clear();
  }

  @Override
  public CompletableFuture<Void> erased() {
    return CompletableFuture.completedFuture(null);
  }

  @Override
  public synchronized PageStoreStats stats() {
    return new PageStoreStats(
        pages.size(), (long) pages.size() * Long.BYTES, limit, read, written, evicted, Map.of(), 0);
  }

  @Override
  public void close() {
    clear();
  }
}
