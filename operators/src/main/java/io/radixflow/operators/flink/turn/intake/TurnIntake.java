package io.radixflow.operators.flink.turn.intake;

import io.radixflow.operators.flink.state.ControlState;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.flink.turn.end.EndedTurns;
import io.radixflow.operators.flink.turn.run.TurnPlanner;
import io.radixflow.operators.flink.turn.run.TurnQueues;
import io.radixflow.operators.flink.turn.run.TurnRunner;
import io.radixflow.operators.session.BusyException;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.SessionSlot.Life;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.text.template.Message;
import java.util.List;
import java.util.Objects;

/**
 * Opens sessions, and queues and cancels their turns. Handles {@code open}, {@code message}, {@code
 * regenerate}, {@code fork}, {@code cancel} and {@code prefetch}. Only the task's thread uses it.
 */
public final class TurnIntake {
  static final String NEW_SESSION = "; use another session id";

  private final ControlState control;
  private final ServingLimits limits;
  private final BranchSelector branches;
  private final TurnPlanner planner;
  private final TurnQueues queues;
  private final TurnRunner runner;
  private final long cancelRetention;

  public TurnIntake(
      ControlState control,
      ServingLimits limits,
      BranchSelector branches,
      TurnQueues queues,
      TurnRunner runner,
      TurnPlanner planner,
      ServingOptions options) {
    this.control = control;
    this.limits = limits;
    this.branches = branches;
    this.planner = planner;
    this.queues = queues;
    this.runner = runner;
    this.cancelRetention = options.cancelRetention().toMillis();
  }

  /** Opens a session; does nothing if it is open with the same parameters. */
  void open(ConversationEvent event, SessionContext session) throws Exception {
    SessionSlot slot = session.slot();
    requireAlive(slot);
    String system = event.messages().isEmpty() ? null : event.messages().get(0).content();
    if (slot.opened()) {
      if (!slot.tenant().equals(event.tenant())
          || !slot.cacheSalt().equals(event.cacheSalt())
          || !Objects.equals(session.system(), system)
          || !Objects.equals(slot.defaults(), event.options())) {
        throw new RefusedException("the session is open with other parameters" + NEW_SESSION);
      }
    } else {
      SessionSlot opened = opened(slot, event, system, event.options());
      planner.check(opened, null, List.of());
      limits.admitSession(event.tenant());
      begin(session, opened, system);
    }
  }

  private SessionSlot opened(
      SessionSlot slot, ConversationEvent event, String system, GenerationOptions defaults)
      throws Exception {
    return slot.opened(
        event.tenant(), event.cacheSalt(), system != null, defaults, control.erasures());
  }

  private static void begin(SessionContext session, SessionSlot opened, String system)
      throws Exception {
    session.slot(opened);
    if (system != null) {
      session.history().begin(system);
    }
  }

  /**
   * Accepts a regeneration or messages, with or without a reply; opens the session if these are its
   * first messages.
   *
   * @return false if the turn is not accepted, because its cancel came before it
   */
  boolean accept(ConversationEvent event, SessionContext session) throws Exception {
    SessionSlot slot = session.slot();
    requireAlive(slot);
    if (event.turn() == null) {
      throw new RefusedException("a turn needs a turn id for its reply");
    }
    SessionSlot opened = slot;
    List<Message> messages = event.messages();
    String system = null;
    if (!slot.opened()) {
      if (event.kind() == EventKind.REGENERATE) {
        throw noSession(session);
      }
      system = leadingSystemPrompt(event);
      messages = system == null ? messages : messages.subList(1, messages.size());
      opened = opened(slot, event, system, null);
    }
    if (event.kind() != EventKind.REGENERATE && messages.isEmpty()) {
      throw new RefusedException("the turn has no message");
    }
    boolean raw = Message.isPrompt(messages);
    checkKind(event, opened, raw);
    planner.check(opened, event.options(), messages);
    BranchSelector.Target target = branches.choose(event, session, messages);
    if (session.takeEarlyCancel(event.tenant(), event.turn())) {
      return false;
    }
    TurnQueues.Branch branch =
        event.replace() ? queues.branch(session.id(), target.branch()) : null;
    List<TurnQueues.Entry> replaced = branch == null ? List.of() : replaceable(branch);
    limits.admitTurn(session.id(), opened.tenant(), replaced);
    if (!slot.opened()) {
      try {
        limits.admitSession(opened.tenant());
      } catch (BusyException e) {
        queues.dismiss(session.id(), opened.tenant());
        throw e;
      }
      begin(session, opened, system);
    }
    if (raw && !session.slot().raw()) {
      session.slot(session.slot().asRaw());
    }
    for (TurnQueues.Entry turn : replaced) {
      runner.cancel(session, branch, turn, FinishReason.REPLACED, true);
    }
    enqueue(event, session, target);
    return true;
  }

  /** Checks that either all or none of a session's prompts use the chat template. */
  private static void checkKind(ConversationEvent event, SessionSlot slot, boolean raw)
      throws RefusedException {
    boolean begun = slot.prompted() || slot.nextId() > SessionSlot.NEW.nextId();
    if (raw ? begun && !slot.raw() : slot.raw()) {
      throw new RefusedException(
          "a session has turns with prompt only, or with messages only" + NEW_SESSION);
    }
    if (raw
        && (event.previousTurn() != null
            || event.matchHistory()
            || !event.branch().equals(ConversationEvent.MAIN_BRANCH))) {
      throw new RefusedException("a turn with prompt follows no other, and is on the main branch");
    }
  }

  static RefusedException noSession(SessionContext session) {
    return new RefusedException(
        ErrorCode.UNKNOWN_SESSION,
        "there is no session '%s'; an open or a message begins it".formatted(session.id()));
  }

  /**
   * Stores the end of a turn that was not accepted, for queries about it, if its session is open.
   * An event without a readable kind counts as a turn.
   */
  void ended(ConversationEvent event, SessionContext session, FinishReason reason, ReplyError error)
      throws Exception {
    EventKind kind = event.kind();
    boolean isTurn =
        kind == null
            || kind == EventKind.MESSAGE
            || kind == EventKind.REGENERATE
            || kind == EventKind.APPEND;
    if (isTurn
        && event.turn() != null
        && session.slot().opened()
        && session.slot().life() == Life.OPEN) {
      session.addEndedTurn(EndedTurns.unaccepted(event, session.now(), reason, error));
    }
  }

  /**
   * Lets the engine prepare for an announced turn. An event for a session that cannot have turns is
   * ignored, unless its sender wants a reply.
   *
   * @return false if its cancel came before it
   */
  boolean expect(ConversationEvent event, SessionContext session) throws Exception {
    SessionSlot slot = session.slot();
    if (event.turn() != null) {
      requireAlive(slot);
      if (!slot.opened()) {
        throw noSession(session);
      }
      if (session.takeEarlyCancel(event.tenant(), event.turn())) {
        return false;
      }
    }
    if (slot.opened() && !slot.raw() && slot.life() == Life.OPEN && !control.isDraining()) {
      runner.expected().announced(session, event);
    }
    return true;
  }

  /** Returns the turns that another turn may replace: all except the fork that makes the branch. */
  private static List<TurnQueues.Entry> replaceable(TurnQueues.Branch branch) {
    return branch.turns.stream().filter(turn -> turn.kind() != EventKind.FORK).toList();
  }

  private static String leadingSystemPrompt(ConversationEvent event) {
    return event.kind() != EventKind.REGENERATE
            && event.messages().size() > 1
            && event.messages().get(0).instructs()
        ? event.messages().get(0).content()
        : null;
  }

  /** Accepts a fork; it waits in the queue of its branch like a turn. */
  void fork(ConversationEvent event, SessionContext session) throws Exception {
    requireAlive(session.slot());
    checkKind(event, session.slot(), false);
    String branch = event.newBranch();
    if (branch == null || branch.isEmpty()) {
      throw new RefusedException("a fork needs new_branch");
    }
    if (session.history().hasBranch(branch) || queues.has(session.id(), branch)) {
      throw new RefusedException("there is a branch '" + branch + "' already");
    }
    BranchSelector.Target source = branches.choose(event, session, List.of());
    limits.admitTurn(session.id(), session.slot().tenant(), List.of());
    enqueue(event, session, source);
  }

  private void enqueue(
      ConversationEvent event, SessionContext session, BranchSelector.Target target)
      throws Exception {
    long after = branches.make(session, target);
    PendingTurn turn =
        new PendingTurn(
            session.nextNumber(),
            event.kind(),
            target.branch(),
            event.turn(),
            List.copyOf(target.messages()),
            event.options(),
            event.newBranch(),
            event.atTurn(),
            event.origin(),
            session.now(),
            event.metadata(),
            event.cache(),
            after,
            target.whole());
    session.addPending(turn);
    queues.add(session.id(), session.slot().tenant(), TurnQueues.Entry.of(turn));
  }

  /** Deletes a turn. A running or waiting turn is cancelled, and nothing of it is kept. */
  void delete(ConversationEvent event, SessionContext session) throws Exception {
    requireAlive(session.slot());
    if (!session.slot().opened()) {
      throw noSession(session);
    }
    if (event.atTurn() == null) {
      throw new RefusedException("a delete_turn needs at_turn");
    }
    boolean known = false;
    for (TurnQueues.Branch branch : queues.branches(session.id())) {
      for (TurnQueues.Entry turn : TurnQueues.turnsOf(branch)) {
        if (event.atTurn().equals(turn.turn()) && turn.kind() != EventKind.FORK) {
          known = true;
          runner.cancel(session, branch, turn, FinishReason.CANCELLED, false);
        }
      }
    }
    known |= session.removeEndedTurn(event.atTurn());
    if (!known) {
      branches.delete(session, branches.number(session, event.atTurn()));
    }
  }

  /** Cancels a turn, or all turns of a branch. A cancel of a turn that has not come is stored. */
  void cancel(ConversationEvent event, SessionContext session) throws Exception {
    if (event.turn() == null) {
      TurnQueues.Branch branch = queues.branch(session.id(), event.branch());
      if (branch != null) {
        runner.cancelAll(session, branch, true);
      }
      runner.expected().takeBack(session, event.branch());
      return;
    }
    for (TurnQueues.Branch branch : queues.branches(session.id())) {
      for (TurnQueues.Entry turn : TurnQueues.turnsOf(branch)) {
        if (event.turn().equals(turn.turn())) {
          runner.cancel(session, branch, turn, FinishReason.CANCELLED, true);
          return;
        }
      }
    }
    runner.expected().takeBackTurn(session, event.turn());
    if (!session.hasSeenTurnId(event.tenant(), event.turn())) {
      session.addEarlyCancel(event.tenant(), event.turn(), cancelRetention);
    }
  }

  static void requireAlive(SessionSlot slot) throws RefusedException {
    if (slot.life() == Life.CLOSED) {
      throw new RefusedException(ErrorCode.SESSION_ENDED, "the session is closed" + NEW_SESSION);
    }
    if (slot.life() == Life.ERASED) {
      throw new RefusedException(ErrorCode.SESSION_ENDED, "the session was erased" + NEW_SESSION);
    }
  }
}
