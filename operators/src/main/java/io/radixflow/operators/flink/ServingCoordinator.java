package io.radixflow.operators.flink;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.apache.flink.runtime.checkpoint.CheckpointCoordinator;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * The serving operator's coordinator in the JobManager. It runs on the JobManager's main thread.
 *
 * <p>It delays periodic checkpoints until all subtasks are open. Loading a model takes seconds or
 * minutes; during this time each checkpoint would fail, because a task does not run yet. The
 * coordinator reports a backlog, and the job is configured not to take checkpoints during a
 * backlog. Flink still tries the first checkpoint.
 *
 * <p>It forwards keys of pages and erasures to all subtasks, including the sender. Only the subtask
 * of a session knows the session's pages, and only the engines know which of these pages they have.
 * The coordinator has no state after all subtasks are open, and no checkpoint is taken before that.
 * If an event is sent before the coordinator's part of a checkpoint, Flink delivers it before the
 * subtasks' parts. So a sender that gets its own erasure back knows that all subtasks have it, and
 * that every checkpoint contains it until all are done. An erasure that was lost earlier is in the
 * sender's state.
 */
final class ServingCoordinator implements OperatorCoordinator {
  /** Sent to the JobManager when a subtask is open. */
  record SubtaskOpened() implements OperatorEvent {}

  private final IntSupplier parallelism;
  private final Consumer<Boolean> backlog;
  private final Map<Integer, SubtaskGateway> subtasks = new HashMap<>();
  private final Set<Integer> opened = new HashSet<>();

  /** Events for subtasks that are not open yet. */
  private final List<OperatorEvent> early = new ArrayList<>();

  /**
   * @param parallelism how many subtasks there are
   * @param backlog called with true to delay checkpoints, and with false to allow them
   */
  ServingCoordinator(IntSupplier parallelism, Consumer<Boolean> backlog) {
    this.parallelism = parallelism;
    this.backlog = backlog;
  }

  /** Creates the coordinator in the JobManager. */
  record Provider(OperatorID operator) implements OperatorCoordinator.Provider {
    @Override
    public OperatorID getOperatorId() {
      return operator;
    }

    @Override
    public OperatorCoordinator create(Context context) {
      return new ServingCoordinator(
          context::currentParallelism,
          held -> {
            CheckpointCoordinator checkpoints = context.getCheckpointCoordinator();
            if (checkpoints != null) { // a job without checkpoints has none
              checkpoints.setIsProcessingBacklog(operator, held);
            }
          });
    }
  }

  @Override
  public void start() {
    backlog.accept(true);
  }

  @Override
  public void handleEventFromOperator(int subtask, int attempt, OperatorEvent event) {
    if (event instanceof SubtaskOpened) {
      opened.add(subtask);
      if (opened.size() == parallelism.getAsInt()) {
        backlog.accept(false);
      }
    } else {
      passOn(event);
    }
  }

  private void passOn(OperatorEvent event) {
    subtasks.values().forEach(each -> each.sendEvent(event));
    if (subtasks.size() < parallelism.getAsInt()) {
      early.add(event);
    }
  }

  @Override
  public void executionAttemptReady(int subtask, int attempt, SubtaskGateway gateway) {
    subtasks.put(subtask, gateway);
    early.forEach(gateway::sendEvent);
    if (subtasks.size() >= parallelism.getAsInt()) {
      early.clear();
    }
  }

  @Override
  public void executionAttemptFailed(int subtask, int attempt, Throwable reason) {
    ended(subtask);
  }

  @Override
  public void subtaskReset(int subtask, long checkpoint) {
    ended(subtask);
  }

  private void ended(int subtask) {
    subtasks.remove(subtask);
    opened.remove(subtask);
    backlog.accept(true);
  }

  @Override
  public void checkpointCoordinator(long checkpoint, CompletableFuture<byte[]> state) {
    state.complete(new byte[0]);
  }

  @Override
  public void resetToCheckpoint(long checkpoint, byte[] state) {
    subtasks.clear();
    opened.clear();
    early.clear();
  }

  @Override
  public void notifyCheckpointComplete(long checkpoint) {
    // there is nothing to commit
  }

  @Override
  public void close() {
    subtasks.clear();
  }
}
