package io.radixflow.operators.tier;

import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/**
 * Takes pages from all tiers below the device for good, and sees to it that the device's own copies
 * do not come down again later, unless a request uses them once more. Of very many such copies the
 * oldest are lost sight of. Engine thread only.
 */
final class Forgotten {
  private static final int MAX_PAGES = 65_536;
  private static final int MAX_TENANTS = 1_024;

  private final HostTier host;
  private final Backup backup;
  private final StoreLink store;

  /** Pages that the device may have, and nobody has used since. */
  private final Set<PageId> pages = new LinkedHashSet<>();

  /** For tenants, their pages on the device that were used since. */
  private final Map<Long, Set<PageId>> tenants = new LinkedHashMap<>();

  Forgotten(HostTier host, Backup backup, StoreLink store) {
    this.host = host;
    this.backup = backup;
    this.store = store;
  }

  /** See {@link HiRadixCache#forget(PageId[])}. */
  CompletableFuture<Boolean> forget(PageId[] ids) {
    Set<PageId> all = new HashSet<>(List.of(ids));
    backup.cancel(page -> all.contains(page.id()));
    for (int i = ids.length - 1; i >= 0; i--) {
      HostEntry entry = host.get(ids[i]);
      if (entry == null || entry.children == 0) {
        pages.add(ids[i]);
      }
      if (entry != null && entry.children == 0) {
        host.remove(entry);
      }
    }
    dropOldest(pages, MAX_PAGES);
    return store.erase(each -> each.erase(ids));
  }

  /** See {@link HiRadixCache#forgetTenant}. */
  CompletableFuture<Boolean> forgetTenant(long tenant) {
    backup.cancel(page -> page.tenant() == tenant);
    host.removeIf(entry -> entry.page.tenant() == tenant);
    tenants.put(tenant, new HashSet<>());
    dropOldest(tenants.keySet(), MAX_TENANTS);
    return store.erase(each -> each.removeTenant(tenant));
  }

  /** See {@link HiRadixCache#forgetAll}. */
  CompletableFuture<Boolean> forgetAll() {
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

  /** A request uses a page of the device; null if it is not known whose it is. */
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

  /** A page leaves the device, null if it is not known whose; whether it must not be copied. */
  boolean leaves(TierPage page) {
    if (page == null) {
      return true;
    }
    boolean forgotten = pages.remove(page.id());
    Set<PageId> since = tenants.get(page.tenant());
    return forgotten || since != null && !since.remove(page.id());
  }

  /** Whether there is anything to be seen to. */
  boolean isEmpty() {
    return pages.isEmpty() && tenants.isEmpty();
  }
}
