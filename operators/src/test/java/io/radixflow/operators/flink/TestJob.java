package io.radixflow.operators.flink;

import io.radixflow.operators.flink.engine.EngineFactory;
import io.radixflow.operators.flink.turn.run.ReplyOutput;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.record.control.ControlEvent;
import io.radixflow.protocol.record.control.ControlKind;
import java.time.Duration;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.MapFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;

/**
 * The serving operator in a job of its own: its events are made of numbers, a test sees replies.
 */
public final class TestJob {
  private final NumberSequenceSource numbers;
  private final MapFunction<Long, ConversationEvent> events;
  private final Configuration configuration = new Configuration();
  private NumberSequenceSource controlNumbers = new NumberSequenceSource(0, 0);
  private MapFunction<Long, ControlEvent> controls =
      n -> new ControlEvent(ControlKind.DRAIN, null, "off");
  private ServingOptions options = ServingOptions.DEFAULT;
  private int parallelism = 2;
  private MapFunction<Reply, String> replies = Reply::turn;
  private MapFunction<ReplyDelta, String> deltas = ReplyDelta::turn;

  /** A job with two subtasks that restarts at once when it fails. */
  public TestJob(NumberSequenceSource numbers, MapFunction<Long, ConversationEvent> events) {
    this.numbers = numbers;
    this.events = events;
    set(PipelineOptions.GENERIC_TYPES, false);
    set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(50));
    set(CheckpointingOptions.CHECKPOINTING_INTERVAL_DURING_BACKLOG, Duration.ZERO);
    set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 10);
    set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
  }

  /** One TaskManager with a slot for each subtask. */
  public static MiniClusterExtension cluster() {
    return new MiniClusterExtension(
        new MiniClusterResourceConfiguration.Builder()
            .setNumberTaskManagers(1)
            .setNumberSlotsPerTaskManager(2)
            .build());
  }

  public <T> TestJob set(ConfigOption<T> option, T value) {
    configuration.set(option, value);
    return this;
  }

  public TestJob with(ServingOptions given) {
    options = given;
    return this;
  }

  /** Returns this job with control events that are made of numbers. */
  public TestJob controls(NumberSequenceSource source, MapFunction<Long, ControlEvent> made) {
    controlNumbers = source;
    controls = made;
    return this;
  }

  /** Returns this job with another number of subtasks. */
  public TestJob parallelism(int subtasks) {
    parallelism = subtasks;
    return this;
  }

  public TestJob onReply(MapFunction<Reply, String> seen) {
    replies = seen;
    return this;
  }

  public TestJob onDelta(MapFunction<ReplyDelta, String> seen) {
    deltas = seen;
    return this;
  }

  /** Runs until the numbers have ended and all turns are answered. */
  public void run(EngineFactory factory) throws Exception {
    environment(factory).execute(factory.identity());
  }

  /** Starts it. */
  public JobClient start(EngineFactory factory) throws Exception {
    return environment(factory).executeAsync(factory.identity());
  }

  private StreamExecutionEnvironment environment(EngineFactory factory) {
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    env.setParallelism(parallelism);
    DataStream<ConversationEvent> sent =
        env.fromSource(numbers, WatermarkStrategy.noWatermarks(), "numbers")
            .setParallelism(1)
            .map(events)
            .returns(ConversationEvent.class)
            .setParallelism(1);
    DataStream<ControlEvent> control =
        env.fromSource(controlNumbers, WatermarkStrategy.noWatermarks(), "controls")
            .setParallelism(1)
            .map(controls)
            .returns(ControlEvent.class)
            .setParallelism(1);
    SingleOutputStreamOperator<Reply> serving =
        sent.keyBy(ConversationEvent::session)
            .connect(control.broadcast())
            .transform(
                "serving",
                TypeInformation.of(Reply.class),
                new ServingOperatorFactory(factory, options))
            .uid("serving");
    serving.map(replies).returns(String.class).sinkTo(new DiscardingSink<>());
    serving
        .getSideOutput(ReplyOutput.DELTAS)
        .<ReplyDelta>flatMap((step, out) -> step.forEach(out::collect))
        .returns(ReplyDelta.class)
        .map(deltas)
        .returns(String.class)
        .sinkTo(new DiscardingSink<>());
    serving.getSideOutput(ReplyOutput.REJECTED).sinkTo(new DiscardingSink<>());
    return env;
  }
}
