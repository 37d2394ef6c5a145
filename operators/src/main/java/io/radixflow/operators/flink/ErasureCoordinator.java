package io.radixflow.operators.flink;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntSupplier;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * Passes erasures of pages on to all subtasks, the one that sent it included: only the subtask that
 * has a session knows its pages, and only the engines know which of them they have.
 *
 * <p>Keeps nothing once all subtasks have begun, before which there is no checkpoint. Flink
 * delivers what is sent before a checkpoint of this within that checkpoint of each subtask, so a
 * sender that has its own erasure back knows that all have it, and then no checkpoint is without it
 * until all are done. One that was lost before is in the sender's state. Runs in the JobManager's
 * main thread.
 */
final class ErasureCoordinator implements OperatorCoordinator {
  private final IntSupplier parallelism;
  private final Map<Integer, SubtaskGateway> subtasks = new HashMap<>();

  /** What subtasks are to get that have not begun yet: a model may take long to load. */
  private final List<OperatorEvent> early = new ArrayList<>();

  /**
   * @param parallelism how many subtasks there are
   */
  ErasureCoordinator(IntSupplier parallelism) {
    this.parallelism = parallelism;
  }

  /** Makes the coordinator, in the JobManager. */
  record Provider(OperatorID operator) implements OperatorCoordinator.Provider {
    @Override
    public OperatorID getOperatorId() {
      return operator;
    }

    @Override
    public OperatorCoordinator create(Context context) {
      return new ErasureCoordinator(context::currentParallelism);
    }
  }

  @Override
  public void handleEventFromOperator(int subtask, int attempt, OperatorEvent event) {
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
    subtasks.remove(subtask);
  }

  @Override
  public void subtaskReset(int subtask, long checkpoint) {
    subtasks.remove(subtask);
  }

  @Override
  public void checkpointCoordinator(long checkpoint, CompletableFuture<byte[]> state) {
    state.complete(new byte[0]);
  }

  @Override
  public void resetToCheckpoint(long checkpoint, byte[] state) {
    subtasks.clear();
    early.clear();
  }

  @Override
  public void notifyCheckpointComplete(long checkpoint) {
    // there is nothing to commit
  }

  @Override
  public void start() {
    // there is nothing to begin
  }

  @Override
  public void close() {
    subtasks.clear();
  }
}
