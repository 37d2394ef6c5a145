package io.radixflow.operators.flink.turn.run;

import io.radixflow.operators.flink.state.SessionContext;
import io.radixflow.operators.session.PendingTurn;
import io.radixflow.operators.session.RefusedException;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.operators.session.ServingOptions.ModelChange;
import io.radixflow.operators.session.TurnPlan;
import io.radixflow.operators.session.TurnProgress;
import java.util.List;

/**
 * Creates a {@link RunningTurn} from a pending turn and its saved progress. Does not submit it to
 * the engine. Only the task's thread uses it.
 */
public final class TurnStarter {
  private final TurnPlanner planner;
  private final BranchChanges branches;
  private final EngineRequests requests;
  private final Logprobs logprobs;
  private final ModelChange modelChange;

  public TurnStarter(TurnPlanner planner, BranchChanges branches, EngineRequests requests) {
    this.planner = planner;
    this.branches = branches;
    this.requests = requests;
    this.logprobs = new Logprobs(requests.tokenizer());
    this.modelChange = options().modelChange();
  }

  ServingOptions options() {
    return requests.options();
  }

  EngineRequests requests() {
    return requests;
  }

  /**
   * Returns a turn for the engine. If a turn only changes the history, makes the change and returns
   * null.
   *
   * @throws RefusedException if the turn cannot run
   */
  RunningTurn start(SessionContext session, TurnQueues.Branch branch, PendingTurn turn)
      throws Exception {
    branches.check(session, turn);
    if (branches.apply(session, turn)) {
      return null;
    }
    TurnPlan plan = planner.plan(session, turn);
    return make(session, branch, turn, plan, usable(session, turn.id()));
  }

  /**
   * Returns a turn that ran before a restore and waits to continue or to end; null if it had no
   * progress. Changes nothing.
   */
  RunningTurn paused(SessionContext session, TurnQueues.Branch branch, TurnQueues.Entry turn)
      throws Exception {
    List<TurnProgress> gained = session.progress(turn.id());
    if (gained.isEmpty()) {
      return null;
    }
    PendingTurn pending = session.pending(turn.id());
    try {
      return make(session, branch, pending, planner.plan(session, pending), gained);
    } catch (RefusedException e) {
      return null;
    }
  }

  private RunningTurn make(
      SessionContext session,
      TurnQueues.Branch branch,
      PendingTurn turn,
      TurnPlan plan,
      List<TurnProgress> gained) {
    return new RunningTurn(
        branch,
        turn,
        plan,
        gained.isEmpty() ? requests.assembly(plan) : null,
        gained,
        requests.reader(session, turn, plan),
        logprobs);
  }

  /**
   * Returns the progress of a turn. If the progress is from another tokenizer, whose ids have no
   * meaning here, or if replies of another model start over, it deletes the progress and returns
   * none.
   */
  private List<TurnProgress> usable(SessionContext session, long turn) throws Exception {
    List<TurnProgress> gained = session.progress(turn);
    if (gained.isEmpty()
        || gained.get(0).prompt().isOf(requests.tokenizer().fingerprint())
            && (modelChange != ModelChange.RESTART || isOfThisModel(gained))) {
      return gained;
    }
    session.removeProgress(turn);
    return List.of();
  }

  /** Returns whether a turn must end because another model has begun its reply. */
  boolean endsWithItsModel(SessionContext session, PendingTurn turn) throws Exception {
    if (modelChange != ModelChange.END) {
      return false;
    }
    List<TurnProgress> gained = session.progress(turn.id());
    return !gained.isEmpty() && !isOfThisModel(gained);
  }

  private boolean isOfThisModel(List<TurnProgress> gained) {
    return requests.model().equals(gained.get(0).model());
  }
}
