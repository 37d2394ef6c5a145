package io.radixflow.operators.flink.turn;

import io.radixflow.engine.SessionRef;
import io.radixflow.operators.flink.engine.EngineConnection;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.protocol.record.CacheHints;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Has the engine keep the pages of conversations whose replies called tools, since the results come
 * soon; until the next reply, a cancel, or a short time. Nothing of that is in state: it changes no
 * reply. Only the task's thread uses it.
 */
final class AwaitedResults {
  /** The most sessions that are remembered; pages of others are kept for their short time. */
  private static final int MOST = 10_000;

  private final EngineRequests requests;
  private final EngineConnection connection;

  /** The turns whose replies called, by session and branch. */
  private final Map<String, Map<String, String>> awaited = new LinkedHashMap<>();

  AwaitedResults(EngineRequests requests, EngineConnection connection) {
    this.requests = requests;
    this.connection = connection;
  }

  /** Has the pages of a turn kept; returns false if the engine has no room to. */
  boolean expect(SessionContext session, RunningTurn turn) throws Exception {
    CacheHints hints = turn.pending.cache();
    if (hints == null || hints.pinMillis() == 0) { // else its sender decides for how long
      awaited
          .computeIfAbsent(session.id(), id -> new HashMap<>())
          .put(turn.pending.branch(), turn.plan.turn());
      if (awaited.size() > MOST) {
        awaited.remove(awaited.keySet().iterator().next());
      }
    }
    return connection.prefetch(requests.results(session, turn));
  }

  /** Has the pages of a branch kept no longer. */
  void takeBack(SessionContext session, String branch) {
    Map<String, String> branches = awaited.get(session.id());
    if (branches == null || branches.remove(branch) == null) {
      return;
    }
    if (branches.isEmpty()) {
      awaited.remove(session.id());
    }
    connection.withdraw(new SessionRef(session.slot().tenant(), session.id(), branch));
  }

  /** Has the pages kept no longer that wait for the results of a turn. */
  void takeBackTurn(SessionContext session, String turn) {
    awaited.getOrDefault(session.id(), Map.of()).entrySet().stream()
        .filter(each -> each.getValue().equals(turn))
        .map(Map.Entry::getKey)
        .findFirst()
        .ifPresent(branch -> takeBack(session, branch));
  }

  /** Forgets a session, which ends. */
  void forget(String session) {
    awaited.remove(session);
  }
}
