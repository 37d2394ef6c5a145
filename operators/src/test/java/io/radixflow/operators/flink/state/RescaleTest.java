package io.radixflow.operators.flink.state;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.Patience;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ReplyReader;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.session.ServingOptions;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.ReplyDelta;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Snapshots with running turns on the real engine, restored at another parallelism. */
@Timeout(180)
class RescaleTest {
  private static final int SESSIONS = 8;
  private static final int TURNS = 3;

  /** A ring of four tokens: no reply gets far before its subtask reads. */
  private static final EngineOptions ENGINE = EngineOptions.builder().ringTokens(4).build();

  private final List<ServingEngine> engines = new ArrayList<>();

  /** No job ends here that would release them. */
  @AfterEach
  void closeEngines() {
    engines.forEach(ServingEngine::close);
  }

  @ParameterizedTest
  @CsvSource({"1,2,false", "1,2,true", "2,1,false", "2,1,true"})
  void everyReplyComesOnceInOrderWithItsText(int before, int after, boolean rocksDb)
      throws Exception {
    Map<String, String> undisturbed = texts(finish(start(1, null, 0, false)));
    assertThat(undisturbed).hasSize(SESSIONS * TURNS);

    List<ServingHarness> first = start(before, null, 0, rocksDb);
    Patience.await()
        .pollInSameThread()
        .until(() -> runAMail(first) && first.stream().allMatch(h -> h.deltas().size() > 20));
    OperatorSubtaskState[] states = new OperatorSubtaskState[before];
    List<Reply> committed = new ArrayList<>();
    List<ReplyDelta> deltas = new ArrayList<>();
    for (int i = 0; i < before; i++) {
      states[i] = first.get(i).snapshot();
      committed.addAll(first.get(i).replies());
      deltas.addAll(first.get(i).deltas());
      first.get(i).close();
    }
    assertThat(committed).hasSizeLessThan(SESSIONS * TURNS);

    OperatorSubtaskState state = AbstractStreamOperatorTestHarness.repackageState(states);
    List<Reply> rest = finish(start(after, state, before, rocksDb), deltas);
    committed.addAll(rest);

    assertThat(committed).extracting(r -> r.session() + "/" + r.turn()).doesNotHaveDuplicates();
    assertThat(texts(committed)).isEqualTo(undisturbed);
    for (int s = 0; s < SESSIONS; s++) {
      String session = "s" + s;
      assertThat(committed.stream().filter(r -> r.session().equals(session)))
          .extracting(Reply::turn)
          .containsExactly("t0", "t1", "t2");
    }
    assertThat(new ReplyReader().read(deltas).texts()).isEqualTo(undisturbed);
  }

  private List<ServingHarness> start(
      int parallelism, OperatorSubtaskState state, int oldParallelism, boolean rocksDb)
      throws Exception {
    SimModel model = SimModel.open(SimOptions.DEFAULT);
    TestEngineFactory factory =
        TestEngineFactory.of(
            "sim",
            () -> {
              ServingEngine engine =
                  new ServingEngine(
                      ContinuousBatchingEngine.open(model, DeviceOptions.DEFAULT, ENGINE), model);
              engines.add(engine);
              return engine;
            });
    List<ServingHarness> subtasks = new ArrayList<>();
    for (int i = 0; i < parallelism; i++) {
      ServingHarness h = new ServingHarness(factory, ServingOptions.DEFAULT, parallelism, i);
      h.setBackend(rocksDb);
      if (state != null) {
        h.restore(state, oldParallelism);
      } else {
        h.open();
        sendTurnsOf(h, parallelism, i);
      }
      subtasks.add(h);
    }
    return subtasks;
  }

  private static void sendTurnsOf(ServingHarness h, int parallelism, int subtask) throws Exception {
    for (int turn = 0; turn < TURNS; turn++) {
      for (int s = 0; s < SESSIONS; s++) {
        if (ServingHarness.ownerOf("s" + s, parallelism) == subtask) {
          h.send(Events.message("s" + s, "t" + turn));
        }
      }
    }
  }

  private static List<Reply> finish(List<ServingHarness> subtasks) throws Exception {
    return finish(subtasks, new ArrayList<>());
  }

  private static List<Reply> finish(List<ServingHarness> subtasks, List<ReplyDelta> deltas)
      throws Exception {
    List<Reply> replies = new ArrayList<>();
    for (ServingHarness h : subtasks) {
      h.endInput(1);
      replies.addAll(h.replies());
      deltas.addAll(h.deltas());
      h.close();
    }
    return replies;
  }

  private static boolean runAMail(List<ServingHarness> subtasks) throws Exception {
    for (ServingHarness h : subtasks) {
      h.runAMail();
    }
    return true;
  }

  private static Map<String, String> texts(List<Reply> replies) {
    Map<String, String> texts = new HashMap<>();
    replies.forEach(r -> texts.put(r.session() + "/" + r.turn(), r.text()));
    return texts;
  }
}
