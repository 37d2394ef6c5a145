package io.radixflow.operators.flink;

import io.radixflow.operators.flink.engine.CheckpointedDisks;
import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.operators.flink.engine.EngineLease;
import io.radixflow.operators.flink.recovery.LostReplies;
import io.radixflow.operators.flink.state.ControlState;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.control.ControlEvent;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.runtime.checkpoint.CheckpointOptions;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.apache.flink.runtime.operators.coordination.OperatorEventGateway;
import org.apache.flink.runtime.operators.coordination.OperatorEventHandler;
import org.apache.flink.runtime.state.CheckpointStreamFactory;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.runtime.state.VoidNamespace;
import org.apache.flink.runtime.state.VoidNamespaceSerializer;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedMultiInput;
import org.apache.flink.streaming.api.operators.InternalTimer;
import org.apache.flink.streaming.api.operators.InternalTimerService;
import org.apache.flink.streaming.api.operators.OperatorSnapshotFutures;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.Triggerable;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Serves the conversations of its key groups: events in, replies out, on the TaskManager's engine.
 *
 * <p>It translates Flink's calls to calls of its {@link ServingSubtask}, which {@link #open}
 * creates.
 *
 * <p>Invariants:
 *
 * <ul>
 *   <li>A turn is in keyed state from the mail that accepts it to the mail that emits its reply. So
 *       running turns need no other state in a checkpoint, and they move with their key group.
 *   <li>{@link #processElement1} never waits.
 *   <li>Everything runs on the task's thread, to which the engine sends mails.
 * </ul>
 */
final class ServingOperator extends AbstractStreamOperator<Reply>
    implements TwoInputStreamOperator<ConversationEvent, ControlEvent, Reply>,
        Triggerable<String, VoidNamespace>,
        BoundedMultiInput,
        OperatorEventHandler {
  private static final long serialVersionUID = 1L;
  private static final int EVENTS = 1;

  private final transient EngineFactory factory;
  private final transient ServingOptions options;
  private final transient LostReplies lost;
  private final transient boolean indexed;
  private final transient MailboxExecutor mailbox;
  private final transient OperatorEventGateway coordinator;

  private transient EngineLease lease;
  private transient ServingSubtask subtask;

  /** The id of the synchronous savepoint after which nothing may be emitted, or null. */
  private transient Long lastSavepoint;

  ServingOperator(
      StreamOperatorParameters<Reply> parameters,
      EngineFactory factory,
      ServingOptions options,
      LostReplies lost,
      boolean indexed,
      OperatorEventGateway coordinator) {
    super(parameters);
    this.coordinator = coordinator;
    this.factory = factory;
    this.options = options;
    this.lost = lost;
    this.indexed = indexed;
    this.mailbox = parameters.getMailboxExecutor();
  }

  @Override
  public void open() throws Exception {
    super.open();
    ControlState control = new ControlState(getOperatorStateBackend(), options);
    CheckpointedDisks disks = new CheckpointedDisks(getOperatorStateBackend());
    lease =
        EngineLease.acquire(
            environment(), getRuntimeContext(), factory, disks.restored(), control.tiers());
    subtask = new ServingSubtask(this, lease, control, disks, options, lost, indexed);
    subtask.start();
    coordinator.sendEventToCoordinator(new ServingCoordinator.SubtaskOpened());
  }

  Environment environment() {
    return getContainingTask().getEnvironment();
  }

  MailboxExecutor mailbox() {
    return mailbox;
  }

  OperatorEventGateway coordinator() {
    return coordinator;
  }

  Output<StreamRecord<Reply>> output() {
    return output;
  }

  /** Returns the service of the sessions' timers, which call {@link #onProcessingTime}. */
  InternalTimerService<VoidNamespace> timers() {
    return getInternalTimerService("idle-sessions", VoidNamespaceSerializer.INSTANCE, this);
  }

  ServingSubtask subtask() {
    return subtask;
  }

  @Override
  public void processElement1(StreamRecord<ConversationEvent> element) throws Exception {
    subtask.handle(element.getValue());
  }

  @Override
  public void processElement2(StreamRecord<ControlEvent> element) throws Exception {
    subtask.handle(element.getValue());
  }

  @Override
  public void handleOperatorEvent(OperatorEvent event) {
    subtask.handle(event);
  }

  @Override
  public void onProcessingTime(InternalTimer<String, VoidNamespace> timer) throws Exception {
    subtask.timer(timer.getKey());
  }

  @Override
  public void onEventTime(InternalTimer<String, VoidNamespace> timer) {
    throw new IllegalStateException("there are no event-time timers");
  }

  @Override
  public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
    super.prepareSnapshotPreBarrier(checkpointId);
    subtask.answerQueries();
  }

  @Override
  public void snapshotState(StateSnapshotContext context) throws Exception {
    super.snapshotState(context);
    subtask.save(context.getCheckpointId());
  }

  /**
   * Suspends output after the barrier of a stop-with-savepoint. Mails continue until the savepoint
   * is complete, but their output would not be in the savepoint and would be emitted again.
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
      subtask.suspend();
    }
    return super.snapshotState(checkpointId, timestamp, checkpointOptions, factory);
  }

  @Override
  public void notifyCheckpointComplete(long checkpointId) throws Exception {
    super.notifyCheckpointComplete(checkpointId);
    subtask.complete(checkpointId);
  }

  @Override
  public void notifyCheckpointAborted(long checkpointId) throws Exception {
    super.notifyCheckpointAborted(checkpointId);
    if (lastSavepoint != null && lastSavepoint == checkpointId) {
      lastSavepoint = null;
      subtask.resume();
    }
  }

  @Override
  public void endInput(int input) throws Exception {
    if (input == EVENTS) {
      while (subtask.isBusy()) {
        mailbox.yield();
      }
      subtask.answerQueries();
    }
  }

  @Override
  public void close() throws Exception {
    try (AutoCloseable leased = lease;
        AutoCloseable parts = subtask) {
      // closes the subtask, then the lease
    } finally {
      super.close();
    }
  }
}
