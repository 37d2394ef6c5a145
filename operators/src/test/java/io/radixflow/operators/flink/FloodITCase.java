package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimClock;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.EventKind;
import io.radixflow.protocol.record.Reply;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Ten thousand turns at once for an engine that runs four. */
@Timeout(180)
class FloodITCase {
  private static final String NUMBERS = "flood";
  private static final int TURNS = 10_000;
  private static final int SESSIONS = 500;
  private static final int PER_SESSION = 16;

  /** One that waits behind fourteen others of its session. */
  private static final int CANCELLED = 14 * SESSIONS + SESSIONS - 1;

  private static final ServingOptions OPTIONS =
      Options.with(
          o -> {
            o.maxQueuedPerSession = PER_SESSION;
            o.maxQueuedPerTenant = TURNS;
            o.maxRunning = 32;
          });

  private static final Queue<Reply> REPLIES = new ConcurrentLinkedQueue<>();
  private static final Queue<EngineStats> STATS = new ConcurrentLinkedQueue<>();
  private static volatile Engine engine;

  /** Until a session is full: the engine must not be faster than the flood. */
  private static final CountDownLatch FULL = new CountDownLatch(1);

  /** Until the cancel is answered: the turn must still wait when it comes. */
  private static final CountDownLatch CANCEL = new CountDownLatch(1);

  /** Completed checkpoints that the engine waits for in the middle: they must not wait for it. */
  private static final CountDownLatch CHECKPOINTS = new CountDownLatch(11);

  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJob.cluster();

  @Test
  void aFloodIsAnsweredOrRejectedInOrderWhileCheckpointsContinue() throws Exception {
    SimModel model =
        SimModel.open(
            SimOptions.DEFAULT
                .withEndOfTurn(0)
                .withTime(50_000, 0)
                .withClock(FloodITCase::passInItsTime));
    engine =
        ContinuousBatchingEngine.open(
            model,
            DeviceOptions.DEFAULT,
            EngineOptions.builder().kvPages(512).maxRunning(4).maxWaiting(64).build());
    new TestJob(new HeldNumbers(NUMBERS, TURNS + 1), FloodITCase::event)
        .set(StateBackendOptions.STATE_BACKEND, "rocksdb")
        .set(CheckpointingOptions.INCREMENTAL_CHECKPOINTS, true)
        .with(OPTIONS)
        .onReply(new Noting())
        .run(TestEngineFactory.of("flood", () -> new ServingEngine(engine, model)));

    assertThat(STATS)
        .allMatch(s -> s.scheduler().runningRequests() + s.scheduler().waitingRequests() <= 2 * 32);
    assertThat(STATS).anyMatch(s -> s.scheduler().waitingRequests() > 4);
    List<Reply> replies = List.copyOf(REPLIES);
    assertThat(replies).extracting(Reply::turn).doesNotHaveDuplicates().hasSize(TURNS);
    Map<String, Integer> endings = new HashMap<>();
    replies.forEach(reply -> endings.merge(reply.finishReason(), 1, Integer::sum));
    assertThat(endings).containsOnlyKeys("length", "rejected", "cancelled");
    assertThat(endings).containsEntry("cancelled", 1);
    // some sessions have had room again when their last turns came
    assertThat(endings.get("rejected")).isBetween(1, (TURNS / SESSIONS - PER_SESSION) * SESSIONS);
    assertThat(replies)
        .filteredOn(reply -> reply.finishReason().equals("rejected"))
        .allMatch(reply -> reply.error().message().contains("limit of " + PER_SESSION));
    assertInOrder(replies);
    int at = replies.stream().map(Reply::turn).toList().indexOf("t" + CANCELLED);
    assertThat(replies.get(at).finishReason()).isEqualTo("cancelled");
    assertThat(replies.size() - at).as("turns that were still to be answered").isGreaterThan(2_000);
  }

  private static void passInItsTime(long nanos) {
    try {
      FULL.await();
      if (CHECKPOINTS.getCount() + CANCEL.getCount() > 0 && REPLIES.size() > TURNS / 4) {
        CHECKPOINTS.await();
        CANCEL.await();
      }
      SimClock.SYSTEM.pass(nanos);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private static void assertInOrder(List<Reply> replies) {
    Map<String, List<Integer>> order = new HashMap<>();
    for (Reply reply : replies) {
      if (reply.finishReason().equals("length")) {
        order
            .computeIfAbsent(reply.session(), session -> new ArrayList<>())
            .add(Integer.parseInt(reply.turn().substring(1)));
      }
    }
    assertThat(order).hasSize(SESSIONS);
    assertThat(order.values()).allSatisfy(turns -> assertThat(turns).isSorted());
  }

  /** The turns, then the cancel. */
  private static ConversationEvent event(long n) {
    if (n == TURNS) {
      String session = "s" + CANCELLED % SESSIONS;
      return Events.of(EventKind.CANCEL, session, "t" + CANCELLED).event();
    }
    return Events.message("s" + n % SESSIONS, "t" + n).with(Events.maxTokens(4)).event();
  }

  private static final class Noting extends RichMapFunction<Reply, String>
      implements CheckpointListener {
    private static final long serialVersionUID = 1L;

    @Override
    public String map(Reply reply) {
      REPLIES.add(reply);
      if (reply.finishReason().equals("rejected")) {
        FULL.countDown();
      } else if (reply.finishReason().equals("cancelled")) {
        CANCEL.countDown();
      }
      if (REPLIES.size() == TURNS) {
        HeldNumbers.release(NUMBERS);
      }
      return reply.turn();
    }

    @Override
    public void notifyCheckpointComplete(long checkpointId) {
      if (REPLIES.size() < TURNS) {
        STATS.add(engine.stats());
        CHECKPOINTS.countDown();
      }
    }
  }
}
