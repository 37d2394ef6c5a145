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
 * Makes the engine prepare for expected turns. A turn is expected if a sender announced it, or if a
 * reply called tools, because the results come soon. The engine keeps the pages for results until
 * the next reply, a cancel, or a short time. The preparations are not in state: they do not change
 * replies, and after a failure the turns run without them. Only the task's thread uses this.
 */
public final class ExpectedTurns {
  /**
   * The most sessions that are remembered; pages of other sessions are kept only for a short time.
   */
  private static final int MOST = 10_000;

  private final EngineRequests requests;
  private final EngineConnection connection;
  private final TurnQueues queues;
  private final ServingMetrics metrics;

  /** Turns whose replies called tools, by session and branch. */
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
   * Makes the engine prepare the pages of an announced turn. Does nothing if the branch has turns,
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
   * Makes the engine keep the pages of a conversation whose reply called tools. After a reply
   * without calls, releases the pages that were kept.
   */
  void ended(SessionContext session, RunningTurn turn, boolean called) throws Exception {
    String branch = turn.pending().branch();
    CacheHints hints = turn.pending().cache();
    boolean stored = hints == null || !hints.noStore();
    if (!called || !stored || queues.has(session.id(), branch)) {
      takeBack(session, branch);
      return;
    }
    if (hints == null || hints.pinMillis() == 0) { // otherwise its sender decides how long
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

  /** Forgets a session that ends. */
  void forget(String session) {
    awaited.remove(session);
  }
}
