package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.sim.SimModel;
import io.radixflow.kernels.sim.SimOptions;
import io.radixflow.operators.engine.ContinuousBatchingEngine;
import io.radixflow.operators.engine.EngineOptions;
import io.radixflow.operators.session.ControlEvent;
import io.radixflow.operators.session.ConversationEvent;
import io.radixflow.operators.session.GenerationOptions;
import io.radixflow.operators.session.Reply;
import io.radixflow.operators.session.ReplyDelta;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tasks that fail in the middle of long replies, again and again. */
@Timeout(120)
class MidReplyFailureITCase {
  private static final String NUMBERS = "mid-reply-failure";
  private static final int TURNS = 12;
  private static final int TOKENS = 400;
  private static final int FAILURES_WANTED = 3;

  private static final AtomicInteger FAILURES = new AtomicInteger();
  private static final Queue<ReplyDelta> DELTAS = new ConcurrentLinkedQueue<>();
  private static final Queue<Reply> REPLIES = new ConcurrentLinkedQueue<>();

  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(2)
              .build());

  @Test
  void everyReplyGoesOnFromTheLastCheckpointAndReadsTheSame() throws Exception {
    SimModel model =
        SimModel.open(SimOptions.DEFAULT.withEndOfTurn(0).withTime(2_000_000, 0).withPoison(true));
    TestOpener opener =
        TestOpener.of(
            "mid-reply-failure",
            () ->
                new ServingEngine(
                    ContinuousBatchingEngine.open(
                        model, DeviceOptions.DEFAULT, EngineOptions.DEFAULT),
                    model));
    job(opener).execute("serving");
    assertThat(FAILURES).hasValue(FAILURES_WANTED);
    Map<String, String> undisturbed = undisturbed();
    assertThat(undisturbed).hasSize(TURNS);
    assertThat(new ReplyReader().read(List.copyOf(DELTAS)).texts()).isEqualTo(undisturbed);
    Map<String, String> replied = new TreeMap<>();
    REPLIES.forEach(reply -> replied.put(reply.session() + "/" + reply.turn(), reply.text()));
    assertThat(replied).isEqualTo(undisturbed);
    Map<Long, Integer> firstOffsets = new TreeMap<>();
    DELTAS.forEach(delta -> firstOffsets.merge(delta.attempt(), delta.offset(), Math::min));
    long lastAttempt = new TreeMap<>(firstOffsets).lastKey();
    assertThat(firstOffsets.get(lastAttempt)).as("resumed, not begun again").isPositive();
  }

  private static Map<String, String> undisturbed() throws Exception {
    SimModel model = SimModel.open(SimOptions.DEFAULT.withEndOfTurn(0));
    try (ServingEngine engine =
            new ServingEngine(
                ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, EngineOptions.DEFAULT),
                model);
        ServingHarness h =
            new ServingHarness(
                TestOpener.of("undisturbed", () -> engine), ServingOptions.DEFAULT, 1, 0)) {
      h.open();
      for (long n = 0; n < TURNS; n++) {
        h.send(event(n));
      }
      h.serving().endInput(1);
      Map<String, String> texts = new TreeMap<>();
      h.replies().forEach(reply -> texts.put(reply.session() + "/" + reply.turn(), reply.text()));
      return texts;
    }
  }

  /** Greedy, drawn, and drawn with penalties, in turn. */
  private static ConversationEvent event(long n) {
    GenerationOptions options =
        new GenerationOptions(
            n % 3 == 0 ? 0.0 : 0.9,
            null,
            null,
            null,
            n % 3 == 2 ? 1.2 : null,
            null,
            n % 3 == 2 ? 0.3 : null,
            null,
            TOKENS,
            null,
            null,
            null,
            null,
            null);
    return Events.message("s" + n, "t" + n).with(options).event();
  }

  private static StreamExecutionEnvironment job(TestOpener opener) {
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    configuration.set(StateBackendOptions.STATE_BACKEND, "rocksdb");
    configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(20));
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    configuration.set(
        RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, 10);
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    env.setParallelism(2);
    DataStream<ConversationEvent> events =
        env.fromSource(new HeldNumbers(NUMBERS, TURNS), WatermarkStrategy.noWatermarks(), "numbers")
            .setParallelism(1)
            .map(MidReplyFailureITCase::event)
            .setParallelism(1);
    DataStream<ControlEvent> control = env.fromData(new ControlEvent("drain", null, "off"));
    SingleOutputStreamOperator<Reply> replies =
        events
            .keyBy(ConversationEvent::session)
            .connect(control.broadcast())
            .transform(
                "serving",
                TypeInformation.of(Reply.class),
                new ServingOperatorFactory(opener, ServingOptions.DEFAULT))
            .uid("serving");
    replies.map(MidReplyFailureITCase::note).sinkTo(new DiscardingSink<>());
    replies.getSideOutput(ServingOutputs.DELTAS).map(new Failing()).sinkTo(new DiscardingSink<>());
    return env;
  }

  private static String note(Reply reply) {
    REPLIES.add(reply);
    if (REPLIES.stream().map(Reply::turn).distinct().count() == TURNS) {
      HeldNumbers.release(NUMBERS);
    }
    return reply.turn();
  }

  /**
   * Notes each delta as a consumer that has read it, and fails its task some deltas after a
   * checkpoint that other deltas came before.
   */
  private static final class Failing extends RichMapFunction<ReplyDelta, String>
      implements CheckpointListener {
    private static final long serialVersionUID = 1L;

    private int seen;
    private int seenSinceCheckpoint = -1;

    @Override
    public String map(ReplyDelta delta) {
      DELTAS.add(delta);
      seen++;
      if (seenSinceCheckpoint >= 0
          && ++seenSinceCheckpoint >= 10
          && FAILURES.getAndUpdate(n -> Math.min(n + 1, FAILURES_WANTED)) < FAILURES_WANTED) {
        throw new IllegalStateException("injected");
      }
      return delta.turn();
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
      if (seen > 0 && seenSinceCheckpoint < 0) {
        seenSinceCheckpoint = 0;
      }
    }
  }
}
