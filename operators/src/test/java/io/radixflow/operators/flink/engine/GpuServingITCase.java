package io.radixflow.operators.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.kernels.cuda.ServedOnGpu;
import io.radixflow.kernels.cuda.driver.EmulatedDriver;
import io.radixflow.kernels.cuda.driver.EmulatedGpu;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.TestJob;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The operator in two slots over one engine on a GPU. */
class GpuServingITCase {
  private static final int SESSIONS = 3;
  private static final int TURNS = 6;
  private static final int ILLEGAL_ADDRESS = 700;

  private static final GenerationOptions SHORT =
      GenerationOptions.builder().temperature(0.7).maxTokens(12).seed(5L).build();

  private static final AtomicInteger OPENED = new AtomicInteger();
  private static final Map<String, String> REPLIES = new ConcurrentHashMap<>();

  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJob.cluster();

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
    new TestJob(new NumberSequenceSource(0, TURNS - 1), GpuServingITCase::event)
        .onReply(GpuServingITCase::note)
        .run(TestEngineFactory.of(name, GpuServingITCase::open));
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

  private static ConversationEvent event(long n) {
    return Events.message("s" + n % SESSIONS, "t" + n).with(SHORT).event();
  }

  private static String note(Reply reply) {
    REPLIES.put(reply.turn(), reply.finishReason() + " " + reply.text());
    return reply.turn();
  }
}
