package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.sim.SimModel;
import io.radixflow.kernels.sim.SimOptions;
import io.radixflow.operators.engine.ContinuousBatchingEngine;
import io.radixflow.operators.engine.EngineOptions;
import io.radixflow.operators.session.ControlEvent;
import io.radixflow.operators.session.ConversationEvent;
import io.radixflow.operators.session.Reply;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.SingleOutputStreamOperator;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The operator in a real job: types, chaining, mails, a failure in mid-generation, the engine. */
@Timeout(120)
class ServingOperatorITCase {
  private static final int SESSIONS = 10;
  private static final int TURNS = 100;

  private static final AtomicInteger OPENED = new AtomicInteger();
  private static final Map<String, String> REPLIES = new ConcurrentHashMap<>();
  private static final Map<String, String> CHANGED = new ConcurrentHashMap<>();
  private static final AtomicBoolean FAILED = new AtomicBoolean();

  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(2)
              .build());

  @Test
  void aJobThatFailsInMidGenerationAnswersEveryTurnOnTheEngineItHad() throws Exception {
    SimModel model = SimModel.open(SimOptions.DEFAULT.withTime(100_000, 0));
    TestOpener opener =
        TestOpener.of(
            "job",
            () -> {
              OPENED.incrementAndGet();
              return new ServingEngine(
                  ContinuousBatchingEngine.open(
                      model, DeviceOptions.DEFAULT, EngineOptions.DEFAULT),
                  model);
            });
    Set<Thread> before = engineThreads();
    job(opener).execute("serving");

    assertThat(FAILED).isTrue();
    assertThat(REPLIES).hasSize(TURNS);
    assertThat(CHANGED).isEmpty();
    assertThat(OPENED).hasValue(1);
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> before.containsAll(engineThreads()));
  }

  private static Set<Thread> engineThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("radixflow-engine"))
        .collect(Collectors.toSet());
  }

  private static StreamExecutionEnvironment job(TestOpener opener) {
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(20));
    configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
    configuration.set(
        RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, Duration.ofMillis(10));
    StreamExecutionEnvironment env =
        StreamExecutionEnvironment.getExecutionEnvironment(configuration);
    env.setParallelism(2);
    DataStream<ConversationEvent> events =
        env.fromSource(
                new NumberSequenceSource(0, TURNS - 1), WatermarkStrategy.noWatermarks(), "numbers")
            .setParallelism(1)
            .map(n -> Events.message("s" + n % SESSIONS, "t" + n).event())
            .setParallelism(1);
    DataStream<ControlEvent> control = env.fromData(new ControlEvent("drain", null, "off"));
    SingleOutputStreamOperator<Reply> replies =
        events
            .keyBy(ConversationEvent::session)
            .connect(control.broadcast())
            .transform(
                "serving",
                TypeInformation.of(Reply.class),
                new ServingOperatorFactory(opener, ServingOptions.DEFAULT));
    replies.uid("serving").map(ServingOperatorITCase::note).sinkTo(new DiscardingSink<>());
    replies.getSideOutput(ServingOutputs.DELTAS).sinkTo(new DiscardingSink<>());
    replies.getSideOutput(ServingOutputs.REJECTED).sinkTo(new DiscardingSink<>());
    return env;
  }

  /** Notes a reply, fails once in the middle, and tells a reply that another run gave otherwise. */
  private static String note(Reply reply) {
    if (REPLIES.size() >= TURNS / 2 && FAILED.compareAndSet(false, true)) {
      throw new IllegalStateException("injected");
    }
    String before = REPLIES.put(reply.turn(), reply.text());
    if (before != null && !before.equals(reply.text())) {
      CHANGED.put(reply.turn(), before);
    }
    return reply.turn();
  }
}
