package io.radixflow.operators.flink;

import io.radixflow.operators.cache.StableHash;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.FinishReason;
import io.radixflow.operators.record.GenerationOptions;
import io.radixflow.operators.record.Message;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.SessionSlot.Life;
import java.util.List;
import java.util.Objects;

/**
 * Decides what each event does to its session. Every call finds the session's key current and
 * leaves it so; nothing here waits.
 */
final class EventHandler {
  private static final String TURNS = "turns running and waiting";
  private static final String NEW_SESSION = "; use another session id";

  /** Characters in a session's turns from which on it takes no more; one turn may exceed it. */
  private static final long MAX_QUEUED_LENGTH = 4L << 20;

  private final SessionState state;
  private final History history;
  private final SessionCounts sessions;
  private final TurnQueues queues;
  private final TurnPlanner planner;
  private final TurnRunner runner;
  private final Announcements announcements;
  private final ControlState control;
  private final PendingErasures erasures;
  private final SessionErasure pages;
  private final SessionQueries queries;
  private final UnconfirmedReplies unconfirmed;
  private final IdleTimers timers;
  private final ReplyOutput output;
  private final ServingMetrics metrics;
  private final ServingOptions options;

  EventHandler(
      SessionState state,
      History history,
      SessionCounts sessions,
      TurnQueues queues,
      TurnPlanner planner,
      TurnRunner runner,
      Announcements announcements,
      ControlState control,
      PendingErasures erasures,
      SessionErasure pages,
      SessionQueries queries,
      UnconfirmedReplies unconfirmed,
      IdleTimers timers,
      ReplyOutput output,
      ServingMetrics metrics,
      ServingOptions options) {
    this.state = state;
    this.history = history;
    this.sessions = sessions;
    this.queues = queues;
    this.planner = planner;
    this.runner = runner;
    this.announcements = announcements;
    this.control = control;
    this.erasures = erasures;
    this.pages = pages;
    this.queries = queries;
    this.unconfirmed = unconfirmed;
    this.timers = timers;
    this.output = output;
    this.metrics = metrics;
    this.options = options;
  }

  /**
   * Takes an event in; a resend is ignored, whatever became of the event that it repeats: so each
   * turn id has one reply, however often and from wherever its sender begins again.
   */
  void handle(ConversationEvent event) throws Exception {
    SessionSlot known = state.slot();
    if (known != null && erasures.cover(known)) {
      erase(event.session(), true);
      known = state.slot();
    }
    SessionSlot slot = known == null ? SessionSlot.NEW : known;
    if (slot.hasRead(event.origin())) {
      metrics.resendIgnored();
      return;
    }
    if (known == null) {
      timers.start();
    }
    slot = slot.touched(event.origin(), timers.now());
    state.putSlot(slot);
    if (event.kind() != EventKind.CANCEL
        && event.turn() != null
        && !state.recordTurnId(StableHash.of64(event.turn()), timers.now())) {
      metrics.resendIgnored();
      return;
    }
    if (event.error() != null) {
      output.rejected(event, event.error());
      return;
    }
    try {
      checkOwner(event, slot);
      apply(event, slot);
    } catch (RefusedException e) {
      output.rejected(event, e.getMessage());
    }
  }

  private static void checkOwner(ConversationEvent event, SessionSlot slot)
      throws RefusedException {
    if (!slot.opened() || slot.life() == Life.ERASED) {
      return;
    }
    if (!event.tenant().isEmpty() && !event.tenant().equals(slot.tenant())) {
      throw new RefusedException("the session belongs to another tenant");
    }
    if (!event.cacheSalt().isEmpty() && !event.cacheSalt().equals(slot.cacheSalt())) {
      throw new RefusedException("the session was opened with another cache_salt" + NEW_SESSION);
    }
  }

  private void apply(ConversationEvent event, SessionSlot slot) throws Exception {
    switch (event.kind()) {
      case OPEN -> open(event, slot);
      case MESSAGE, REGENERATE -> accept(event, slot);
      case FORK -> fork(event, slot);
      case CANCEL -> cancel(event);
      case CLOSE -> close(event, slot);
      case ERASE -> {
        erase(event.session(), false);
        output.done(event);
      }
      case QUERY -> queries.ask(event, slot);
      case PREFETCH -> prefetch(event, slot);
    }
  }

  private void open(ConversationEvent event, SessionSlot slot) throws Exception {
    requireAlive(slot);
    String system = event.messages().isEmpty() ? null : event.messages().get(0).content();
    if (slot.opened()) {
      if (!slot.tenant().equals(event.tenant())
          || !slot.cacheSalt().equals(event.cacheSalt())
          || !Objects.equals(history.system(slot), system)
          || !Objects.equals(slot.defaults(), event.options())) {
        throw new RefusedException("the session is open with other parameters" + NEW_SESSION);
      }
    } else {
      SessionSlot opened = open(slot, event, system, event.options());
      planner.resolve(opened, null, 0);
      admitSession(event.tenant());
      begin(opened, system);
    }
    output.done(event);
  }

  private SessionSlot open(
      SessionSlot slot, ConversationEvent event, String system, GenerationOptions defaults)
      throws Exception {
    return slot.opened(
        event.tenant(), event.cacheSalt(), system != null, defaults, control.erasures());
  }

  private void begin(SessionSlot opened, String system) throws Exception {
    state.putSlot(opened);
    if (system != null) {
      history.begin(system);
    }
  }

  private void accept(ConversationEvent event, SessionSlot slot) throws Exception {
    requireAlive(slot);
    if (event.turn() == null) {
      throw new RefusedException("a turn needs a turn id for its reply");
    }
    SessionSlot opened = slot;
    List<Message> messages = event.messages();
    String system = null;
    if (!slot.opened()) {
      if (event.kind() != EventKind.MESSAGE) {
        throw noSession(event);
      }
      system = leadingSystemPrompt(event);
      messages = system == null ? messages : messages.subList(1, messages.size());
      opened = open(slot, event, system, null);
    }
    if (event.kind() == EventKind.MESSAGE && messages.isEmpty()) {
      throw new RefusedException("the turn has no message");
    }
    planner.resolve(opened, event.options(), 0);
    requireBranch(event.session(), event.branch());
    if (wasCancelled(event)) {
      return;
    }
    TurnQueues.Session turns = queues.session(event.session());
    TurnQueues.Branch branch =
        event.replace() && turns != null ? turns.branch(event.branch()) : null;
    List<TurnQueues.Entry> replaced = branch == null ? List.of() : replaceable(branch);
    admitTurn(event.session(), opened.tenant(), replaced);
    if (!slot.opened()) {
      try {
        admitSession(opened.tenant());
      } catch (BusyException e) {
        queues.dismiss(event.session(), opened.tenant());
        throw e;
      }
      begin(opened, system);
    }
    for (TurnQueues.Entry turn : replaced) {
      runner.cancel(branch, turn, FinishReason.REPLACED, true);
    }
    enqueue(event, messages);
  }

  private static RefusedException noSession(ConversationEvent event) {
    return new RefusedException(
        "there is no session '%s'; an open or a message begins it".formatted(event.session()));
  }

  /** Ends an event whose cancel came before it. */
  private boolean wasCancelled(ConversationEvent event) throws Exception {
    boolean cancelled = state.takeEarlyCancel(StableHash.of64(event.turn()), timers.now());
    if (cancelled) {
      output.cancelled(event);
    }
    return cancelled;
  }

  /** What is announced to nobody who could come is no matter, unless the sender wants a reply. */
  private void prefetch(ConversationEvent event, SessionSlot slot) throws Exception {
    if (event.turn() != null) {
      requireAlive(slot);
      if (!slot.opened()) {
        throw noSession(event);
      }
      if (wasCancelled(event)) {
        return;
      }
    }
    if (slot.opened() && slot.life() == Life.OPEN && !control.isDraining()) {
      announcements.announce(event, slot);
    }
    output.done(event);
  }

  /** Turns that another may replace: not the fork that makes the branch. */
  private static List<TurnQueues.Entry> replaceable(TurnQueues.Branch branch) {
    return branch.turns.stream().filter(turn -> turn.kind() != EventKind.FORK).toList();
  }

  private static String leadingSystemPrompt(ConversationEvent event) {
    return event.kind() == EventKind.MESSAGE
            && !event.messages().isEmpty()
            && event.messages().get(0).role().equals("system")
        ? event.messages().get(0).content()
        : null;
  }

  private void fork(ConversationEvent event, SessionSlot slot) throws Exception {
    requireAlive(slot);
    String branch = event.newBranch();
    if (branch == null || branch.isEmpty()) {
      throw new RefusedException("a fork needs new_branch");
    }
    if (history.hasBranch(branch) || queues.has(event.session(), branch)) {
      throw new RefusedException("there is a branch '" + branch + "' already");
    }
    requireBranch(event.session(), event.branch());
    admitTurn(event.session(), slot.tenant(), List.of());
    enqueue(event, List.of());
  }

  private void enqueue(ConversationEvent event, List<Message> messages) throws Exception {
    SessionSlot slot = state.slot();
    PendingTurn turn =
        new PendingTurn(
            slot.nextId(),
            event.kind(),
            event.branch(),
            event.turn(),
            messages,
            event.options(),
            event.newBranch(),
            event.atTurn(),
            event.origin(),
            timers.now(),
            event.cache(),
            event.source());
    state.addPending(turn);
    state.putSlot(slot.numbered());
    queues.add(event.session(), slot.tenant(), TurnQueues.Entry.of(turn));
    metrics.accepted();
  }

  private void cancel(ConversationEvent event) throws Exception {
    TurnQueues.Session session = queues.session(event.session());
    if (event.turn() == null) {
      TurnQueues.Branch branch = session == null ? null : session.branch(event.branch());
      if (branch != null) {
        cancelAll(branch);
      }
      return;
    }
    if (session != null) {
      for (TurnQueues.Branch branch : session.branches()) {
        for (TurnQueues.Entry turn : TurnQueues.turnsOf(branch)) {
          if (event.turn().equals(turn.turn())) {
            runner.cancel(branch, turn, FinishReason.CANCELLED, true);
            return;
          }
        }
      }
    }
    long hash = StableHash.of64(event.turn());
    if (!state.hasSeenTurnId(hash)) {
      long now = timers.now();
      state.addEarlyCancel(hash, now + options.cancelRetention().toMillis(), now);
    }
  }

  private void cancelAll(TurnQueues.Branch branch) throws Exception {
    for (TurnQueues.Entry turn : TurnQueues.turnsOf(branch)) {
      runner.cancel(branch, turn, FinishReason.CANCELLED, true);
    }
  }

  private void close(ConversationEvent event, SessionSlot slot) throws Exception {
    if (slot.life() == Life.OPEN) {
      forgetConversation(event.session(), false, false);
      sessions.ended(slot);
      state.putSlot(slot.closed());
    }
    output.done(event);
  }

  /**
   * Ends the current session's turns and leaves nothing of it but what tells resends: that it was
   * erased, offsets, and hashes of turn ids.
   *
   * @param withTenant whether all of its tenant is being erased
   */
  void erase(String session, boolean withTenant) throws Exception {
    forgetConversation(session, withTenant, true);
    unconfirmed.erase();
    sessions.ended(state.slot());
    state.putSlot(state.slot().erased());
  }

  private void forgetConversation(String session, boolean withTenant, boolean everywhere)
      throws Exception {
    queries.answerAll(session);
    TurnQueues.Session turns = queues.session(session);
    if (turns != null) {
      for (TurnQueues.Branch branch : turns.branches()) {
        for (TurnQueues.Entry turn : TurnQueues.turnsOf(branch)) {
          runner.cancel(branch, turn, FinishReason.CANCELLED, false);
        }
      }
    }
    runner.closeSession(session);
    pages.forget(state.slot(), withTenant, everywhere);
    history.clear();
    state.clearEarlyCancels();
  }

  private static void requireAlive(SessionSlot slot) throws RefusedException {
    if (slot.life() == Life.CLOSED) {
      throw new RefusedException("the session is closed" + NEW_SESSION);
    }
    if (slot.life() == Life.ERASED) {
      throw new RefusedException("the session was erased" + NEW_SESSION);
    }
  }

  private void requireBranch(String session, String branch) throws Exception {
    if (!history.hasBranch(branch) && !queues.has(session, branch)) {
      throw new RefusedException("there is no branch '" + branch + "'");
    }
  }

  /**
   * Keeps a place for a turn.
   *
   * @param replaced turns of the session that end if the new one is taken
   */
  private void admitTurn(String session, String tenant, List<TurnQueues.Entry> replaced)
      throws Exception {
    if (control.isDraining()) {
      throw new BusyException("the service drains and takes no turns");
    }
    int freed = replaced.size();
    int sessionLimit = control.maxQueuedPerSession();
    if (queues.sizeOfSession(session) - freed >= sessionLimit) {
      throw full("session", sessionLimit, TURNS);
    }
    long freedLength = replaced.stream().mapToLong(TurnQueues.Entry::length).sum();
    if (queues.lengthOfSession(session) - freedLength >= MAX_QUEUED_LENGTH) {
      throw new BusyException(
          "the session has messages of %d characters or more running and waiting"
              .formatted(MAX_QUEUED_LENGTH));
    }
    int tenantLimit = control.maxQueuedPerTenant(tenant);
    int limit = control.maxQueuedPerTaskManager();
    require(queues.admit(session, tenant, freed, tenantLimit, limit), tenantLimit, limit, TURNS);
  }

  private void admitSession(String tenant) throws Exception {
    if (control.isDraining()) {
      throw new BusyException("the service drains and opens no sessions");
    }
    int tenantLimit = control.maxSessionsPerTenant(tenant);
    int limit = control.maxSessionsPerTaskManager();
    require(sessions.tryOpen(tenant, tenantLimit, limit), tenantLimit, limit, "open sessions");
  }

  private static void require(TenantCounts.Full full, int tenantLimit, int limit, String of)
      throws BusyException {
    if (full != null) {
      throw full == TenantCounts.Full.TENANT
          ? full("tenant", tenantLimit, of)
          : full("TaskManager", limit, of);
    }
  }

  private static BusyException full(String what, int limit, String of) {
    return new BusyException("the %s has its limit of %d %s".formatted(what, limit, of));
  }
}
