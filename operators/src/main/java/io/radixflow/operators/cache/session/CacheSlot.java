package io.radixflow.operators.cache.session;

import io.radixflow.operators.record.SlotState;
import java.util.ArrayList;
import java.util.List;

/**
 * What the cache knows of one session: the places where its branches' last turns ended, and at most
 * one page that the last turn did not fill.
 *
 * <p>The engine thread owns it; any thread may ask {@link #known}.
 */
public final class CacheSlot {

  private final String session;
  private final String tenant;
  private volatile List<SessionPosition> places = List.of();
  private volatile boolean closed;
  int running;

  /** Turns that have ended; those that were put back go on. */
  int ended;

  int partialPage = -1;
  SessionPosition partialOf;

  /** Pages that count for the tenant, and pages over a bound, which go first. */
  int charged;

  int excess;

  /**
   * @param session id of the session, for logs
   * @param tenant whose bounds it counts for
   */
  public CacheSlot(String session, String tenant) {
    this.session = session;
    this.tenant = tenant;
  }

  /** The session's id. */
  public String session() {
    return session;
  }

  /** Which turn of the session ends next, 1 for the first. */
  int turn() {
    return ended + 1;
  }

  String tenant() {
    return tenant;
  }

  /** Whether the session was closed; what its last turns leave is then freed as they end. */
  public boolean isClosed() {
    return closed;
  }

  /** Marks the slot; {@link SessionAwareCache#close} frees what it has. Any thread. */
  public void close() {
    closed = true;
  }

  /** Whether nothing is remembered. */
  public boolean isEmpty() {
    return places.isEmpty();
  }

  /** Where its branches go on. */
  public List<SessionPosition> places() {
    return places;
  }

  SessionPosition place(String branch) {
    for (SessionPosition place : places) {
      if (place.branch.equals(branch)) {
        return place;
      }
    }
    return null;
  }

  /** Makes a place its branch's only one. */
  void put(SessionPosition place) {
    List<SessionPosition> next = new ArrayList<>(places);
    next.removeIf(other -> other.branch.equals(place.branch));
    next.add(place);
    places = List.copyOf(next);
  }

  void clear() {
    places = List.of();
  }

  /**
   * The place of any branch that shares the most with a prompt; any thread. A branch that was
   * forked so begins where the other one is.
   *
   * @param ids the prompt
   * @param count how many of {@code ids} it has
   */
  public SessionPosition.Known known(int[] ids, int count) {
    SessionPosition.Known best = SessionPosition.Known.NOTHING;
    for (SessionPosition place : places) {
      int shared = place.sharedTokens(ids, count);
      if (shared > best.tokens()) {
        best = new SessionPosition.Known(place, shared);
      }
    }
    return best;
  }

  /** Tokens that the places remember. */
  long rememberedTokens() {
    long sum = 0;
    for (SessionPosition place : places) {
      sum += place.length;
    }
    return sum;
  }

  /** Where the session's pages are, as far as the device knows: never {@link SlotState#COLD}. */
  public SlotState state() {
    if (running > 0) {
      return SlotState.HOT;
    }
    for (SessionPosition place : places) {
      if (place.resolved() != null) {
        return SlotState.WARM;
      }
    }
    return partialPage >= 0 ? SlotState.WARM : SlotState.GONE;
  }
}
