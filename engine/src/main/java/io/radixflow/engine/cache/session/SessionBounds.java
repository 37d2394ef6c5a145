package io.radixflow.engine.cache.session;

import io.radixflow.protocol.PublicApi;
import java.io.Serializable;

/**
 * Bounds on the pages that sessions keep between turns. No request is refused because of them:
 * pages over a bound are evicted first.
 *
 * @param slots the maximum number of remembered sessions; beyond it, the least recently used
 *     session is dropped
 * @param slotsPerTenant the maximum number of remembered sessions of one tenant
 * @param sessionShare part of the pool that one session may keep for itself
 * @param tenantShare part of the pool that one tenant's sessions may keep for themselves
 */
@PublicApi
public record SessionBounds(int slots, int slotsPerTenant, double sessionShare, double tenantShare)
    implements Serializable {

  /** At most a hundred thousand sessions, without a bound on pages. */
  public static final SessionBounds DEFAULT = new SessionBounds(100_000, 100_000, 1, 1);

  public SessionBounds {
    if (slots < 1 || slotsPerTenant < 1) {
      throw new IllegalArgumentException(
          slots + " session slots, " + slotsPerTenant + " a tenant: at least 1 each");
    }
    if (!(sessionShare > 0 && sessionShare <= 1 && tenantShare > 0 && tenantShare <= 1)) {
      throw new IllegalArgumentException(
          "a session's share of the pool is "
              + sessionShare
              + ", a tenant's "
              + tenantShare
              + "; must be above 0 and at most 1");
    }
  }
}
