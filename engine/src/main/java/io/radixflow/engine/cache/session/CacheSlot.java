package io.radixflow.engine.cache.session;

import io.radixflow.protocol.record.kv.SlotState;
import java.util.ArrayList;
import java.util.List;

/**
 * The cache's record of one session: the positions where its branches' last turns ended, and at
 * most one page that the last turn did not fill.
 *
 * <p>The engine thread owns it; any thread may call {@link #known}.
 */
public final class CacheSlot {

  private final String session;
  private final String tenant;
  private volatile List<SessionPosition> positions = List.of();
  private volatile boolean closed;
  int running;

  /** The number of turns that have ended; a preemption does not end a turn. */
  int ended;

  int partialPage = -1;
  SessionPosition partialOf;

  /** Pages that count for the tenant, and pages over a bound, which are evicted first. */
  int charged;

  int excess;

  /**
   * @param session id of the session, for logs
   * @param tenant the tenant whose limits apply to the session's pages
   */
  public CacheSlot(String session, String tenant) {
    this.session = session;
    this.tenant = tenant;
  }

  /** Returns the session's id. */
  public String session() {
    return session;
  }

  /** Returns which turn of the session ends next, 1 for the first. */
  int turn() {
    return ended + 1;
  }

  String tenant() {
    return tenant;
  }

  /**
   * Returns whether the session was closed; if so, the pages of its last turns are freed when those
   * turns end.
   */
  public boolean isClosed() {
    return closed;
  }

  /** Marks the slot as closed; {@link SessionAwareCache#close} frees its pages. Any thread. */
  public void close() {
    closed = true;
  }

  /** Returns the page that the session's last turn did not fill, or -1. */
  public int partialPage() {
    return partialPage;
  }

  /** Returns whether the slot has no positions. */
  public boolean isEmpty() {
    return positions.isEmpty();
  }

  /**
   * Returns the positions from which the session's branches continue, the least recently used
   * first.
   */
  public List<SessionPosition> positions() {
    return positions;
  }

  SessionPosition position(String branch) {
    for (SessionPosition position : positions) {
      if (position.branch.equals(branch)) {
        return position;
      }
    }
    return null;
  }

  /** Replaces the position of a branch, and makes it the most recently used. */
  void put(SessionPosition position) {
    List<SessionPosition> next = new ArrayList<>(positions);
    next.removeIf(other -> other.branch.equals(position.branch));
    next.add(position);
    positions = List.copyOf(next);
  }

  void remove(SessionPosition position) {
    List<SessionPosition> next = new ArrayList<>(positions);
    next.remove(position);
    positions = List.copyOf(next);
  }

  void clear() {
    positions = List.of();
  }

  /**
   * Returns the position, of any branch, that shares the most tokens with a prompt. So a forked
   * branch starts from the position of the branch that it was forked from. Any thread.
   *
   * @param ids the prompt
   * @param count number of the prompt's ids in {@code ids}
   */
  public SessionPosition.Known known(int[] ids, int count) {
    SessionPosition.Known best = SessionPosition.Known.NOTHING;
    for (SessionPosition position : positions) {
      int shared = position.sharedTokens(ids, count);
      if (shared > best.tokens()) {
        best = new SessionPosition.Known(position, shared);
      }
    }
    return best;
  }

  /** Returns the state of the session's pages on the device; never {@link SlotState#COLD}. */
  public SlotState state() {
    if (running > 0) {
      return SlotState.HOT;
    }
    for (SessionPosition position : positions) {
      if (position.resolved() != null) {
        return SlotState.WARM;
      }
    }
    return partialPage >= 0 ? SlotState.WARM : SlotState.GONE;
  }
}
