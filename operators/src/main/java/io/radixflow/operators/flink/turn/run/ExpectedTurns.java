package io.radixflow.operators.flink.turn.run;

import io.radixflow.engine.SessionRef;
import io.radixflow.operators.flink.engine.EngineConnection;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.session.Conversation;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.ConversationEvent;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Lets the engine prepare for turns that are expected. A sender announces a turn, or a reply called
 * tools, whose results come soon. The engine keeps the pages for results until the next reply, a
 * cancel, or a short time. The preparations are not in state: they do not change replies, and after
 * a failure the turns run without them. Only the task's thread uses this.
 */
public final class ExpectedTurns {
  /** The most sessions that are remembered; pages of others are kept for their short time. */
  private static final int MOST = 10_000;

  private final EngineRequests requests;
  private final EngineConnection connection;
  private final TurnQueues queues;
  private final ServingMetrics metrics;

  /** The turns whose replies called, by session and branch. */
  private final Map<String, Map<String, String>> awaited = new LinkedHashMap<>();

  ExpectedTurns(
      EngineRequests requests,
      EngineConnection connection,
      TurnQueues queues,
      ServingMetrics metrics) {
    this.requests = requests;
    this.connection = connection;
    this.queues = queues;
    this.metrics = metrics;
  }

  /**
   * Lets the engine prepare the pages of an announced turn. Does nothing if the branch has turns,
   * because their pages are ready or on their way, or if the branch has no text that a prompt could
   * begin with.
   */
  public void announced(SessionContext session, ConversationEvent event) throws Exception {
    String branch = event.branch();
    if (!session.history().hasBranch(branch) || queues.has(session.id(), branch)) {
      return;
    }
    Conversation conversation = session.conversation(branch);
    if (!conversation.isEmpty()) {
      metrics.prefetched(connection.prefetch(requests.expected(session, event, conversation)));
    }
  }

  /**
   * Lets the engine keep the pages of a conversation whose reply called tools. A reply without
   * calls releases the pages that were kept for it.
   */
  void ended(SessionContext session, RunningTurn turn, boolean called) throws Exception {
    String branch = turn.pending().branch();
    CacheHints hints = turn.pending().cache();
    boolean stored = hints == null || !hints.noStore();
    if (!called || !stored || queues.has(session.id(), branch)) {
      takeBack(session, branch);
      return;
    }
    if (hints == null || hints.pinMillis() == 0) { // else its sender decides for how long
      awaited.computeIfAbsent(session.id(), id -> new HashMap<>()).put(branch, turn.plan().turn());
      if (awaited.size() > MOST) {
        awaited.remove(awaited.keySet().iterator().next());
      }
    }
    metrics.prefetched(connection.prefetch(requests.results(session, turn)));
  }

  /** Releases the pages that are kept for results on a branch. */
  public void takeBack(SessionContext session, String branch) {
    Map<String, String> branches = awaited.get(session.id());
    if (branches == null || branches.remove(branch) == null) {
      return;
    }
    if (branches.isEmpty()) {
      awaited.remove(session.id());
    }
    connection.withdraw(new SessionRef(session.slot().tenant(), session.id(), branch));
  }

  /** Releases the pages that are kept for the results of a turn's calls. */
  public void takeBackTurn(SessionContext session, String turn) {
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
