package io.radixflow.operators.flink.turn;

import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.session.SessionSlot.Life;

/** Ends sessions: those that are closed, erased or expired. Only the task's thread uses it. */
public final class SessionEnds {
  private final SessionQueries queries;
  private final TurnRunner runner;
  private final SessionErasure erasure;
  private final ReplyOutput output;

  public SessionEnds(
      SessionQueries queries, TurnRunner runner, SessionErasure erasure, ReplyOutput output) {
    this.queries = queries;
    this.runner = runner;
    this.erasure = erasure;
    this.output = output;
  }

  /** Closes an open session; it keeps its owner and what it has read. */
  void close(SessionContext session) throws Exception {
    if (session.slot().life() == Life.OPEN) {
      removeConversation(session, false, false);
      session.slot(session.slot().closed());
    }
  }

  /**
   * Ends the turns of a session and leaves only what recognises resends: that it was erased,
   * offsets, and hashes of turn ids.
   *
   * @param withTenant whether all of its tenant is being erased
   */
  public void erase(SessionContext session, boolean withTenant) throws Exception {
    removeConversation(session, withTenant, true);
    output.eraseEmitted();
    session.slot(session.slot().erased());
  }

  /** Removes a session without turns that is past its retention. */
  void expire(SessionContext session) throws Exception {
    removeConversation(session, false, false);
    session.clear();
  }

  private void removeConversation(SessionContext session, boolean withTenant, boolean everywhere)
      throws Exception {
    queries.answerAll(session);
    runner.endSession(session);
    erasure.forget(session, withTenant, everywhere);
    session.clearConversation();
  }
}
