package io.radixflow.operators.cache.session;

import io.radixflow.operators.PublicApi;
import java.io.Serializable;

/**
 * Bounds on what sessions keep of a pool between turns. Nothing is refused: pages over a bound are
 * evicted first.
 *
 * @param slots sessions that are remembered; beyond that, the least recently used are dropped
 * @param slotsPerTenant of those, one tenant's
 * @param sessionShare part of the pool that one session may keep to itself
 * @param tenantShare part of the pool that one tenant's sessions may keep to themselves
 */
@PublicApi
public record SessionBounds(int slots, int slotsPerTenant, double sessionShare, double tenantShare)
    implements Serializable {

  /** A hundred thousand sessions, no bound on pages. */
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
