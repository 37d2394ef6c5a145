package io.radixflow.gateway.turn;

import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Counts the turns that clients have left and that the job has still to end, by tenant: a tenant
 * whose clients come and go faster than the job ends their turns gets no more for a while, so that
 * its events do not delay those of others. Safe for many threads.
 */
final class LeftTurns {

  /** The turns that a tenant may have left; more than clients with sense leave at once. */
  static final int MOST = 256;

  /** The job ends a turn at once, unless it restarts. */
  private static final int END_MINUTES = 2;

  private final Map<String, Integer> byTenant = new ConcurrentHashMap<>();

  /** Returns whether a tenant has left so many turns that it gets no more. */
  boolean tooMany(String tenant) {
    return byTenant.getOrDefault(tenant, 0) >= MOST;
  }

  /** Counts a turn until it has ended. */
  LeftTurn add(TurnKey key) {
    byTenant.merge(key.tenant(), 1, Integer::sum);
    CompletableFuture<Void> ended = new CompletableFuture<>();
    ended
        .orTimeout(END_MINUTES, TimeUnit.MINUTES)
        .whenComplete(
            (done, late) ->
                byTenant.computeIfPresent(
                    key.tenant(), (tenant, count) -> count == 1 ? null : count - 1));
    return new LeftTurn(key, ended);
  }
}
