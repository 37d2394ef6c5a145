package io.radixflow.operators.api;

import io.radixflow.operators.flink.ServingOperatorFactory;
import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.operators.flink.recovery.LostReplies;
import io.radixflow.operators.flink.state.SavedState;
import io.radixflow.operators.flink.turn.end.ConversationIndex;
import io.radixflow.operators.flink.turn.run.ReplyOutput;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.PublicApi;
import io.radixflow.protocol.record.ConversationEntry;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.RejectedEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.control.ControlEvent;
import java.util.Objects;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.util.Collector;

/**
 * Serves conversations inside a Flink job.
 *
 * <pre>{@code
 * Conversations.Served served =
 *     Conversations.on(ModelEngine.of("SmolLM2-135M-Instruct"))
 *         .serve(questions, q -> ConversationEvent.message(q.user(), q.id(), q.text()));
 * served.replies().sinkTo(answers);
 * }</pre>
 *
 * <p>The job builder calls this once per serving operator. State is keyed by {@link
 * ConversationEvent#session}; each event with a turn id gets exactly one reply. An instance is
 * immutable and belongs to the thread that builds the job.
 */
@PublicApi
public final class Conversations {
  private final EngineFactory engine;
  private final ServingOptions options;
  private final DataStream<ControlEvent> control;
  private final LostReplies lost;
  private final boolean indexed;
  private final String uid;

  private Conversations(
      EngineFactory engine,
      ServingOptions options,
      DataStream<ControlEvent> control,
      LostReplies lost,
      boolean indexed,
      String uid) {
    this.engine = Objects.requireNonNull(engine, "engine");
    this.options = Objects.requireNonNull(options, "options");
    this.control = control;
    this.lost = lost;
    this.indexed = indexed;
    this.uid = Objects.requireNonNull(uid, "uid");
  }

  /**
   * Serves with an engine, default options, and no control events.
   *
   * @param engine opens the engine once per TaskManager; {@link ModelEngine} makes one
   */
  public static Conversations on(EngineFactory engine) {
    return new Conversations(
        engine, ServingOptions.DEFAULT, null, null, false, SavedState.OPERATOR_UID);
  }

  /** Returns a copy with other limits, retention and generation defaults. */
  public Conversations with(ServingOptions other) {
    return new Conversations(engine, other, control, lost, indexed, uid);
  }

  /** Returns a copy that obeys control events; every subtask receives each of them. */
  public Conversations controlledBy(DataStream<ControlEvent> events) {
    return new Conversations(engine, options, events, lost, indexed, uid);
  }

  /**
   * Returns a copy that writes replies again if the brokers aborted their transactions.
   *
   * @param search finds such replies; null if the sink of replies loses nothing
   */
  public Conversations recovering(LostReplies search) {
    return new Conversations(engine, options, control, search, indexed, uid);
  }

  /** Returns a copy that also makes the entries of the conversation index. */
  public Conversations indexed() {
    return new Conversations(engine, options, control, lost, true, uid);
  }

  /** Returns a copy whose operator has another uid; two operators in a job need different uids. */
  public Conversations uid(String other) {
    return new Conversations(engine, options, control, lost, indexed, other);
  }

  /**
   * Adds the operator to the job of a stream.
   *
   * @param stream the job's own records; keyed or not, the operator keys by session itself
   * @param toEvent converts a record to an event; the event needs no origin
   * @param <T> type of the job's records
   */
  public <T> Served serve(DataStream<T> stream, MapFunction<T, ConversationEvent> toEvent) {
    return serve(
        stream
            .map(toEvent)
            .returns(ConversationEvent.class)
            .name("to events")
            .uid(uid + "-events"));
  }

  /** Adds the operator to the job of a stream of events. */
  public Served serve(DataStream<ConversationEvent> events) {
    DataStream<ControlEvent> commands =
        control != null
            ? control
            : events
                .flatMap(Conversations::noControl)
                .returns(ControlEvent.class)
                .name("no control events")
                .uid(uid + "-no-control");
    SingleOutputStreamOperator<Reply> replies =
        events
            .keyBy(ConversationEvent::session)
            .connect(commands.broadcast())
            .transform(
                uid,
                TypeInformation.of(Reply.class),
                new ServingOperatorFactory(engine, options, lost, indexed))
            .uid(uid)
            // A chained sink would stop the operator while it flushes and begins transactions.
            .disableChaining();
    return new Served(
        replies,
        replies
            .getSideOutput(ReplyOutput.DELTAS)
            .<ReplyDelta>flatMap((step, out) -> step.forEach(out::collect))
            .returns(ReplyDelta.class)
            .name("deltas of a step")
            .uid(uid + "-deltas"),
        replies.getSideOutput(ReplyOutput.REJECTED),
        replies.getSideOutput(ConversationIndex.ENTRIES));
  }

  private static void noControl(ConversationEvent event, Collector<ControlEvent> out) {}

  /**
   * The streams that the operator writes.
   *
   * @param replies one reply per event with a turn id
   * @param deltas pieces of running replies, each at least once
   * @param refused refused events without a turn id, which cannot get a reply
   * @param index entries of the conversation index; the last of a session replaces those before.
   *     Empty unless {@link Conversations#indexed} was called
   */
  @PublicApi
  public record Served(
      SingleOutputStreamOperator<Reply> replies,
      DataStream<ReplyDelta> deltas,
      DataStream<RejectedEvent> refused,
      DataStream<ConversationEntry> index) {}
}
