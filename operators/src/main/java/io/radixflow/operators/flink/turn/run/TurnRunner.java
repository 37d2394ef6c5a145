package io.radixflow.operators.flink.turn.run;

import io.radixflow.engine.ReplyProgress;
import io.radixflow.operators.flink.engine.EngineConnection;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.flink.state.SessionStore;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.session.TurnProgress;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.ReplyError;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Function;
import org.apache.flink.util.ExceptionUtils;

/**
 * Runs turns: starts turns when they may run, follows them, and lets {@link TurnEnds} end each turn
 * with exactly one reply. Owns the turns that the engine works on. Only the task's thread uses it.
 */
public final class TurnRunner implements EngineConnection.Reader {
  private final SessionStore sessions;
  private final TurnQueues queues;
  private final TurnStarter starter;
  private final TurnEnds ends;
  private final ReplyOutput output;
  private final ServingMetrics metrics;
  private final EngineConnection connection;
  private final ExpectedTurns expected;
  private final Map<Long, RunningTurn> running = new HashMap<>();

  /**
   * Turns that ended here before the engine learned it; they stay here until the engine reports
   * their end.
   */
  private final Map<Long, RunningTurn> cancelled = new HashMap<>();

  /**
   * @param connect opens the connection to the engine; gets this runner as the reader of progress
   */
  public TurnRunner(
      SessionStore sessions,
      TurnQueues queues,
      TurnStarter starter,
      TurnEnds ends,
      ReplyOutput output,
      ServingMetrics metrics,
      Function<EngineConnection.Reader, EngineConnection> connect) {
    this.sessions = sessions;
    this.queues = queues;
    this.starter = starter;
    this.ends = ends;
    this.output = output;
    this.metrics = metrics;
    this.connection = connect.apply(this);
    this.expected = new ExpectedTurns(starter.requests(), connection, queues, metrics);
  }

  /** Returns the number of turns that the engine works on. */
  public int running() {
    return running.size();
  }

  /** Returns the turns that the engine prepares for. */
  public ExpectedTurns expected() {
    return expected;
  }

  /** Starts turns while there is room. Changes the current key. */
  public void dispatch() throws Exception {
    dispatch(null);
  }

  /**
   * Starts turns while there is room. Changes the current key.
   *
   * @param loaded a session that need not be loaded again, or null
   */
  public void dispatch(SessionContext loaded) throws Exception {
    while (running.size() < starter.options().limits().maxRunning()) {
      TurnQueues.Branch branch = queues.pollReady();
      if (branch == null) {
        return;
      }
      String id = branch.session.id;
      boolean isLoaded = loaded != null && loaded.id().equals(id);
      SessionContext session = isLoaded ? loaded.enter() : sessions.load(id);
      TurnQueues.Entry first = branch.turns.peek();
      PendingTurn turn = session.pending(first.id());
      try {
        if (starter.endsWithItsModel(session, turn)) {
          cancel(session, branch, first, FinishReason.CANCELLED, true);
        } else {
          start(session, branch, turn);
        }
      } catch (RefusedException e) {
        output.refused(session, turn, e.getMessage());
        ends.endUnstarted(session, branch, first, FinishReason.REJECTED, e.error());
      }
      session.save();
    }
  }

  private void start(SessionContext session, TurnQueues.Branch branch, PendingTurn turn)
      throws Exception {
    RunningTurn run = starter.start(session, branch, turn);
    if (run == null) {
      ends.endUnstarted(session, branch, branch.turns.peek(), FinishReason.STOP, null);
      return;
    }
    run.requestId = connection.nextRequest();
    run.startedMillis = output.since(turn);
    branch.running = run;
    running.put(run.requestId, run);
    connection.submit(run.requestId, starter.requests().run(session, run));
    metrics.submitted(output.since(turn));
  }

  @Override
  public void promptReady(long requestId) {
    RunningTurn turn = running.get(requestId);
    if (turn != null) {
      turn.promptMade();
    }
  }

  @Override
  public void progress(long requestId, ReplyProgress progress) {
    output.beginStep();
    RunningTurn turn = running.get(requestId);
    try {
      if (turn != null) {
        follow(turn, progress);
      } else {
        followCancelled(requestId, progress);
      }
    } catch (Exception e) {
      ExceptionUtils.rethrow(e);
    }
  }

  /** Erases the pages that the engine computed for a turn before it knew of the cancel. */
  private void followCancelled(long requestId, ReplyProgress progress) throws Exception {
    RunningTurn turn =
        progress.finish() == null ? cancelled.get(requestId) : cancelled.remove(requestId);
    if (turn != null) {
      int known = turn.usage().completionTokens();
      turn.add(progress);
      ends.computedMore(sessions, turn, known);
    }
  }

  private void follow(RunningTurn turn, ReplyProgress progress) throws Exception {
    try {
      turn.add(progress);
    } catch (IllegalStateException e) {
      connection.cancel(turn.requestId, FinishReason.CANCELLED);
      endLoaded(turn, FinishReason.ERROR, ReplyError.failed(e.getMessage()));
      return;
    }
    if (progress.tokenOffset() == 0 && progress.tokens().length > 0) {
      turn.firstTokenMillis = output.since(turn.pending());
      metrics.firstToken(turn.firstTokenMillis);
    }
    if (progress.finish() != null) {
      endLoaded(turn, progress.finish(), progress.error());
    } else {
      output.deltas(turn);
    }
  }

  @Override
  public void drained() throws Exception {
    output.endStep();
    dispatch();
  }

  /**
   * Ends a running or waiting turn early.
   *
   * @param remember whether the shown text becomes part of the history
   */
  public void cancel(
      SessionContext session,
      TurnQueues.Branch branch,
      TurnQueues.Entry turn,
      FinishReason reason,
      boolean remember)
      throws Exception {
    RunningTurn run = branch.running;
    if (run != null && run.pending().id() == turn.id()) {
      connection.cancel(run.requestId, reason);
      // if the prompt is not made by now, the engine computes nothing for the turn
      run.promptMade();
      cancelled.put(run.requestId, run);
      end(session, run, reason, null, remember);
      return;
    }
    RunningTurn paused = run == null ? starter.paused(session, branch, turn) : null;
    if (paused == null) {
      ends.endUnstarted(session, branch, turn, reason, null);
    } else {
      end(session, paused, reason, null, remember);
    }
  }

  /** Ends all turns of a branch, running or waiting. */
  public void cancelAll(SessionContext session, TurnQueues.Branch branch, boolean remember)
      throws Exception {
    for (TurnQueues.Entry turn : TurnQueues.turnsOf(branch)) {
      cancel(session, branch, turn, FinishReason.CANCELLED, remember);
    }
  }

  /** Ends all turns of a session that ends, and releases the pages that only this session uses. */
  public void endSession(SessionContext session) throws Exception {
    for (TurnQueues.Branch branch : queues.branches(session.id())) {
      cancelAll(session, branch, false);
    }
    expected.forget(session.id());
    connection.closeSession(session.id());
  }

  private void endLoaded(RunningTurn turn, FinishReason reason, ReplyError error) throws Exception {
    SessionContext session = sessions.load(turn.branch.session.id);
    end(session, turn, reason, error, true);
    session.save();
  }

  private void end(
      SessionContext session,
      RunningTurn turn,
      FinishReason reason,
      ReplyError error,
      boolean remember)
      throws Exception {
    boolean ran = running.remove(turn.requestId, turn);
    ends.end(session, turn, reason, error, remember, ran);
    boolean called = remember && reason == FinishReason.STOP && turn.parts().calls();
    expected.ended(session, turn, called);
  }

  /** Appends the progress of running turns to keyed state, before a checkpoint. */
  public void saveProgress() throws Exception {
    for (RunningTurn turn : running.values()) {
      TurnProgress gained = turn.takeUnsaved(starter.requests().model());
      if (gained != null) {
        sessions.select(turn.branch.session.id);
        sessions.progressOf(turn.pending().id()).add(gained);
      }
    }
  }

  /** Stops reading the engine's progress, and so stops emitting. */
  public void suspend() {
    connection.suspend();
  }

  /** Continues reading. */
  public void resume() throws Exception {
    connection.resume();
  }

  public void close() {
    connection.close();
  }
}
