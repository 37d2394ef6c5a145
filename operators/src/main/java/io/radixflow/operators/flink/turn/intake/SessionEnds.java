package io.radixflow.operators.flink.turn.intake;

import io.radixflow.operators.flink.erasure.Erasures;
import io.radixflow.operators.flink.recovery.UnconfirmedReplies;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.flink.state.SessionStore;
import io.radixflow.operators.flink.turn.end.SessionErasure;
import io.radixflow.operators.flink.turn.run.TurnRunner;
import io.radixflow.operators.session.SessionEnding;
import io.radixflow.operators.session.SessionSlot.Life;
import java.util.Iterator;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends sessions that are closed, expired or erased, alone or with their tenant.
 *
 * <p>Each mail erases only a few sessions of a tenant, so that turns and checkpoints continue in
 * between. A pass visits all sessions of the subtask, for all tenants whose erasure was pending
 * when it began; later erasures wait for the next pass. Users see no difference, because an event
 * of a session that the pass has not reached erases the session first. Only the task's thread uses
 * this.
 */
public final class SessionEnds implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SessionEnds.class);
  private static final int SESSIONS_A_MAIL = 1_000;
  private static final long NANOS_A_MAIL = 10_000_000;

  private final SessionStore sessions;
  private final SessionQueries queries;
  private final TurnRunner runner;
  private final SessionErasure erasure;
  private final Erasures erasures;
  private final UnconfirmedReplies unconfirmed;
  private final MailboxExecutor mailbox;
  private Pass pass;
  private boolean posted;
  private boolean suspended;

  /** A pass over all sessions. */
  private record Pass(Map<String, Long> tenants, Stream<String> sessions, Iterator<String> left) {}

  /** Continues the erasures of the restored checkpoint. */
  public SessionEnds(
      SessionStore sessions,
      SessionQueries queries,
      TurnRunner runner,
      SessionErasure erasure,
      Erasures erasures,
      UnconfirmedReplies unconfirmed,
      MailboxExecutor mailbox) {
    this.sessions = sessions;
    this.queries = queries;
    this.runner = runner;
    this.erasure = erasure;
    this.erasures = erasures;
    this.unconfirmed = unconfirmed;
    this.mailbox = mailbox;
    post();
  }

  /**
   * Ends the turns of a session and removes its conversation and pages. The owner of a closed
   * session stays, and so do its offsets. An erased session keeps only the data that recognises
   * resends: its erasure, offsets, and hashes of turn ids. An expired session keeps nothing.
   */
  void end(SessionContext session, SessionEnding ending) throws Exception {
    queries.answerAll(session);
    runner.endSession(session);
    erasure.ended(session, ending);
    session.clearConversation();
    switch (ending) {
      case CLOSED -> session.slot(session.slot().closed());
      case EXPIRED -> session.clear();
      case ERASED, TENANT_ERASED -> {
        unconfirmed.erase();
        session.slot(session.slot().erased());
      }
    }
  }

  /** Closes a session that is open. */
  void close(SessionContext session) throws Exception {
    if (session.slot().life() == Life.OPEN) {
      end(session, SessionEnding.CLOSED);
    }
  }

  /** Erases a session if its tenant is being erased; returns whether it was. */
  boolean endWithTenant(SessionContext session) throws Exception {
    boolean covered = erasures.covers(session.slot());
    if (covered) {
      end(session, SessionEnding.TENANT_ERASED);
    }
    return covered;
  }

  /**
   * Starts erasing the current sessions of a tenant. When this returns, the tenant's pages are
   * unreadable.
   *
   * @param number number of the control event
   */
  public void eraseTenant(String tenant, long number) {
    erasures.eraseTenant(tenant, number);
    post();
  }

  /** Returns whether the erasure of a tenant is in progress. */
  public boolean isErasing() {
    return !erasures.toPass().isEmpty();
  }

  /** Stops the pass, because it would emit the replies of ending turns. */
  public void suspend() {
    suspended = true;
  }

  /** Continues the pass. */
  public void resume() {
    suspended = false;
    post();
  }

  private void post() {
    if (!posted && !suspended && isErasing()) {
      posted = true;
      mailbox.execute(this::proceed, "erasure of tenants");
    }
  }

  private void proceed() throws Exception {
    posted = false;
    if (suspended) {
      return;
    }
    if (pass == null) {
      Stream<String> all = sessions.sessionsOneByOne();
      pass = new Pass(erasures.toPass(), all, all.iterator());
    }
    long start = System.nanoTime();
    for (int i = 0; i < SESSIONS_A_MAIL && pass.left.hasNext(); i++) {
      SessionContext session = sessions.load(pass.left.next());
      if (endWithTenant(session)) {
        session.save();
      }
      if (System.nanoTime() - start >= NANOS_A_MAIL) {
        break;
      }
    }
    if (!pass.left.hasNext()) {
      LOG.info("All sessions of {} tenants are erased", pass.tenants.size());
      pass.tenants.forEach(erasures::passed);
      close();
    }
    runner.dispatch();
    post();
  }

  /** Ends the pass; the next subtask begins it again. */
  @Override
  public void close() {
    if (pass != null) {
      pass.sessions.close();
      pass = null;
    }
  }
}
