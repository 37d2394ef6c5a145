package io.radixflow.engine.schedule;

import io.radixflow.engine.request.Request;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import java.util.ArrayDeque;
import java.util.function.Consumer;

/**
 * Holds requests that may have ended an earlier process. They enter the engine one at a time, and
 * each runs alone until it is beyond the position at which that process died. Engine thread only,
 * except {@link #screen}.
 */
public final class Quarantine {
  private final CrashJournal journal;
  private final int attempts;
  private final Consumer<Request> intake;
  private final ArrayDeque<Request> held = new ArrayDeque<>();
  private Request active;

  /**
   * @param attempts how often a request may end the process on its own
   * @param intake takes the request that is released next
   */
  public Quarantine(CrashJournal journal, int attempts, Consumer<Request> intake) {
    this.journal = journal;
    this.attempts = attempts;
    this.intake = intake;
  }

  public CrashJournal journal() {
    return journal;
  }

  /** Looks a request up; sets its refusal if it has ended too many processes. Any thread. */
  public void screen(Request request) {
    request.standing.name(CrashJournal.nameOf(request.spec.label()));
    CrashRecord.Suspect suspect = journal.suspect(request.standing.journalName());
    if (suspect == null) {
      return;
    }
    request.standing.suspect(suspect.reached());
    if (suspect.deaths() >= attempts) {
      request.refuse(
          FinishReason.ERROR,
          ReplyError.failed(
              "the process died %d times while it worked on this turn alone"
                  .formatted(suspect.deaths())));
    }
  }

  /** Holds a suspect until it may run. */
  public void hold(Request request) {
    if (!request.standing.hasEnded()) {
      held.add(request);
      releaseNext();
    }
  }

  /** Returns the request that must run alone, or null. */
  Request active() {
    return active;
  }

  /** Notes that a step of a request has succeeded. */
  void computed(Request request) {
    if (request == active && request.steps.computed() >= request.standing.suspectUntil()) {
      journal.trust(request.pages.row());
      journal.acquit(request.standing.journalName());
      request.standing.trust();
      releaseAnother();
    }
  }

  /**
   * Notes the end of a request. A cancelled request stays suspect, because its turn may come again.
   */
  public void ended(Request request) {
    if (request == active) {
      if (request.isComplete()) {
        journal.acquit(request.standing.journalName());
      }
      releaseAnother();
    } else if (request.standing.isSuspect()) {
      held.remove(request);
    }
  }

  private void releaseAnother() {
    active = null;
    releaseNext();
  }

  private void releaseNext() {
    if (active == null) {
      active = held.poll();
      if (active != null) {
        intake.accept(active);
      }
    }
  }
}
