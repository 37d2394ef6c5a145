package io.radixflow.operators.flink;

import io.radixflow.engine.ChannelId;
import io.radixflow.operators.flink.engine.CheckpointedDisks;
import io.radixflow.operators.flink.engine.EngineConnection;
import io.radixflow.operators.flink.engine.EngineLease;
import io.radixflow.operators.flink.engine.EngineTiers;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.erasure.Erasures;
import io.radixflow.operators.flink.erasure.TenantKeyState;
import io.radixflow.operators.flink.recovery.LostReplies;
import io.radixflow.operators.flink.recovery.UnconfirmedReplies;
import io.radixflow.operators.flink.state.AttemptEpoch;
import io.radixflow.operators.flink.state.ControlState;
import io.radixflow.operators.flink.state.IdleTimers;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.flink.state.SessionCounts;
import io.radixflow.operators.flink.state.SessionStore;
import io.radixflow.operators.flink.turn.end.ConversationIndex;
import io.radixflow.operators.flink.turn.end.PageLocations;
import io.radixflow.operators.flink.turn.end.SessionErasure;
import io.radixflow.operators.flink.turn.end.SessionHistoryWriter;
import io.radixflow.operators.flink.turn.intake.BranchSelector;
import io.radixflow.operators.flink.turn.intake.EventHandler;
import io.radixflow.operators.flink.turn.intake.ServingLimits;
import io.radixflow.operators.flink.turn.intake.SessionEnds;
import io.radixflow.operators.flink.turn.intake.SessionQueries;
import io.radixflow.operators.flink.turn.intake.TurnIntake;
import io.radixflow.operators.flink.turn.run.BranchChanges;
import io.radixflow.operators.flink.turn.run.EngineRequests;
import io.radixflow.operators.flink.turn.run.HistoryMatcher;
import io.radixflow.operators.flink.turn.run.ReplyOutput;
import io.radixflow.operators.flink.turn.run.ServingMetrics;
import io.radixflow.operators.flink.turn.run.TurnEnds;
import io.radixflow.operators.flink.turn.run.TurnPlanner;
import io.radixflow.operators.flink.turn.run.TurnQueues;
import io.radixflow.operators.flink.turn.run.TurnRunner;
import io.radixflow.operators.flink.turn.run.TurnStarter;
import io.radixflow.operators.flink.turn.run.TurnStates;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.control.ControlEvent;
import io.radixflow.protocol.record.kv.SlotState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.flink.api.common.TaskInfo;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * One subtask of the serving operator while it is open: creates all parts, connects them, and
 * forwards the operator's calls to them. Only the task's thread uses it.
 */
final class ServingSubtask implements AutoCloseable {
  private final ServingMetrics metrics;
  private final EngineTiers tiers;
  private final CheckpointedDisks disks;
  private final TenantKeyState pageKeys;
  private final SessionStore sessions;
  private final TurnQueues queues;
  private final TurnRunner runner;
  private final EventHandler events;
  private final SessionQueries queries;
  private final ControlEventHandler control;
  private final UnconfirmedReplies unconfirmed;
  private final SessionEnds ends;
  private final Erasures erasures;
  private final AttemptEpoch epoch;

  ServingSubtask(
      ServingOperator operator,
      EngineLease lease,
      ControlState settings,
      CheckpointedDisks disks,
      ServingOptions configured,
      LostReplies lost,
      boolean indexed)
      throws Exception {
    this.disks = disks;
    ServingOptions options = lease.engine().withModelDefaults(configured);
    Environment environment = operator.environment();
    OperatorStateStore store = operator.getOperatorStateBackend();
    MailboxExecutor mailbox = operator.mailbox();
    IdleTimers timers = new IdleTimers(operator.timers(), options.retention().toMillis());
    epoch = new AttemptEpoch(store, timers.now());
    ServingEngine engine = lease.engine();
    tiers = engine.tiers();
    TaskInfo task = operator.getRuntimeContext().getTaskInfo();
    OperatorEventGateway coordinator =
        task.getNumberOfParallelSubtasks() == 1 ? null : operator.coordinator();
    pageKeys = new TenantKeyState(store, tiers, task);
    if (coordinator != null) {
      pageKeys.passOn(mailbox, coordinator);
    }
    erasures = new Erasures(store, engine, pageKeys, mailbox, coordinator, Erasures.MAX_PAGES);
    // a job may have several operators like this one, which share an engine
    String owner = environment.getJobID() + "/" + operator.getOperatorID();
    ChannelId channel = new ChannelId(owner, task.getIndexOfThisSubtask(), epoch.attempt());

    queues = new TurnQueues(lease.turns(), engine.engine().tenantWeights());
    PageLocations locations = new PageLocations(engine, options.namespaces());
    SessionCounts counts =
        new SessionCounts(lease.sessions(), queues::isBusy, locations.expected());
    sessions =
        new SessionStore(
            operator.getKeyedStateStore(), operator.getKeyedStateBackend(), counts, timers);

    metrics = new ServingMetrics(operator.getMetricGroup());
    unconfirmed =
        new UnconfirmedReplies(
            operator.getKeyedStateStore(),
            operator.getKeyedStateBackend(),
            lost,
            timers::now,
            mailbox,
            reply -> emitAgain(operator, reply));
    ReplyOutput output =
        new ReplyOutput(operator.output(), unconfirmed, metrics, timers::now, epoch.attempt());

    int maxBranches = options.limits().maxBranches();
    TurnPlanner planner = new TurnPlanner(options);
    HistoryMatcher matcher = new HistoryMatcher(queues, planner);
    ConversationIndex index =
        new ConversationIndex(indexed ? operator.output() : null, engine.model().name());
    SessionErasure erasure =
        new SessionErasure(options.namespaces(), engine, erasures, index, epoch.attempt());
    BranchChanges changes = new BranchChanges(queues, matcher, erasure, maxBranches);
    TurnStarter starter = new TurnStarter(planner, changes, new EngineRequests(engine, options));
    SessionHistoryWriter writer = new SessionHistoryWriter(engine, locations, erasure, index);
    runner =
        new TurnRunner(
            sessions,
            queues,
            starter,
            new TurnEnds(queues, changes, writer, output),
            output,
            metrics,
            reader ->
                new EngineConnection(
                    engine.engine(), channel, mailbox, reader, environment::failExternally));

    ServingLimits limits = new ServingLimits(settings, queues, counts);
    BranchSelector branches = new BranchSelector(queues, matcher, erasure, maxBranches);
    TurnIntake intake =
        new TurnIntake(settings, limits, branches, queues, runner, planner, options);
    TurnStates turnStates = new TurnStates(queues, starter);
    queries = new SessionQueries(sessions, queues, turnStates, locations, mailbox, output);
    ends = new SessionEnds(sessions, queries, runner, erasure, erasures, unconfirmed, mailbox);
    events = new EventHandler(intake, queries, ends, output, metrics);

    control = new ControlEventHandler(settings, tiers, ends);
    registerMetrics(engine, counts);
  }

  private void registerMetrics(ServingEngine engine, SessionCounts counts) {
    metrics.turns(runner::running, queues::size);
    metrics.erasures(erasures::pendingTenants, erasures::pendingPages);
    metrics.sessions(counts::count, counts::count);
    metrics.engine(engine.engine()::stats);
    metrics.tiers(tiers, engine.engine()::stats);
  }

  private void emitAgain(ServingOperator operator, Reply reply) {
    metrics.emittedAgain();
    operator.output().collect(new StreamRecord<>(reply));
  }

  /** Counts the sessions of the restored checkpoint and starts its turns. */
  void start() throws Exception {
    queueRestoredTurns();
    for (String id : sessions.sessions()) {
      sessions.counts().restored(id, sessions.load(id).slot());
    }
    runner.dispatch();
  }

  /**
   * Queues all turns without a reply, the oldest first. Turns of one session keep their order even
   * if the clock went back between them.
   */
  private void queueRestoredTurns() throws Exception {
    record Restored(String session, String tenant, long accepted, TurnQueues.Entry turn) {}
    List<Restored> restored = new ArrayList<>();
    for (String id : sessions.sessionsWithPendingTurns()) {
      SessionContext session = sessions.load(id);
      String tenant = session.slot().tenant();
      long accepted = Long.MIN_VALUE;
      for (PendingTurn turn : session.pending()) {
        accepted = Math.max(accepted, turn.accepted());
        restored.add(new Restored(id, tenant, accepted, TurnQueues.Entry.of(turn)));
      }
    }
    restored.sort(Comparator.comparingLong(Restored::accepted));
    restored.forEach(r -> queues.restore(r.session(), r.tenant(), r.turn()));
  }

  void handle(ConversationEvent event) throws Exception {
    SessionContext session = sessions.load(event.session());
    events.handle(event, session);
    session.save();
    runner.dispatch(session);
  }

  void handle(ControlEvent event) throws Exception {
    control.handle(event);
    runner.dispatch();
  }

  /** Handles an event that the coordinator has forwarded from a subtask, possibly this one. */
  void handle(OperatorEvent event) {
    if (event instanceof TenantKeyState.Drawn key) {
      pageKeys.receive(key);
    } else {
      erasures.receive((Erasures.Erasure) event);
    }
  }

  /** Handles the timer of a session. */
  void timer(String id) throws Exception {
    SessionContext session = sessions.load(id);
    events.timer(session, queues.isBusy(id));
    session.save();
  }

  /**
   * Answers the queries that wait for the engine. Called before a barrier, because these queries
   * are not in state.
   */
  void answerQueries() throws Exception {
    queries.answerAll();
  }

  /** Writes everything that is not in state yet, after the barrier of a checkpoint. */
  void save(long checkpoint) throws Exception {
    runner.saveProgress();
    unconfirmed.barrier(checkpoint);
    erasures.save();
    disks.save(tiers.attachedDiskId());
    pageKeys.save();
    epoch.save();
  }

  void complete(long checkpoint) throws Exception {
    unconfirmed.complete(checkpoint);
  }

  /** Emits nothing from now on. */
  void suspend() {
    runner.suspend();
    unconfirmed.suspend();
    ends.suspend();
  }

  void resume() throws Exception {
    runner.resume();
    unconfirmed.resume();
    ends.resume();
  }

  /** Returns whether any turn has no reply yet. */
  boolean isBusy() {
    return queues.size() > 0 || ends.isErasing() || unconfirmed.isBusy();
  }

  /** Returns the number of erasures of sessions and tenants whose pages may still exist. */
  int erasuresPending() {
    return erasures.pendingPages() + erasures.pendingTenants();
  }

  /** Returns the number of open sessions in a state. */
  int sessions(SlotState state) {
    return sessions.counts().count(state);
  }

  @Override
  public void close() {
    try (unconfirmed;
        erasures) {
      ends.close();
      runner.close();
    }
  }
}
