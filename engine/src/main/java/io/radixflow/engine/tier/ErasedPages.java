package io.radixflow.engine.tier;

import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.key.RadixKey;
import io.radixflow.engine.tier.host.Backup;
import io.radixflow.engine.tier.host.HostPage;
import io.radixflow.engine.tier.host.HostTier;
import io.radixflow.engine.tier.host.StoreLink;
import io.radixflow.engine.tier.page.PageChain;
import io.radixflow.engine.tier.page.PageId;
import io.radixflow.engine.tier.page.TierPage;
import io.radixflow.engine.tier.store.PageStore;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Erases pages from host memory and the store, and keeps the device's copies of them from being
 * copied down again unless a request uses them. The list of erased pages is bounded; the oldest
 * entries are dropped. Engine thread only.
 */
final class ErasedPages {
  private static final int MAX_PAGES = 65_536;
  private static final int MAX_TENANTS = 1_024;

  private final HostTier host;
  private final Backup backup;
  private final StoreLink store;
  private RadixCache cache;

  /** Erased pages that the device may have and that no request has used since. */
  private final Set<PageId> pages = new LinkedHashSet<>();

  /** The pages of erased tenants on the device that were used since, by the tenant's tag. */
  private final Map<Long, Set<PageId>> tenants = new LinkedHashMap<>();

  ErasedPages(HostTier host, Backup backup, StoreLink store) {
    this.host = host;
    this.backup = backup;
    this.store = store;
  }

  /** Follows another tree. */
  void attach(RadixCache other) {
    cache = other;
  }

  /** See {@link Tiers#erase(RadixKey, int)}. */
  void erase(RadixKey key, int kept) {
    if (kept >= key.pages(host.pageTokens())) {
      return;
    }
    PageChain chain = PageChain.of(key, host.pageTokens(), 0);
    int cached = cache.match(key, Integer.MAX_VALUE).pages();
    erase(chain.from(Math.max(Math.max(kept, cached), chain.sharedPages())));
  }

  /** See {@link Tiers#erase(PageId[])}. */
  CompletableFuture<Boolean> erase(PageId[] ids) {
    Set<PageId> all = new HashSet<>(List.of(ids));
    backup.cancel(
        page -> all.contains(page.id()) || page.isWindow() && all.contains(page.parent()));
    for (int i = ids.length - 1; i >= 0; i--) {
      HostPage entry = host.get(ids[i]);
      if (entry == null || entry.children == 0) {
        pages.add(ids[i]);
      }
      if (entry == null) {
        host.removeWindow(ids[i]);
      } else if (entry.children == 0) {
        host.remove(entry);
      }
    }
    dropOldest(pages, MAX_PAGES);
    return store.erase(each -> each.erase(ids));
  }

  /**
   * See {@link Tiers#eraseTenant}.
   *
   * @param tenant the tenant's tag
   */
  CompletableFuture<Boolean> eraseTenant(long tenant) {
    backup.cancel(page -> page.tenant() == tenant);
    host.removeIf(entry -> entry.page.tenant() == tenant);
    tenants.put(tenant, new HashSet<>());
    dropOldest(tenants.keySet(), MAX_TENANTS);
    return store.erase(each -> each.removeTenant(tenant));
  }

  /** See {@link Tiers#eraseAll}. */
  CompletableFuture<Boolean> eraseAll() {
    backup.cancel(page -> true);
    host.clear();
    return store.erase(PageStore::clear);
  }

  private static void dropOldest(Collection<?> all, int most) {
    for (var oldest = all.iterator(); all.size() > most; ) {
      oldest.next();
      oldest.remove();
    }
  }

  /**
   * Records that a request uses a page of the device.
   *
   * @param page null if its tenant is not known
   */
  void used(TierPage page) {
    if (page == null) {
      return;
    }
    pages.remove(page.id());
    Set<PageId> since = tenants.get(page.tenant());
    if (since != null) {
      since.add(page.id());
    }
  }

  /**
   * Returns whether a page that leaves the device must not be copied.
   *
   * @param page null if its tenant is not known
   */
  boolean isErased(TierPage page) {
    if (page == null) {
      return true;
    }
    boolean erased = pages.remove(page.id());
    Set<PageId> since = tenants.get(page.tenant());
    return erased || since != null && !since.remove(page.id());
  }

  /** Returns whether no page of the device has been erased from the tiers below. */
  boolean isEmpty() {
    return pages.isEmpty() && tenants.isEmpty();
  }
}
