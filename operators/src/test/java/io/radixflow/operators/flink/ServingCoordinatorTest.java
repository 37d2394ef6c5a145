package io.radixflow.operators.flink;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.tier.store.TenantKeys;
import io.radixflow.operators.flink.erasure.Erasures.Erasure;
import io.radixflow.operators.flink.erasure.Erasures.What;
import io.radixflow.operators.flink.erasure.TenantKeyState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.messages.Acknowledge;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator.SubtaskGateway;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;
import org.junit.jupiter.api.Test;

/** Tests which subtasks get an event, and when checkpoints are held back. */
class ServingCoordinatorTest {
  private static final OperatorEvent FIRST = new Erasure("first", What.PAGES, new byte[32]);
  private static final OperatorEvent SECOND = new Erasure("second", What.PAGES, new byte[32]);

  private final List<Boolean> backlogs = new ArrayList<>();
  private final ServingCoordinator coordinator = new ServingCoordinator(() -> 2, backlogs::add);
  private final Map<Integer, List<OperatorEvent>> received = new TreeMap<>();

  private record Gateway(int subtask, List<OperatorEvent> received) implements SubtaskGateway {
    @Override
    public CompletableFuture<Acknowledge> sendEvent(OperatorEvent event) {
      received.add(event);
      return CompletableFuture.completedFuture(Acknowledge.get());
    }

    @Override
    public ExecutionAttemptID getExecution() {
      return ExecutionAttemptID.randomId();
    }

    @Override
    public int getSubtask() {
      return subtask;
    }
  }

  private void begins(int subtask) {
    received.put(subtask, new ArrayList<>());
    coordinator.executionAttemptReady(subtask, 0, new Gateway(subtask, received.get(subtask)));
  }

  @Test
  void allSubtasksGetAnErasure() {
    begins(0);
    begins(1);
    coordinator.handleEventFromOperator(1, 0, FIRST);
    assertThat(received).isEqualTo(Map.of(0, List.of(FIRST), 1, List.of(FIRST)));
  }

  @Test
  void allSubtasksGetAKeyThatOneHasDrawn() {
    OperatorEvent drawn = new TenantKeyState.Drawn(new TenantKeys.Key(1, 2, new byte[32]));
    coordinator.start();
    begins(0);
    begins(1);
    coordinator.handleEventFromOperator(0, 0, drawn);
    coordinator.handleEventFromOperator(1, 0, drawn);
    assertThat(received).isEqualTo(Map.of(0, List.of(drawn, drawn), 1, List.of(drawn, drawn)));
    assertThat(backlogs).containsExactly(true);
  }

  @Test
  void aSubtaskThatBeginsLaterGetsTheErasuresBefore() {
    begins(0);
    coordinator.handleEventFromOperator(0, 0, FIRST);
    begins(1);
    coordinator.handleEventFromOperator(0, 0, SECOND);
    assertThat(received).isEqualTo(Map.of(0, List.of(FIRST, SECOND), 1, List.of(FIRST, SECOND)));
  }

  @Test
  void eventsAreNotKeptOnceAllSubtasksHaveBegun() {
    begins(0);
    begins(1);
    coordinator.handleEventFromOperator(0, 0, FIRST);
    coordinator.subtaskReset(1, 7);
    begins(1);
    assertThat(received.get(1)).isEmpty();
  }

  @Test
  void checkpointsAreHeldBackUntilAllSubtasksAreOpen() {
    coordinator.start();
    begins(0);
    begins(1);
    coordinator.handleEventFromOperator(0, 0, new ServingCoordinator.SubtaskOpened());
    assertThat(backlogs).containsExactly(true);
    coordinator.handleEventFromOperator(1, 0, new ServingCoordinator.SubtaskOpened());
    assertThat(backlogs).containsExactly(true, false);
    coordinator.executionAttemptFailed(1, 0, null);
    assertThat(backlogs).containsExactly(true, false, true);
    begins(1);
    coordinator.handleEventFromOperator(1, 1, new ServingCoordinator.SubtaskOpened());
    assertThat(backlogs).containsExactly(true, false, true, false);
  }
}
