package io.radixflow.engine.request;

import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Has the sessions of a tenant take turns. Time is cut into laps, in each of which a session gets
 * one request admitted: its first waiting request is of the current lap, each further one, also one
 * that comes after the first was admitted, is of a later lap. The current lap is the least that a
 * request waits in. So a session that begins to wait waits for at most one request of each other
 * session, whatever those have queued.
 *
 * <p>O(log n) a request in the laps that requests wait in. Engine thread only.
 */
public final class SessionLaps {
  private static final int FEW = 64;

  /** The first lap without a request of the session; a past lap counts as absent. */
  private final Map<String, Long> next = new HashMap<>();

  /** Requests that wait, by lap. */
  private final TreeMap<Long, Integer> waiting = new TreeMap<>();

  private int cleanAt = FEW;

  /** Gives a request that waits for the first time its lap. */
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

  /** Forgets past laps, now and then: O(1) a request in the long run. */
  private void clean(long current) {
    if (next.size() >= cleanAt) {
      next.values().removeIf(lap -> lap <= current);
      cleanAt = Math.max(FEW, 2 * next.size());
    }
  }
}
