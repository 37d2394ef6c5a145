package io.radixflow.operators.flink;

import io.radixflow.operators.engine.ChannelId;
import io.radixflow.operators.record.ControlEvent;
import io.radixflow.operators.record.ConversationEvent;
import io.radixflow.operators.record.Reply;
import io.radixflow.operators.record.TierCommand;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.tier.DirectoryGenerations;
import io.radixflow.operators.tier.GenerationRef;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.OperatorEventHandler;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedMultiInput;
import org.apache.flink.streaming.api.operators.InternalTimer;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.Triggerable;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Serves the conversations of its key groups: events in, replies out, on the TaskManager's engine.
 *
 * <p>Only orchestrates. State is {@link SessionState}'s and {@link History}'s, order is {@link
 * TurnQueues}', turns are {@link TurnRunner}'s, what an event means is {@link EventHandler}'s.
 *
 * <p>What must hold: a turn is in keyed state from the mail that accepts it to the mail that emits
 * its reply, so turns under way need no state of their own in a checkpoint and move with their key
 * group; nothing waits in {@link #processElement1}; everything runs on the task's thread, into
 * which the engine sends mails.
 */
final class ServingOperator extends AbstractStreamOperator<Reply>
    implements TwoInputStreamOperator<ConversationEvent, ControlEvent, Reply>,
        Triggerable<String, VoidNamespace>,
        BoundedMultiInput,
        OperatorEventHandler {
  private static final long serialVersionUID = 1L;
  private static final int EVENTS = 1;

  private final transient EngineOpener opener;
  private final transient ServingOptions options;
  private final transient LostReplies lost;
  private final transient MailboxExecutor mailbox;
  private final transient OperatorEventGateway coordinator;

  private transient SessionState state;
  private transient History history;
  private transient UnconfirmedReplies unconfirmed;
  private transient ControlState control;
  private transient PendingErasures pendingErasures;
  private transient PageErasures pageErasures;
  private transient SessionErasure pages;
  private transient AttemptEpoch epoch;
  private transient SessionCounts sessions;
  private transient TurnQueues queues;
  private transient EngineLease lease;
  private transient TurnRunner runner;
  private transient EventHandler events;
  private transient SessionQueries queries;
  private transient IdleSessions idle;
  private transient PageHints hints;
  private transient PageRounds rounds;
  private transient IdleTimers timers;
  private transient TenantErasures erasures;

  /** What the restored checkpoint tells of page directories; until the engine is open. */
  private transient List<GenerationRef> restored;

  private transient EngineTiers tiers;

  /** The synchronous savepoint after which nothing may be emitted, or null. */
  private transient Long lastSavepoint;

  ServingOperator(
      StreamOperatorParameters<Reply> parameters,
      EngineOpener opener,
      ServingOptions options,
      LostReplies lost,
      OperatorEventGateway coordinator) {
    super(parameters);
    this.coordinator = coordinator;
    this.opener = opener;
    this.options = options;
    this.lost = lost;
    this.mailbox = parameters.getMailboxExecutor();
  }

  @Override
  public void initializeState(StateInitializationContext context) throws Exception {
    super.initializeState(context);
    state = new SessionState(context.getKeyedStateStore(), getKeyedStateBackend());
    history = new History(context.getKeyedStateStore());
    unconfirmed =
        new UnconfirmedReplies(context.getKeyedStateStore(), getKeyedStateBackend(), lost);
    control = new ControlState(context.getOperatorStateStore(), options);
    pendingErasures = new PendingErasures(context.getOperatorStateStore());
    pageErasures = new PageErasures(context.getOperatorStateStore(), PageErasures.MAX_PAGES);
    restored = GenerationState.read(context.getRawOperatorStateInputs());
    epoch =
        new AttemptEpoch(
            context.getOperatorStateStore(), getProcessingTimeService().getCurrentProcessingTime());
  }

  @Override
  public void open() throws Exception {
    super.open();
    Environment environment = getContainingTask().getEnvironment();
    EngineOpener here =
        GpuResource.choose(
            opener,
            environment.getTaskManagerInfo().getConfiguration(),
            getRuntimeContext().getExternalResourceInfos(GpuResource.NAME));
    lease = EngineLease.acquire(environment, getRuntimeContext(), here, restored, control.tiers());
    restored = null;
    ServingEngine engine = lease.engine();
    tiers = engine.tiers();
    sessions = new SessionCounts(lease.sessions());
    idle = new IdleSessions();
    queues = new TurnQueues(lease.turns(), idle);
    timers =
        new IdleTimers(
            getInternalTimerService("idle-sessions", VoidNamespaceSerializer.INSTANCE, this),
            options.retention().toMillis());
    ServingMetrics metrics =
        new ServingMetrics(
            getMetricGroup(),
            () -> runner == null ? 0 : runner.running(),
            queues::size,
            pendingErasures::size,
            pageErasures::size);
    metrics.sessions(sessions::count, queues::sessions, idle::warm, idle::cold);
    metrics.engine(engine.engine()::stats);
    metrics.tierCommands(tiers::applied, tiers::refused);
    hints = new PageHints(state, engine, options.namespaces(), queues, idle, timers::now);
    rounds = new PageRounds(this, state, history, hints, mailbox);
    ReplyOutput replies =
        new ReplyOutput(output, unconfirmed, metrics, timers::now, epoch.attempt());
    TurnPlanner planner = new TurnPlanner(options);
    boolean alone = getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks() == 1;
    pageErasures.open(engine.engine(), tiers.erasures(), mailbox, alone ? null : coordinator);
    pages =
        new SessionErasure(history, options.namespaces(), engine, pageErasures, epoch.attempt());
    Prompts prompts = new Prompts(engine, options);
    ChannelId channel =
        new ChannelId(
            environment.getJobID().toString(),
            getRuntimeContext().getTaskInfo().getIndexOfThisSubtask(),
            epoch.attempt());
    runner =
        new TurnRunner(
            this,
            state,
            history,
            queues,
            planner,
            prompts,
            options,
            engine,
            replies,
            metrics,
            hints,
            idle,
            pages,
            reader ->
                new EngineConnection(
                    engine.engine(), channel, mailbox, reader, environment::failExternally));
    queries = new SessionQueries(this, history, queues, hints, mailbox, replies);
    events =
        new EventHandler(
            state,
            history,
            sessions,
            queues,
            planner,
            runner,
            new Announcements(history, queues, options.namespaces(), prompts, engine, metrics),
            control,
            pendingErasures,
            pages,
            queries,
            unconfirmed,
            timers,
            replies,
            metrics,
            options);
    countSessions(
        new OlderState(this, getKeyedStateStore(), getKeyedStateBackend(), state, history));
    unconfirmed.open(this, timers::now, mailbox, reply -> emitAgain(reply, metrics));
    takeUpPendingTurns();
    erasures =
        new TenantErasures(
            pendingErasures,
            this,
            state,
            events,
            runner::dispatch,
            (tenant, number) ->
                tiers
                    .erasures()
                    .begin(
                        "tenant %s %d of %s".formatted(tenant, number, channel),
                        () -> engine.engine().forgetTenant(tenant)),
            mailbox,
            System::nanoTime);
  }

  private void emitAgain(Reply reply, ServingMetrics metrics) {
    metrics.emittedAgain();
    output.collect(new StreamRecord<>(reply));
  }

  /** After a restore. */
  private void countSessions(OlderState older) throws Exception {
    older.movePages();
    for (String session : state.sessions()) {
      setCurrentKey(session);
      SessionSlot slot = older.promptMoved(state.slot());
      sessions.restored(slot);
      hints.count(session, slot, false);
    }
  }

  /**
   * After a restore: all turns without a reply, the oldest first, those of a session in their order
   * even if the clock went back between them.
   */
  private void takeUpPendingTurns() throws Exception {
    record Restored(String session, String tenant, long accepted, TurnQueues.Entry turn) {}
    List<Restored> restored = new ArrayList<>();
    for (String session : state.sessionsWithPendingTurns()) {
      setCurrentKey(session);
      String tenant = state.slot().tenant();
      long accepted = Long.MIN_VALUE;
      for (PendingTurn turn : state.pending()) {
        accepted = Math.max(accepted, turn.accepted());
        restored.add(new Restored(session, tenant, accepted, TurnQueues.Entry.of(turn)));
      }
    }
    restored.sort(Comparator.comparingLong(Restored::accepted));
    restored.forEach(r -> queues.restore(r.session(), r.tenant(), r.turn()));
    runner.dispatch();
  }

  @Override
  public void processElement1(StreamRecord<ConversationEvent> element) throws Exception {
    events.handle(element.getValue());
    runner.dispatch();
  }

  @Override
  public void processElement2(StreamRecord<ControlEvent> element) throws Exception {
    ControlEvent event = element.getValue();
    try {
      switch (String.valueOf(event.kind())) {
        case "erase_tenant" -> eraseTenant(event.tenant());
        case "drain" -> control.drain(event.value());
        case "limits" -> control.limits(event.tenant(), event.value());
        case "tiers" -> switchTiers(event.value());
        default -> throw new RefusedException("'" + event.kind() + "' is no control event");
      }
    } catch (RefusedException e) {
      LOG.warn("A control event is ignored: {}", e.getMessage());
    }
    runner.dispatch();
  }

  @Override
  public void handleOperatorEvent(OperatorEvent event) {
    pageErasures.heard((PagesToErase) event);
  }

  /** Erasures of sessions and tenants whose pages may still be there. */
  int erasuresPending() {
    return pageErasures.size() + pendingErasures.size();
  }

  /** Sessions without turns that have pages somewhere. */
  IdleSessions idleSessions() {
    return idle;
  }

  private void eraseTenant(String tenant) throws Exception {
    if (tenant == null) {
      throw new RefusedException("erase_tenant names no tenant");
    }
    erasures.add(tenant, control.nextErasure());
  }

  /** All subtasks remember what is to hold; each TaskManager's engine does it, once. */
  private void switchTiers(String value) throws Exception {
    TierCommand command;
    try {
      command = TierCommand.parse(value);
    } catch (IllegalArgumentException e) {
      throw new RefusedException(e.getMessage());
    }
    TierSettings before = control.tiers();
    TierSettings after = tiers.refusal(command) == null ? before.after(command) : before.next();
    control.tiers(after);
    tiers.apply(after, command);
  }

  @Override
  public void onProcessingTime(InternalTimer<String, VoidNamespace> timer) throws Exception {
    SessionSlot slot = state.slot();
    if (slot == null) {
      return;
    }
    boolean busy = queues.session(timer.getKey()) != null;
    if (timers.isExpired(slot.lastEvent(), busy)) {
      queries.answerAll(timer.getKey());
      runner.closeSession(timer.getKey());
      pages.forget(slot, false, false);
      sessions.ended(slot);
      history.clear();
      state.clear();
    } else {
      state.prune(timers.now());
    }
  }

  @Override
  public void onEventTime(InternalTimer<String, VoidNamespace> timer) {
    throw new IllegalStateException("there are no event-time timers");
  }

  /** What waits for an answer of the engine is in no state. */
  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
    super.prepareSnapshotPreBarrier(checkpointId);
    queries.answerAll();
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    runner.saveProgress();
    unconfirmed.barrier(context.getCheckpointId());
    pendingErasures.save();
    pageErasures.save();
    epoch.save();
  }

  /**
   * Mails go on after the barrier of a stop-with-savepoint until the savepoint is complete; what
   * they would emit is not in the savepoint and would be emitted again.
   */
  @Override
  public OperatorSnapshotFutures snapshotState(
      long checkpointId,
      long timestamp,
      CheckpointOptions checkpointOptions,
      CheckpointStreamFactory factory)
      throws Exception {
    if (checkpointOptions.getCheckpointType() instanceof SavepointType savepoint
        && savepoint.isSynchronous()) {
      lastSavepoint = checkpointId;
      runner.suspend();
      unconfirmed.suspend();
      erasures.suspend();
    }
    OperatorSnapshotFutures futures =
        super.snapshotState(checkpointId, timestamp, checkpointOptions, factory);
    DirectoryGenerations directory = tiers.generations();
    if (directory != null) {
      futures.setOperatorStateRawFuture(GenerationState.write(directory, checkpointId, factory));
    }
    return futures;
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) throws Exception {
    super.notifyCheckpointComplete(checkpointId);
    unconfirmed.complete(checkpointId);
    rounds.begin();
    DirectoryGenerations directory = tiers.generations();
    if (directory != null) {
      directory.complete(checkpointId);
    }
  }

  @Override
  public void notifyCheckpointAborted(long checkpointId) throws Exception {
    super.notifyCheckpointAborted(checkpointId);
    DirectoryGenerations directory = tiers.generations();
    if (directory != null) {
      directory.failed(checkpointId);
    }
    if (lastSavepoint != null && lastSavepoint == checkpointId) {
      lastSavepoint = null;
      runner.resume();
      unconfirmed.resume();
      erasures.resume();
    }
  }

  @Override
  public void endInput(int input) throws Exception {
    while (input == EVENTS && (queues.size() > 0 || erasures.isBusy() || unconfirmed.isBusy())) {
      mailbox.yield();
    }
    if (input == EVENTS) {
      queries.answerAll();
    }
  }

  @Override
  public void close() throws Exception {
    try (AutoCloseable leased = lease;
        AutoCloseable search = unconfirmed) {
      if (erasures != null) {
        erasures.close();
      }
      if (runner != null) {
        runner.close();
      }
    } finally {
      super.close();
    }
  }
}
