package io.radixflow.engine.cache.session;

import io.radixflow.engine.cache.RadixCache;
import io.radixflow.engine.cache.TreeNode;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;

/**
 * Prefixes that are protected from eviction until a given time, each by its own lock. An owner has
 * at most one. All pins together, and the pins of one tenant, are limited to a share of the pool: a
 * prefix that does not fit is not pinned. Pages common to several pinned prefixes count more than
 * once.
 *
 * <p>The parts of pages before the end of a pinned prefix are kept as well, unless running requests
 * need them: pins do not reduce the number of requests that can run.
 *
 * <p>Owned by the cache's thread.
 */
public final class Pins {
  /**
   * @param parted pages whose parts are kept
   */
  private record Pin(TreeNode node, String tenant, int pages, int[] parted, long until) {}

  private final RadixCache cache;
  private final int maxPages;
  private final int maxTenantPages;
  private final Map<Object, Pin> pins = new HashMap<>();
  private final Map<String, Integer> tenantPages = new HashMap<>();
  private int pages;
  private long refused;

  /**
   * @param poolPages pages of the pool: all pins may take a quarter of them, the pins of one tenant
   *     an eighth
   */
  public Pins(RadixCache cache, int poolPages) {
    this.cache = cache;
    this.maxPages = poolPages / 4;
    this.maxTenantPages = poolPages / 8;
  }

  public int pages() {
    return pages;
  }

  /** Returns how often a prefix did not fit. */
  public long refused() {
    return refused;
  }

  /**
   * Pins a prefix, and ends the owner's earlier pin.
   *
   * @param owner the session or request that asked for the pin; compared by {@code equals}
   * @param node where the prefix ends; locked by the caller
   * @param until milliseconds of the engine's clock
   * @return whether the prefix fits
   */
  public boolean pin(Object owner, String tenant, TreeNode node, long until) {
    unpin(owner);
    int size = node.endPage();
    int ofTenant = tenantPages.getOrDefault(tenant, 0) + size;
    if (size == 0 || pages + size > maxPages || ofTenant > maxTenantPages) {
      refused += size > 0 ? 1 : 0;
      return false;
    }
    cache.relock(node);
    int[] parted = lastPages(node, size, cache.component().endPages());
    for (int page : parted) {
      cache.component().pin(page);
    }
    pins.put(owner, new Pin(node, tenant, size, parted, until));
    pages += size;
    tenantPages.put(tenant, ofTenant);
    return true;
  }

  /** Returns the last {@code count} pages of a prefix, or all if it has fewer. */
  private int[] lastPages(TreeNode node, int size, int count) {
    if (count == 0) {
      return new int[0];
    }
    int[] all = new int[size];
    cache.copyPages(node, size, all);
    return Arrays.copyOfRange(all, Math.max(0, size - count), size);
  }

  /** Ends an owner's pin, if there is one. */
  public void unpin(Object owner) {
    Pin pin = pins.remove(owner);
    if (pin != null) {
      release(pin);
    }
  }

  /** Ends all pins; returns whether there were any. */
  public boolean unpinAll() {
    boolean any = !pins.isEmpty();
    expire(Long.MAX_VALUE);
    return any;
  }

  /** Ends the expired pins. */
  public void expire(long now) {
    for (Iterator<Pin> each = pins.values().iterator(); each.hasNext(); ) {
      Pin pin = each.next();
      if (pin.until <= now) {
        each.remove();
        release(pin);
      }
    }
  }

  private void release(Pin pin) {
    pages -= pin.pages;
    tenantPages.computeIfPresent(
        pin.tenant, (tenant, size) -> size > pin.pages ? size - pin.pages : null);
    for (int page : pin.parted) {
      cache.component().unpin(page);
    }
    cache.unlock(pin.node, false);
  }
}
