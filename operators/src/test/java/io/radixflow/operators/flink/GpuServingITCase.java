package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.kernels.DeviceOptions;
import io.radixflow.kernels.cuda.EmulatedDriver;
import io.radixflow.kernels.cuda.EmulatedGpu;
import io.radixflow.kernels.cuda.ServedOnGpu;
import io.radixflow.operators.engine.ContinuousBatchingEngine;
import io.radixflow.operators.engine.EngineOptions;
import io.radixflow.operators.session.ControlEvent;
import io.radixflow.operators.session.ConversationEvent;
import io.radixflow.operators.session.GenerationOptions;
import io.radixflow.operators.session.Reply;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The operator in two slots over one engine on a GPU. */
class GpuServingITCase {
  private static final int SESSIONS = 3;
  private static final int TURNS = 6;
  private static final int ILLEGAL_ADDRESS = 700;

  private static final GenerationOptions SHORT =
      new GenerationOptions(
          0.7, null, null, null, null, null, null, null, 12, null, 5L, null, null, null);

  private static final AtomicInteger OPENED = new AtomicInteger();
  private static final Map<String, String> REPLIES = new ConcurrentHashMap<>();

  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(1)
              .setNumberSlotsPerTaskManager(2)
              .build());

  @Test
  void aDeviceThatIsLostOnceChangesNoReply() throws Exception {
    EmulatedGpu.requireEmulated();
    EmulatedDriver.reset();
    Map<String, String> undisturbed = run("undisturbed");
    assertThat(undisturbed).hasSize(TURNS);
    assertThat(OPENED).hasValue(1);

    EmulatedDriver.resetFaults();
    EmulatedDriver.failLaunch("rf_sample", 20, ILLEGAL_ADDRESS);
    Map<String, String> disturbed = run("disturbed");

    assertThat(OPENED).hasValue(2);
    assertThat(disturbed).isEqualTo(undisturbed);
    EmulatedDriver.reset();
  }

  private static Map<String, String> run(String name) throws Exception {
    OPENED.set(0);
    REPLIES.clear();
    job(TestOpener.of(name, GpuServingITCase::open)).execute(name);
    return new TreeMap<>(REPLIES);
  }

  private static ServingEngine open() {
    OPENED.incrementAndGet();
    ServedOnGpu model = new ServedOnGpu();
    return new ServingEngine(
        ContinuousBatchingEngine.open(
            model,
            new DeviceOptions("cuda", 0, null),
            EngineOptions.builder().kvPages(64).contextLength(512).build()),
        model);
  }

  private static StreamExecutionEnvironment job(TestOpener opener) {
    Configuration configuration = new Configuration();
    configuration.set(PipelineOptions.GENERIC_TYPES, false);
    configuration.set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(50));
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
            .map(n -> Events.message("s" + n % SESSIONS, "t" + n).with(SHORT).event())
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
    replies.uid("serving").map(GpuServingITCase::note).sinkTo(new DiscardingSink<>());
    replies.getSideOutput(ServingOutputs.DELTAS).sinkTo(new DiscardingSink<>());
    replies.getSideOutput(ServingOutputs.REJECTED).sinkTo(new DiscardingSink<>());
    return env;
  }

  private static String note(Reply reply) {
    REPLIES.put(reply.turn(), reply.finishReason() + " " + reply.text());
    return reply.turn();
  }
}
