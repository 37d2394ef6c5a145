package io.radixflow.operators.flink.turn;

import io.radixflow.engine.ReplyProgress;
import io.radixflow.operators.flink.engine.EngineConnection;
import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.flink.state.SessionStore;
import io.radixflow.operators.prompt.PromptAssembly;
import io.radixflow.operators.session.Conversation;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.ServingOptions.ModelChange;
import io.radixflow.operators.session.TurnProgress;
import io.radixflow.protocol.record.CacheHints;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.ErrorCode;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.FinishReason;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyError;
import io.radixflow.protocol.record.Usage;
import io.radixflow.text.tokenizer.Tokenizer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.flink.util.ExceptionUtils;

/**
 * Runs turns: starts turns when they may run, follows them, and ends each turn with exactly one
 * reply. Owns the turns that the engine works on. Only the task's thread uses it.
 *
 * <p>A turn ends in one method: output, history and the removal from the pending turns happen
 * together, within one mail, and so are part of the same checkpoint.
 */
public final class TurnRunner implements EngineConnection.Reader {
  private final SessionStore sessions;
  private final TurnQueues queues;
  private final BranchSelector branches;
  private final TurnPlanner planner;
  private final EngineRequests requests;
  private final SessionHistoryWriter writer;
  private final ReplyOutput output;
  private final EngineConnection connection;
  private final AwaitedResults results;
  private final Tokenizer tokenizer;
  private final Logprobs logprobs;
  private final String model;
  private final ModelChange modelChange;
  private final int maxRunning;
  private final int maxBranches;
  private final Map<Long, RunningTurn> running = new HashMap<>();

  /**
   * Turns that ended here before the engine learned it; they stay here until the engine reports
   * their end.
   */
  private final Map<Long, RunningTurn> cancelled = new HashMap<>();

  /**
   * @param connect opens the connection to the engine, whose progress this reads
   */
  public TurnRunner(
      SessionStore sessions,
      TurnQueues queues,
      BranchSelector branches,
      EngineRequests requests,
      SessionHistoryWriter writer,
      ReplyOutput output,
      Function<EngineConnection.Reader, EngineConnection> connect) {
    this.sessions = sessions;
    this.queues = queues;
    this.branches = branches;
    ServingOptions options = requests.options();
    this.planner = new TurnPlanner(options);
    this.requests = requests;
    this.writer = writer;
    this.output = output;
    this.tokenizer = requests.tokenizer();
    this.logprobs = new Logprobs(tokenizer);
    this.model = requests.model();
    this.modelChange = options.modelChange();
    this.maxRunning = options.limits().maxRunning();
    this.maxBranches = options.limits().maxBranches();
    this.connection = connect.apply(this);
    this.results = new AwaitedResults(requests, connection);
  }

  /** Returns the number of turns that the engine works on. */
  public int running() {
    return running.size();
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
    while (running.size() < maxRunning) {
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
        if (modelChange == ModelChange.END && hasBegunWithAnotherModel(session, turn)) {
          cancel(session, branch, first, FinishReason.CANCELLED, true);
        } else {
          start(session, branch, turn);
        }
      } catch (RefusedException e) {
        output.refused(session, turn, e.getMessage());
        endUnstarted(session, branch, first, FinishReason.REJECTED, e.error());
      }
      session.save();
    }
  }

  private void start(SessionContext session, TurnQueues.Branch branch, PendingTurn turn)
      throws Exception {
    branches.check(session, turn);
    if (!session.history().hasBranch(turn.branch())) {
      throw new RefusedException(
          ErrorCode.UNKNOWN_BRANCH, "there is no branch '" + turn.branch() + "'");
    }
    if (turn.kind() == EventKind.FORK) {
      fork(session, turn);
      endUnstarted(session, branch, branch.turns.peek(), FinishReason.STOP, null);
      return;
    }
    if (turn.kind() == EventKind.APPEND) {
      session.history().append(turn.branch(), TurnPlanner.appended(session, turn));
      endUnstarted(session, branch, branch.turns.peek(), FinishReason.STOP, null);
      return;
    }
    TurnPlan plan = planner.plan(session, turn);
    List<TurnProgress> gained = usable(session, turn.id());
    PromptAssembly assembly = gained.isEmpty() ? requests.assembly(plan) : null;
    RunningTurn run =
        new RunningTurn(
            branch,
            turn,
            plan,
            connection.nextRequest(),
            assembly,
            gained,
            requests.reader(session, turn, plan));
    run.startedMillis = output.since(turn);
    branch.running = run;
    running.put(run.requestId, run);
    connection.submit(run.requestId, requests.run(session, run));
    output.submitted(run);
  }

  private void fork(SessionContext session, PendingTurn turn) throws Exception {
    if (session.history().forks() + 1 >= maxBranches) {
      throw new RefusedException("the session has its limit of %d branches".formatted(maxBranches));
    }
    session.history().fork(turn.newBranch(), TurnPlanner.forkedAt(session, turn));
  }

  /**
   * Returns the progress of a turn. If the progress is from another tokenizer, whose ids have no
   * meaning here, or if replies of another model start over, it deletes the progress and returns
   * none.
   */
  private List<TurnProgress> usable(SessionContext session, long turn) throws Exception {
    List<TurnProgress> gained = session.progress(turn);
    if (gained.isEmpty()
        || isOfThisTokenizer(gained)
            && (modelChange != ModelChange.RESTART || isOfThisModel(gained))) {
      return gained;
    }
    session.removeProgress(turn);
    return List.of();
  }

  private boolean hasBegunWithAnotherModel(SessionContext session, PendingTurn turn)
      throws Exception {
    List<TurnProgress> gained = session.progress(turn.id());
    return !gained.isEmpty() && !isOfThisModel(gained);
  }

  private boolean isOfThisModel(List<TurnProgress> gained) {
    return model.equals(gained.get(0).model());
  }

  private boolean isOfThisTokenizer(List<TurnProgress> gained) {
    return gained.get(0).prompt().isOf(tokenizer.fingerprint());
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

  /** Erases the pages that the engine computed of a turn before it knew of the cancel. */
  private void followCancelled(long requestId, ReplyProgress progress) throws Exception {
    RunningTurn turn =
        progress.finish() == null ? cancelled.get(requestId) : cancelled.remove(requestId);
    if (turn == null) {
      return;
    }
    int known = turn.usage().completionTokens();
    turn.add(progress, List.of(), List.of());
    if (writer.hasMorePages(turn, known)) {
      writer.computedMore(sessions.load(turn.branch.session.id), turn);
    }
  }

  private void follow(RunningTurn turn, ReplyProgress progress) throws Exception {
    try {
      List<Reply.TokenLogprob> ofPrompt = logprobs.of(progress.prompt());
      turn.add(progress, logprobs.of(progress.logprobs()), ofPrompt);
      turn.cutPrompt(logprobs);
    } catch (IllegalStateException e) {
      connection.cancel(turn.requestId, FinishReason.CANCELLED);
      endLoaded(turn, FinishReason.ERROR, ReplyError.failed(e.getMessage()));
      return;
    }
    if (progress.tokenOffset() == 0 && progress.tokens().length > 0) {
      output.firstToken(turn);
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
   * Ends a turn, running or waiting, before its time.
   *
   * @param remember whether its shown text becomes part of the history
   */
  void cancel(
      SessionContext session,
      TurnQueues.Branch branch,
      TurnQueues.Entry turn,
      FinishReason reason,
      boolean remember)
      throws Exception {
    RunningTurn run = branch.running;
    if (run != null && run.pending.id() == turn.id()) {
      connection.cancel(run.requestId, reason);
      run.promptMade(); // without a prompt by now, the engine computes nothing of the turn
      cancelled.put(run.requestId, run);
      end(session, run, reason, null, remember);
      return;
    }
    RunningTurn paused = run == null ? paused(session, branch, turn) : null;
    if (paused == null) {
      endUnstarted(session, branch, turn, reason, null);
    } else {
      end(session, paused, reason, null, remember);
    }
  }

  /** Ends all turns of a branch, running or waiting. */
  void cancelAll(SessionContext session, TurnQueues.Branch branch, boolean remember)
      throws Exception {
    for (TurnQueues.Entry turn : TurnQueues.turnsOf(branch)) {
      cancel(session, branch, turn, FinishReason.CANCELLED, remember);
    }
  }

  /** Ends all turns of a session, which itself ends, and releases what only it has cached. */
  void endSession(SessionContext session) throws Exception {
    TurnQueues.Session turns = queues.session(session.id());
    if (turns != null) {
      for (TurnQueues.Branch branch : turns.branches()) {
        cancelAll(session, branch, false);
      }
    }
    results.forget(session.id());
    connection.closeSession(session.id());
  }

  /**
   * Returns a turn that ran before a restore and waits to continue or to end; null if it had no
   * progress.
   */
  RunningTurn paused(SessionContext session, TurnQueues.Branch branch, TurnQueues.Entry turn)
      throws Exception {
    List<TurnProgress> gained = session.progress(turn.id());
    if (gained.isEmpty()) {
      return null;
    }
    PendingTurn pending = session.pending(turn.id());
    try {
      TurnPlan plan = planner.plan(session, pending);
      return new RunningTurn(
          branch,
          pending,
          plan,
          connection.nextRequest(),
          null,
          gained,
          requests.reader(session, pending, plan));
    } catch (RefusedException e) {
      return null;
    }
  }

  private void endUnstarted(
      SessionContext session,
      TurnQueues.Branch branch,
      TurnQueues.Entry turn,
      FinishReason reason,
      ReplyError error)
      throws Exception {
    List<TurnProgress> gained = session.progress(turn.id());
    String shown = gained.stream().map(TurnProgress::text).collect(Collectors.joining());
    output.end(session, turn, reason, shown, error);
    if (reason != FinishReason.STOP && turn.kind() != EventKind.FORK && turn.turn() != null) {
      session.addEndedTurn(
          TurnStates.ended(
              session.pending(turn.id()), output.now(), shown, reason, Usage.NONE, error));
    }
    session.removePending(turn.id(), !gained.isEmpty());
    queues.remove(branch, turn);
    branches.ended(session, branch.name, turn.id());
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
    turn.branch.running = null;
    output.end(session, turn, reason, error);
    writer.ended(session, turn, reason, error, remember, ran);
    queues.remove(turn.branch, TurnQueues.Entry.of(turn.pending));
    branches.ended(session, turn.branch.name, turn.pending.id());
    boolean called = remember && reason == FinishReason.STOP && turn.parts().calls();
    expectResults(session, turn, called);
  }

  /**
   * Lets the engine keep the pages of a conversation whose reply called tools, since the results
   * come soon. A reply without tool calls releases the pages that were kept for it.
   */
  private void expectResults(SessionContext session, RunningTurn turn, boolean called)
      throws Exception {
    String branch = turn.pending.branch();
    CacheHints hints = turn.pending.cache();
    boolean stored = hints == null || !hints.noStore();
    if (called && stored && !queues.has(session.id(), branch)) {
      output.prefetched(results.expect(session, turn));
    } else {
      results.takeBack(session, branch);
    }
  }

  /**
   * Cancels the expectation of tool results.
   *
   * @param turn the turn that called the tools; null for the latest turn of the branch
   */
  void cancelResults(SessionContext session, String branch, String turn) {
    if (turn == null) {
      results.takeBack(session, branch);
    } else {
      results.takeBackTurn(session, turn);
    }
  }

  /**
   * Lets the engine prepare the pages of an announced turn. The preparation is not in state: it
   * does not change replies, and after a failure the turn runs without it. Does nothing if the
   * branch has turns, because their pages are ready or on their way, or if the branch has no text
   * that a prompt could begin with.
   */
  void expect(SessionContext session, ConversationEvent event) throws Exception {
    String branch = event.branch();
    if (!session.history().hasBranch(branch) || queues.has(session.id(), branch)) {
      return;
    }
    Conversation conversation = session.conversation(branch);
    if (!conversation.isEmpty()) {
      boolean taken = connection.prefetch(requests.expected(session, event, conversation));
      output.prefetched(taken);
    }
  }

  /** Appends the progress of running turns to keyed state, before a checkpoint. */
  public void saveProgress() throws Exception {
    for (RunningTurn turn : running.values()) {
      TurnProgress gained = turn.takeUnsaved(model);
      if (gained != null) {
        sessions.select(turn.branch.session.id);
        sessions.progressOf(turn.pending.id()).add(gained);
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
