package io.radixflow.operators.flink.turn.intake;

import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.flink.turn.run.ReplyOutput;
import io.radixflow.operators.flink.turn.run.ServingMetrics;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.session.SessionEnding;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.SessionSlot.Life;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;

/**
 * Handles events: ignores resends, checks the owner of the session, and passes each event to the
 * class that handles its kind. It never waits. Only the task's thread uses it.
 */
public record EventHandler(
    TurnIntake intake,
    SessionQueries queries,
    SessionEnds ends,
    ReplyOutput output,
    ServingMetrics metrics) {
  /**
   * Handles an event. A resend is ignored, whatever the result of the first event was. So each turn
   * id has one reply, even if its sender restarts several times. Resends of cancels and of events
   * without a turn id are recognised by their offset. An event of a tenant that does not own the
   * session changes nothing.
   */
  public void handle(ConversationEvent event, SessionContext session) throws Exception {
    ends.endWithTenant(session);
    boolean recorded = event.kind() != EventKind.CANCEL && event.turn() != null;
    if (session.slot().hasRead(event.origin())
        && (!recorded || session.hasSeenTurnId(event.tenant(), event.turn()))) {
      metrics.resendIgnored();
      return;
    }
    if (!session.slot().isOpenTo(event.tenant())) {
      refuseStranger(event, session);
      return;
    }
    session.slot(session.slot().touched(event.origin(), session.now()));
    if (recorded && !session.recordTurnId(event.tenant(), event.turn())) {
      metrics.resendIgnored();
      return;
    }
    if (event.error() != null) {
      reject(event, session, ReplyError.invalid(event.error()));
      return;
    }
    try {
      checkSalt(event, session.slot());
      serve(event, session);
    } catch (RefusedException e) {
      reject(event, session, e.error());
    }
  }

  /** Refuses an event. An open session records the end of the turn. */
  private void reject(ConversationEvent event, SessionContext session, ReplyError error)
      throws Exception {
    output.rejected(event, error);
    intake.ended(event, session, FinishReason.REJECTED, error);
  }

  /**
   * Refuses an event of a tenant that does not own the session. Its turn id is not recorded, so the
   * owner can still use it. If the owner has already used the id, there is no reply, because the
   * owner would read it as the end of its own turn. The reply reveals nothing about the session.
   */
  private void refuseStranger(ConversationEvent event, SessionContext session) throws Exception {
    if (event.turn() != null
        && event.kind() != EventKind.CANCEL
        && session.hasSeenTurnId(session.slot().tenant(), event.turn())) {
      metrics.resendIgnored();
      return;
    }
    output.rejected(
        event,
        event.error() == null
            ? new ReplyError(ErrorCode.WRONG_TENANT, "the session belongs to another tenant")
            : ReplyError.invalid(event.error()));
  }

  private static void checkSalt(ConversationEvent event, SessionSlot slot) throws RefusedException {
    if (slot.opened()
        && slot.life() != Life.ERASED
        && !event.cacheSalt().isEmpty()
        && !event.cacheSalt().equals(slot.cacheSalt())) {
      throw new RefusedException(
          "the session was opened with another cache_salt" + TurnIntake.NEW_SESSION);
    }
  }

  private void serve(ConversationEvent event, SessionContext session) throws Exception {
    switch (event.kind()) {
      case MESSAGE, REGENERATE, APPEND -> {
        if (intake.accept(event, session)) {
          metrics.accepted();
        } else {
          cancelled(event, session);
        }
      }
      case FORK -> {
        intake.fork(event, session);
        metrics.accepted();
      }
      case PREFETCH -> {
        if (intake.expect(event, session)) {
          output.done(event);
        } else {
          cancelled(event, session);
        }
      }
      case CANCEL -> intake.cancel(event, session);
      case QUERY -> queries.ask(event, session);
      case OPEN -> {
        intake.open(event, session);
        output.done(event);
      }
      case DELETE_TURN -> {
        intake.delete(event, session);
        output.done(event);
      }
      case CLOSE -> {
        ends.close(session);
        output.done(event);
      }
      case ERASE -> {
        ends.end(session, SessionEnding.ERASED);
        output.done(event);
      }
    }
  }

  /** Ends the turn of an event whose cancel came before it. */
  private void cancelled(ConversationEvent event, SessionContext session) throws Exception {
    output.cancelled(event);
    intake.ended(event, session, FinishReason.CANCELLED, null);
  }

  /**
   * Handles the timer of a session: ends a session without turns that is past its retention.
   *
   * @param busy whether the session has turns without a reply
   */
  public void timer(SessionContext session, boolean busy) throws Exception {
    if (!session.isKnown()) {
      return;
    }
    if (session.isExpired(busy)) {
      ends.end(session, SessionEnding.EXPIRED);
    } else {
      session.removeExpiredCancels();
    }
  }
}
