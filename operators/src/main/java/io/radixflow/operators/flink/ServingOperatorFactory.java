package io.radixflow.operators.flink;

import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.operators.flink.recovery.LostReplies;
import io.radixflow.operators.flink.turn.run.ReplyOutput;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.control.ControlEvent;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.runtime.operators.coordination.OperatorEventDispatcher;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.ChainingStrategy;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperatorFactory;

/**
 * Creates serving operators. Use it like this:
 *
 * <pre>{@code
 * events.keyBy(ConversationEvent::session)
 *     .connect(control.broadcast())
 *     .transform("serving", TypeInformation.of(Reply.class), new ServingOperatorFactory(engine, options))
 *     .uid("serving")
 * }</pre>
 *
 * Read {@link ReplyOutput#DELTAS} and {@link ReplyOutput#REJECTED} with {@code getSideOutput}.
 */
public final class ServingOperatorFactory extends AbstractStreamOperatorFactory<Reply>
    implements TwoInputStreamOperatorFactory<ConversationEvent, ControlEvent, Reply>,
        CoordinatedOperatorFactory<Reply> {
  private static final long serialVersionUID = 1L;

  private final EngineFactory engine;
  private final ServingOptions options;
  private final LostReplies lost;
  private final boolean indexed;

  /** Creates a factory of operators without an index, whose output loses no replies. */
  public ServingOperatorFactory(EngineFactory engine, ServingOptions options) {
    this(engine, options, null, false);
  }

  /**
   * @param engine opens the engine once per TaskManager
   * @param options limits, retention and defaults
   * @param lost finds replies that the output has lost; null if it loses none
   * @param indexed whether to make the entries of the conversation index
   */
  public ServingOperatorFactory(
      EngineFactory engine, ServingOptions options, LostReplies lost, boolean indexed) {
    this.engine = engine;
    this.options = options;
    this.lost = lost;
    this.indexed = indexed;
    this.chainingStrategy = ChainingStrategy.ALWAYS;
  }

  @Override
  @SuppressWarnings("unchecked")
  public <T extends StreamOperator<Reply>> T createStreamOperator(
      StreamOperatorParameters<Reply> parameters) {
    OperatorID id = parameters.getStreamConfig().getOperatorID();
    OperatorEventDispatcher dispatcher = parameters.getOperatorEventDispatcher();
    ServingOperator operator =
        new ServingOperator(
            parameters, engine, options, lost, indexed, dispatcher.getOperatorEventGateway(id));
    dispatcher.registerEventHandler(id, operator);
    return (T) operator;
  }

  @Override
  public OperatorCoordinator.Provider getCoordinatorProvider(String name, OperatorID id) {
    return new ServingCoordinator.Provider(id);
  }

  @Override
  @SuppressWarnings("rawtypes")
  public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
    return ServingOperator.class;
  }
}
