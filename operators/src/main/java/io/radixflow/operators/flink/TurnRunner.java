package io.radixflow.operators.flink;

import io.radixflow.operators.engine.EngineRequest;
import io.radixflow.operators.engine.ReplyProgress;
import io.radixflow.operators.engine.SessionRef;
import io.radixflow.operators.record.CacheHints;
import io.radixflow.operators.record.EventKind;
import io.radixflow.operators.record.FinishReason;
import io.radixflow.operators.record.ServiceClass;
import io.radixflow.operators.session.CanonicalReply;
import io.radixflow.operators.session.NextPrompts;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.Progress;
import io.radixflow.operators.session.Prompt;
import io.radixflow.operators.session.PromptAssembly;
import io.radixflow.operators.session.SessionSlot;
import io.radixflow.operators.session.Turn;
import io.radixflow.operators.session.TurnOptions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.flink.streaming.api.operators.KeyContext;
import org.apache.flink.util.ExceptionUtils;

/**
 * Runs turns: starts those whose time has come, follows them, and ends each with exactly one reply.
 * Owns the turns that the engine works on. The task's thread alone calls it.
 *
 * <p>A turn ends in one place: output, history and the removal from the pending turns happen
 * together, within one mail, and so lie in the same checkpoint.
 */
final class TurnRunner implements EngineConnection.Reader {
  private final KeyContext keys;
  private final SessionState state;
  private final History history;
  private final TurnQueues queues;
  private final TurnPlanner planner;
  private final Prompts prompts;
  private final ServingOptions options;
  private final ServingEngine engine;
  private final ReplyOutput output;
  private final ServingMetrics metrics;
  private final PageHints hints;
  private final IdleSessions idle;
  private final SessionErasure pages;
  private final CanonicalReply canonical;
  private final NextPrompts nextPrompts;
  private final EngineConnection connection;
  private final Map<Long, RunningTurn> running = new HashMap<>();

  TurnRunner(
      KeyContext keys,
      SessionState state,
      History history,
      TurnQueues queues,
      TurnPlanner planner,
      Prompts prompts,
      ServingOptions options,
      ServingEngine engine,
      ReplyOutput output,
      ServingMetrics metrics,
      PageHints hints,
      IdleSessions idle,
      SessionErasure pages,
      Function<EngineConnection.Reader, EngineConnection> connect) {
    this.keys = keys;
    this.state = state;
    this.history = history;
    this.queues = queues;
    this.planner = planner;
    this.prompts = prompts;
    this.options = options;
    this.engine = engine;
    this.output = output;
    this.metrics = metrics;
    this.hints = hints;
    this.idle = idle;
    this.pages = pages;
    this.canonical = new CanonicalReply(engine.model());
    this.nextPrompts = new NextPrompts(engine.model());
    this.connection = connect.apply(this);
  }

  int running() {
    return running.size();
  }

  /** Starts turns while there is room. Changes the current key. */
  void dispatch() throws Exception {
    while (running.size() < options.maxRunning()) {
      TurnQueues.Branch branch = queues.pollReady();
      if (branch == null) {
        return;
      }
      keys.setCurrentKey(branch.session.id);
      TurnQueues.Entry first = branch.turns.peek();
      PendingTurn turn = state.pending(first.id());
      try {
        start(branch, first, turn);
      } catch (RefusedException e) {
        metrics.rejected();
        if (turn.turn() == null) {
          output.deadLetter(branch.session.id, turn, e.getMessage());
        }
        endUnstarted(branch, first, FinishReason.REJECTED, e.getMessage());
      }
    }
  }

  private void start(TurnQueues.Branch branch, TurnQueues.Entry entry, PendingTurn turn)
      throws Exception {
    if (!history.hasBranch(turn.branch())) {
      throw new RefusedException("there is no branch '" + turn.branch() + "'");
    }
    List<Turn> path = history.path(turn.branch());
    if (turn.kind() == EventKind.PREFETCH) { // of a version that made turns of announcements
      endUnstarted(branch, entry, FinishReason.STOP, null);
      return;
    }
    if (turn.kind() == EventKind.FORK) {
      if (history.forks() + 1 >= options.maxBranches()) {
        throw new RefusedException(
            "the session has its limit of %d branches".formatted(options.maxBranches()));
      }
      history.fork(turn.newBranch(), forkedAt(path, turn));
      endUnstarted(branch, entry, FinishReason.STOP, null);
      return;
    }
    SessionSlot slot = state.slot();
    String system = history.system(slot);
    submit(branch, turn, planner.plan(branch.session.id, slot, system, path, turn));
  }

  private static long forkedAt(List<Turn> path, PendingTurn fork) throws RefusedException {
    int at = TurnPlanner.indexOf(path, fork.atTurn());
    if (at < 0 && fork.atTurn() != null) {
      throw new RefusedException(
          "branch '%s' has no turn '%s'".formatted(fork.branch(), fork.atTurn()));
    }
    return at < 0 ? 0 : path.get(at).id();
  }

  private void submit(TurnQueues.Branch branch, PendingTurn turn, TurnPlan plan) throws Exception {
    List<Progress> gained = usable(state.progress(turn.id()), turn.id());
    TurnOptions given = plan.options();
    PromptAssembly assembly =
        gained.isEmpty()
            ? prompts.assembly(plan.conversation(), plan.messages(), given.maxTokens())
            : null;
    RunningTurn run =
        new RunningTurn(branch, turn, plan, connection.nextRequest(), assembly, gained);
    EngineRequest.PromptSource prompt = assembly == null ? run.prompt()::ids : assembly;
    if (plan.sharesSystemPrompt()) {
      prompt = prompts.shared(prompt, plan.conversation().system());
    }
    String tenant = state.slot().tenant();
    branch.running = run;
    running.put(run.requestId, run);
    connection.submit(
        run.requestId,
        EngineRequest.builder(branch.session.id + "/" + turn.turn(), prompt, given.maxTokens())
            .namespace(plan.namespace())
            .resumed(run.tokens())
            .sampling(given.sampling())
            .stop(given.stop())
            .session(
                new SessionRef(tenant, branch.session.id, turn.branch(), nextPrompt(run, assembly)))
            .service(new ServiceClass(tenant, given.priority(), branch.session.id))
            .hints(turn.cache() == null ? CacheHints.NONE : turn.cache())
            .build());
  }

  /** What tells the prompt after a reply; null if that prompt only grows. */
  private SessionRef.NextPrompt nextPrompt(RunningTurn run, PromptAssembly assembly) {
    if (!nextPrompts.dropsThinking()) {
      return null;
    }
    Prompt made = run.prompt();
    return nextPrompts.after(
        assembly == null ? () -> made : assembly::prompt,
        run.plan.conversation(),
        run.plan.messages(),
        run.plan.options().stop());
  }

  /** Progress of another tokenizer means nothing here: the turn starts anew. */
  private List<Progress> usable(List<Progress> gained, long id) throws Exception {
    if (gained.isEmpty() || ofThisTokenizer(gained)) {
      return gained;
    }
    state.removeProgress(id);
    return List.of();
  }

  private boolean ofThisTokenizer(List<Progress> gained) {
    String tokenizer = engine.model().tokenizer().fingerprint();
    return gained.get(0).prompt().tokenizer().equals(tokenizer);
  }

  @Override
  public void prompt(long requestId, int[] prompt) {
    RunningTurn turn = running.get(requestId);
    if (turn != null) {
      turn.promptMade();
    }
  }

  @Override
  public void progress(long requestId, ReplyProgress progress) {
    RunningTurn turn = running.get(requestId);
    if (turn == null) {
      return; // it ended here before the engine knew
    }
    try {
      follow(turn, progress);
    } catch (Exception e) {
      ExceptionUtils.rethrow(e);
    }
  }

  private void follow(RunningTurn turn, ReplyProgress progress) throws Exception {
    try {
      turn.add(progress, Logprobs.of(progress, engine.model().tokenizer()));
    } catch (IllegalStateException e) {
      connection.cancel(turn.requestId, FinishReason.CANCELLED);
      end(turn, FinishReason.ERROR, null, e.getMessage(), false);
      return;
    }
    if (progress.tokenOffset() == 0 && progress.tokens().length > 0) {
      metrics.firstToken(output.now() - turn.pending.accepted());
    }
    if (progress.finish() != null) {
      end(turn, progress.finish(), progress, progress.error(), true);
    } else if (!progress.text().isEmpty()) {
      output.delta(turn, progress);
      turn.markShown();
    }
  }

  @Override
  public void drained() throws Exception {
    dispatch();
  }

  /**
   * Ends a turn, running or waiting, before its time. The current key is its session's.
   *
   * @param remember whether what was shown of it becomes part of the history
   */
  void cancel(
      TurnQueues.Branch branch, TurnQueues.Entry turn, FinishReason reason, boolean remember)
      throws Exception {
    RunningTurn run = branch.running;
    if (run != null && run.pending.id() == turn.id()) {
      connection.cancel(run.requestId, reason);
      end(run, reason, null, null, remember);
      return;
    }
    RunningTurn paused = run == null ? paused(branch, turn) : null;
    if (paused == null) {
      endUnstarted(branch, turn, reason, null);
    } else {
      end(paused, reason, null, null, remember);
    }
  }

  /** A turn that ran before a restore and waits to go on; null if it gained nothing of use. */
  private RunningTurn paused(TurnQueues.Branch branch, TurnQueues.Entry turn) throws Exception {
    List<Progress> gained = state.progress(turn.id());
    if (gained.isEmpty() || !ofThisTokenizer(gained)) {
      return null;
    }
    PendingTurn pending = state.pending(turn.id());
    SessionSlot slot = state.slot();
    List<Turn> path = history.path(pending.branch());
    try {
      TurnPlan plan = planner.plan(branch.session.id, slot, history.system(slot), path, pending);
      return new RunningTurn(branch, pending, plan, connection.nextRequest(), null, gained);
    } catch (RefusedException e) {
      return null;
    }
  }

  private void endUnstarted(
      TurnQueues.Branch branch, TurnQueues.Entry turn, FinishReason reason, String error)
      throws Exception {
    List<Progress> gained = state.progress(turn.id());
    String shown = gained.stream().map(Progress::text).collect(Collectors.joining());
    output.end(branch.session.id, turn, reason, shown, error);
    state.removePending(turn.id());
    if (!gained.isEmpty()) {
      state.removeProgress(turn.id());
    }
    queues.remove(branch, turn);
    hints.count(branch.session.id, state.slot(), false);
  }

  private void end(
      RunningTurn turn, FinishReason reason, ReplyProgress last, String error, boolean remember)
      throws Exception {
    keys.setCurrentKey(turn.branch.session.id);
    boolean ran = running.remove(turn.requestId, turn);
    turn.branch.running = null;
    output.end(turn, reason, last, error);
    SessionSlot slot = state.slot();
    if (remember && isRemembered(turn, reason)) {
      pages.append(slot, turn, remembered(turn, reason));
    } else {
      pages.dropped(slot, turn);
    }
    state.removePending(turn.pending.id());
    if (turn.isSaved()) {
      state.removeProgress(turn.pending.id());
    }
    if (ran && !engine.instance().equals(slot.servedBy())) {
      slot = slot.served(engine.instance(), pages.mayHaveRunElsewhere(turn));
      state.putSlot(slot);
    }
    boolean failed = reason == FinishReason.ERROR || reason == FinishReason.REJECTED;
    boolean left = !failed && hints.ended(turn);
    queues.remove(turn.branch, TurnQueues.Entry.of(turn.pending));
    hints.count(turn.branch.session.id, slot, left);
    metrics.generated(turn.usage());
  }

  /** A whole reply is; of a cancelled message what was shown, since the user has read it. */
  private static boolean isRemembered(RunningTurn turn, FinishReason reason) {
    return switch (reason) {
      case STOP, LENGTH, TOOL_CALLS -> turn.prompt() != null;
      case CANCELLED -> turn.pending.kind() == EventKind.MESSAGE && turn.codePoints() > 0;
      case REPLACED, REJECTED, ERROR -> false;
    };
  }

  private Turn remembered(RunningTurn turn, FinishReason reason) {
    TurnPlan plan = turn.plan;
    Prompt prompt = turn.prompt();
    int[] reply = canonical.ids(turn.tokens(), turn.text());
    int added = prompt.ids().length - prompt.keep();
    int[] ids = Arrays.copyOfRange(prompt.ids(), prompt.keep(), prompt.ids().length + reply.length);
    System.arraycopy(reply, 0, ids, added, reply.length);
    return new Turn(
        turn.pending.id(),
        plan.parent(),
        plan.conversation().depth(),
        plan.turn(),
        turn.pending.turn(),
        plan.messages(),
        plan.given(),
        plan.regeneration(),
        turn.text(),
        ReplyOutput.lowerCase(reason),
        prompt.keep(),
        ids,
        prompt.tokenizer(),
        prompt.dropped());
  }

  /** Takes from the cache what only a session without turns uses. */
  void closeSession(String session) {
    connection.closeSession(session);
    idle.remove(session);
  }

  /** Appends what running turns gained to keyed state; before a checkpoint. */
  void saveProgress() throws Exception {
    for (RunningTurn turn : running.values()) {
      Progress gained = turn.takeUnsaved();
      if (gained != null) {
        keys.setCurrentKey(turn.branch.session.id);
        state.addProgress(turn.pending.id(), gained);
      }
    }
  }

  /** Stops reading and so emitting. */
  void suspend() {
    connection.suspend();
  }

  /** Reads on. */
  void resume() throws Exception {
    connection.resume();
  }

  void close() {
    connection.close();
  }
}
