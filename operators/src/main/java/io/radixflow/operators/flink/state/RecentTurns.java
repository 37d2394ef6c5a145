package io.radixflow.operators.flink.state;

import io.radixflow.operators.session.Turn;
import io.radixflow.text.template.Message;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Caches finished turns of the most recently used sessions, so that the history of an active
 * session is not read from RocksDB for each of its turns. The keyed state remains the owner: a turn
 * is immutable, and a session is dropped as soon as one of its turns is removed. The least recently
 * used sessions are dropped when the bound is exceeded. Only the task's thread uses it.
 */
final class RecentTurns {
  /** Approximate bytes of a turn and its entry without text and ids. */
  private static final int TURN_BYTES = 300;

  private final long maxBytes;
  private final Map<String, Session> sessions = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  private static final class Session {
    final Map<Long, Turn> turns = new HashMap<>();
    long bytes;
  }

  /**
   * @param maxBytes approximate limit on the heap of the turns
   */
  RecentTurns(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /** Returns a turn of a session, or null if it is not cached. */
  Turn get(String session, long turn) {
    Session known = sessions.get(session);
    return known == null ? null : known.turns.get(turn);
  }

  /** Caches a turn as the state has it. */
  void add(String session, Turn turn) {
    Session known = sessions.computeIfAbsent(session, id -> new Session());
    if (known.turns.put(turn.id(), turn) == null) {
      known.bytes += bytes(turn);
      bytes += bytes(turn);
    }
    Iterator<Session> eldest = sessions.values().iterator();
    while (bytes > maxBytes) {
      bytes -= eldest.next().bytes;
      eldest.remove();
    }
  }

  void remove(String session) {
    Session known = sessions.remove(session);
    bytes -= known == null ? 0 : known.bytes;
  }

  private static long bytes(Turn turn) {
    long chars = turn.reply() == null ? 0 : turn.reply().length();
    for (Message message : turn.messages()) {
      chars += message.length();
    }
    return TURN_BYTES + Character.BYTES * chars + (long) Integer.BYTES * turn.ids().length;
  }
}
