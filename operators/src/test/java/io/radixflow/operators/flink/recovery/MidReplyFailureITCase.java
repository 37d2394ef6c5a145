package io.radixflow.operators.flink.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimClock;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.HeldNumbers;
import io.radixflow.operators.flink.ReplyReader;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.TestJob;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.GenerationOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tasks that fail in the middle of long replies, again and again. */
@Timeout(180)
class MidReplyFailureITCase {
  private static final String NUMBERS = "mid-reply-failure";
  private static final int TURNS = 12;
  private static final int TOKENS = 400;
  private static final int FAILURES_WANTED = 3;

  private static final Gate GATE = new Gate();
  private static final Queue<ReplyDelta> DELTAS = new ConcurrentLinkedQueue<>();
  private static final Queue<Reply> REPLIES = new ConcurrentLinkedQueue<>();

  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJob.cluster();

  @Test
  void everyReplyContinuesFromTheLastCheckpointWithTheSameText() throws Exception {
    SimModel model =
        SimModel.open(
            SimOptions.DEFAULT
                .withEndOfTurn(0)
                .withTime(4_000_000, 0)
                .withClock(GATE::pass)
                .withPoison(true));
    TestEngineFactory factory =
        TestEngineFactory.of(
            "mid-reply-failure",
            () ->
                new ServingEngine(
                    ContinuousBatchingEngine.open(
                        model, DeviceOptions.DEFAULT, EngineOptions.DEFAULT),
                    model));
    new TestJob(new HeldNumbers(NUMBERS, TURNS), MidReplyFailureITCase::event)
        .set(StateBackendOptions.STATE_BACKEND, "rocksdb")
        .set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(20))
        .onReply(MidReplyFailureITCase::note)
        .onDelta(new Failing())
        .run(factory);
    assertThat(GATE.failures()).isEqualTo(FAILURES_WANTED);
    Map<String, String> undisturbed = undisturbed();
    assertThat(undisturbed).hasSize(TURNS);
    assertThat(new ReplyReader().read(List.copyOf(DELTAS)).texts()).isEqualTo(undisturbed);
    Map<String, String> replied = new TreeMap<>();
    REPLIES.forEach(reply -> replied.put(reply.session() + "/" + reply.turn(), reply.text()));
    assertThat(replied).isEqualTo(undisturbed);
    assertThat(offsetsWhereLastAttemptsBegan())
        .as("turns resumed, not all begun again")
        .anyMatch(offset -> offset > 0);
  }

  /** One per turn. A start gives each subtask an attempt of its own, so they compare by turn. */
  private static List<Integer> offsetsWhereLastAttemptsBegan() {
    Map<String, TreeMap<Long, Integer>> byTurn = new TreeMap<>();
    DELTAS.forEach(
        delta ->
            byTurn
                .computeIfAbsent(delta.turn(), turn -> new TreeMap<>())
                .merge(delta.attempt(), delta.offset(), Math::min));
    return byTurn.values().stream().map(attempts -> attempts.lastEntry().getValue()).toList();
  }

  private static Map<String, String> undisturbed() throws Exception {
    SimModel model = SimModel.open(SimOptions.DEFAULT.withEndOfTurn(0));
    try (ServingEngine engine =
            new ServingEngine(
                ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, EngineOptions.DEFAULT),
                model);
        ServingHarness h =
            new ServingHarness(
                TestEngineFactory.of("undisturbed", () -> engine), ServingOptions.DEFAULT, 1, 0)) {
      h.open();
      for (long n = 0; n < TURNS; n++) {
        h.send(event(n));
      }
      h.endInput(1);
      Map<String, String> texts = new TreeMap<>();
      h.replies().forEach(reply -> texts.put(reply.session() + "/" + reply.turn(), reply.text()));
      return texts;
    }
  }

  /** Greedy, drawn, and drawn with penalties, in turn. */
  private static ConversationEvent event(long n) {
    GenerationOptions options =
        GenerationOptions.builder()
            .temperature(n % 3 == 0 ? 0.0 : 0.9)
            .repetitionPenalty(n % 3 == 2 ? 1.2 : null)
            .frequencyPenalty(n % 3 == 2 ? 0.3 : null)
            .maxTokens(TOKENS)
            .build();
    return Events.message("s" + n, "t" + n).with(options).event();
  }

  private static String note(Reply reply) {
    REPLIES.add(reply);
    if (REPLIES.stream().map(Reply::turn).distinct().count() == TURNS) {
      HeldNumbers.release(NUMBERS);
    }
    return reply.turn();
  }

  /**
   * Holds the engine from an attempt's first delta until a checkpoint is complete that holds
   * progress, so that no attempt but the last comes to its end.
   */
  private static final class Gate {
    private int failures;
    private boolean held;
    private boolean safe;

    synchronized int failures() {
      return failures;
    }

    /** An attempt's delta was seen. */
    synchronized void seen(int attempt) {
      held |= attempt == failures && !safe && failures < FAILURES_WANTED;
    }

    /** A checkpoint holds progress of an attempt. */
    synchronized void safe(int attempt) {
      if (attempt == failures) {
        safe = true;
        held = false;
        notifyAll();
      }
    }

    /** Returns whether an attempt has to fail now. */
    synchronized boolean fails(int attempt) {
      if (attempt != failures || failures == FAILURES_WANTED) {
        return false;
      }
      failures++;
      safe = false;
      held = false;
      notifyAll();
      return true;
    }

    void pass(long nanos) {
      try {
        synchronized (this) {
          while (held) {
            wait();
          }
        }
        SimClock.SYSTEM.pass(nanos);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /**
   * Notes each delta as a consumer that has read it, and fails its task some deltas after a
   * checkpoint is complete that holds progress: one whose barrier came behind a delta.
   */
  private static final class Failing extends RichMapFunction<ReplyDelta, String>
      implements CheckpointedFunction, CheckpointListener {
    private static final long serialVersionUID = 1L;

    private int attempt;
    private int seen;
    private long firstWithProgress = Long.MAX_VALUE;
    private int seenSinceCheckpoint = -1;

    @Override
    public String map(ReplyDelta delta) {
      DELTAS.add(delta);
      seen++;
      GATE.seen(attempt);
      if (seenSinceCheckpoint >= 0 && ++seenSinceCheckpoint >= 3 && GATE.fails(attempt)) {
        throw new IllegalStateException("injected");
      }
      return delta.turn();
    }

    @Override
    public void initializeState(FunctionInitializationContext context) {
      attempt = GATE.failures();
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) {
      if (seen > 0) {
        firstWithProgress = Math.min(firstWithProgress, context.getCheckpointId());
      }
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
      if (checkpointId >= firstWithProgress && seenSinceCheckpoint < 0) {
        seenSinceCheckpoint = 0;
        GATE.safe(attempt);
      }
    }
  }
}
