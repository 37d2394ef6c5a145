package io.radixflow.engine.request;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Makes the sessions of a tenant take turns. Time is divided into laps; in each lap a session gets
 * one request admitted. The first waiting request of a session is in the current lap, and each
 * later request in a later lap, even if it comes after the first was admitted. The current lap is
 * the lowest lap of a waiting request. So the first request of a session waits for at most one
 * request of each other session, however many requests they have queued.
 *
 * <p>O(log n) per request in the number of laps with waiting requests. Engine thread only.
 */
public final class SessionLaps {
  private static final int FEW = 64;

  /** By session: its first lap without a request; a past lap counts as absent. */
  private final Map<String, Long> next = new HashMap<>();

  /** Number of waiting requests by lap. */
  private final TreeMap<Long, Integer> waiting = new TreeMap<>();

  private int cleanAt = FEW;

  /** Assigns a lap to a request that waits for the first time. */
  private void enter(Request request) {
    long current = waiting.isEmpty() ? 0 : waiting.firstKey();
    long lap = current;
    if (request.spec.session() != null) {
      String session = request.spec.session().session();
      lap = Math.max(current, next.getOrDefault(session, current));
      next.put(session, lap + 1);
      clean(current);
    }
    request.standing.enterLap(lap);
  }

  /** Notes that a request waits. */
  void add(Request request) {
    if (request.standing.lap() < 0) {
      enter(request);
    }
    waiting.merge(request.standing.lap(), 1, Integer::sum);
  }

  /** Notes that a request no longer waits. */
  void remove(Request request) {
    waiting.computeIfPresent(request.standing.lap(), (lap, count) -> count == 1 ? null : count - 1);
    if (waiting.isEmpty()) {
      next.clear();
      cleanAt = FEW;
    }
  }

  /** Drops past laps now and then; amortized O(1) per request. */
  private void clean(long current) {
    if (next.size() >= cleanAt) {
      next.values().removeIf(lap -> lap <= current);
      cleanAt = Math.max(FEW, 2 * next.size());
    }
  }
}
