package io.radixflow.gateway.turn;

import io.radixflow.protocol.record.ReplyDelta;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * Counts, by tenant, the turns whose clients have gone and that the job has not ended yet. If a
 * tenant's clients leave turns faster than the job ends them, the tenant gets no new turns for a
 * while. So its events do not delay other tenants. Thread-safe.
 */
final class LeftTurns {

  /** The most left turns of a tenant; reasonable clients leave fewer turns at once. */
  static final int MOST = 256;

  /** How long to wait for the end of a turn. The job ends a turn at once, unless it restarts. */
  private static final int END_MINUTES = 2;

  private final Map<String, Integer> byTenant = new ConcurrentHashMap<>();

  /** Returns whether a tenant has left too many turns to get a new turn. */
  boolean tooMany(String tenant) {
    return byTenant.getOrDefault(tenant, 0) >= MOST;
  }

  /** Counts a turn until it has ended. */
  AnswerWaiting add(TurnKey key) {
    byTenant.merge(key.tenant(), 1, Integer::sum);
    CompletableFuture<ReplyDelta> ended = new CompletableFuture<>();
    ended
        .orTimeout(END_MINUTES, TimeUnit.MINUTES)
        .whenComplete(
            (done, late) ->
                byTenant.computeIfPresent(
                    key.tenant(), (tenant, count) -> count == 1 ? null : count - 1));
    return new AnswerWaiting(key, ended, true);
  }
}
