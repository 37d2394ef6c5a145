package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.Patience;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.protocol.record.Reply;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The operator in a real job: types, chaining, mails, a failure in mid-generation, the engine. */
@Timeout(180)
class ServingOperatorITCase {
  private static final int SESSIONS = 10;
  private static final int TURNS = 100;

  private static final AtomicInteger OPENED = new AtomicInteger();
  private static final Map<String, String> REPLIES = new ConcurrentHashMap<>();
  private static final Map<String, String> CHANGED = new ConcurrentHashMap<>();
  private static final AtomicBoolean FAILED = new AtomicBoolean();

  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJob.cluster();

  @Test
  void aJobThatFailsInMidGenerationAnswersEveryTurnOnTheEngineItHad() throws Exception {
    SimModel model = SimModel.open(SimOptions.DEFAULT.withTime(100_000, 0));
    TestEngineFactory factory =
        TestEngineFactory.of(
            "job",
            () -> {
              OPENED.incrementAndGet();
              return new ServingEngine(
                  ContinuousBatchingEngine.open(
                      model, DeviceOptions.DEFAULT, EngineOptions.DEFAULT),
                  model);
            });
    Set<Thread> before = engineThreads();
    new TestJob(
            new NumberSequenceSource(0, TURNS - 1),
            n -> Events.message("s" + n % SESSIONS, "t" + n).event())
        .set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(20))
        .onReply(ServingOperatorITCase::note)
        .run(factory);

    assertThat(FAILED).isTrue();
    assertThat(REPLIES).hasSize(TURNS);
    assertThat(CHANGED).isEmpty();
    assertThat(OPENED).hasValue(1);
    Patience.await().until(() -> before.containsAll(engineThreads()));
  }

  private static Set<Thread> engineThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("radixflow-engine"))
        .collect(Collectors.toSet());
  }

  /** Notes a reply, fails once in the middle, and finds a reply that another run gave otherwise. */
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
