package io.radixflow.engine.cache.session;

import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;

/**
 * Accounts for the pages that sessions keep, and for the pages over a bound. A tenant is charged
 * for the pages that each of its slots alone used when the slot's last turn ended. The excess of a
 * tenant is taken from its least recently used slots. An operation takes O(1), amortised over
 * turns, plus the time to count one slot's own pages.
 */
final class SessionQuota {

  /**
   * The slots of one tenant, and its charged slots, whose pages count; least recently used first.
   */
  private static final class Tenant {
    final LinkedHashSet<CacheSlot> slots = new LinkedHashSet<>();
    final LinkedHashSet<CacheSlot> charged = new LinkedHashSet<>();
    long pages;

    void charge(CacheSlot slot, int pages) {
      this.pages += pages - slot.charged;
      slot.charged = pages;
      if (pages == 0) {
        charged.remove(slot);
      } else {
        charged.add(slot);
      }
    }
  }

  private final int slotsPerTenant;
  private final int sessionLimit;
  private final int tenantLimit;
  private final SessionClaims claims;
  private final Map<String, Tenant> tenants = new HashMap<>();
  private final LinkedHashSet<CacheSlot> over = new LinkedHashSet<>();

  /**
   * @param poolPages number of pages of which the bounds are shares
   */
  SessionQuota(SessionBounds bounds, int poolPages, SessionClaims claims) {
    this.slotsPerTenant = bounds.slotsPerTenant();
    this.sessionLimit = (int) Math.ceil(bounds.sessionShare() * poolPages);
    this.tenantLimit = (int) Math.ceil(bounds.tenantShare() * poolPages);
    this.claims = claims;
  }

  /**
   * Recounts a slot, and makes it the most recently used.
   *
   * @return the slot to drop because the tenant has too many slots, or null
   */
  CacheSlot used(CacheSlot slot) {
    remove(slot);
    Tenant tenant = tenants.computeIfAbsent(slot.tenant(), name -> new Tenant());
    tenant.slots.add(slot);
    int own = claims.ownPages(slot);
    demote(slot, Math.max(0, own - sessionLimit));
    tenant.charge(slot, own - slot.excess);
    while (tenant.pages > tenantLimit) {
      demoteOldest(tenant);
    }
    return tenant.slots.size() > slotsPerTenant ? tenant.slots.iterator().next() : null;
  }

  /**
   * Demotes the tenant's excess in its least recently used slot, at most all pages of that slot.
   */
  private void demoteOldest(Tenant tenant) {
    CacheSlot slot = tenant.charged.iterator().next();
    int own = Math.min(slot.charged, Math.max(0, claims.ownPages(slot) - slot.excess));
    long tooMany = tenant.pages - slot.charged + own - tenantLimit;
    int excess = (int) Math.min(own, Math.max(0, tooMany));
    demote(slot, slot.excess + excess);
    tenant.charge(slot, own - excess);
  }

  private void demote(CacheSlot slot, int excess) {
    slot.excess = excess;
    if (excess > 0) {
      over.add(slot);
    }
  }

  /** Stops counting a slot. */
  void remove(CacheSlot slot) {
    Tenant tenant = tenants.get(slot.tenant());
    if (tenant != null && tenant.slots.remove(slot)) {
      tenant.charge(slot, 0);
      if (tenant.slots.isEmpty()) {
        tenants.remove(slot.tenant());
      }
    }
    slot.excess = 0;
    over.remove(slot);
  }

  /** Frees up to {@code pages} pages that are over a bound; returns how many. */
  int reclaim(int pages) {
    int freed = 0;
    while (freed < pages && !over.isEmpty()) {
      CacheSlot slot = over.iterator().next();
      if (slot.excess > 0 && claims.freeOne(slot)) {
        slot.excess--;
        freed++;
      } else {
        slot.excess = 0;
        over.remove(slot);
      }
    }
    return freed;
  }
}
