package io.radixflow.kernels.cpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicIntegerArray;
import org.junit.jupiter.api.Test;

class WorkerTeamTest {

  @Test
  void everyTaskOfManyShortRegionsRunsOnceInItsOwnRegion() {
    try (WorkerTeam team = new WorkerTeam(4)) {
      int[] current = new int[1];
      for (int round = 0; round < 20_000; round++) {
        int region = round;
        int tasks = 1 + round % 9;
        AtomicIntegerArray runs = new AtomicIntegerArray(tasks);
        AtomicIntegerArray strays = new AtomicIntegerArray(1);
        current[0] = region;
        team.run(
            tasks,
            (task, worker) -> {
              runs.incrementAndGet(task);
              if (current[0] != region || worker >= team.size()) {
                strays.incrementAndGet(0);
              }
            });
        for (int task = 0; task < tasks; task++) {
          assertThat(runs.get(task)).isEqualTo(1);
        }
        assertThat(strays.get(0)).isZero();
      }
    }
  }

  @Test
  void aFailingTaskFailsItsRegionAndTheTeamKeepsRunning() {
    try (WorkerTeam team = new WorkerTeam(2)) {
      assertThatThrownBy(
              () ->
                  team.run(
                      8,
                      (task, worker) -> {
                        if (task == 5) {
                          throw new IllegalStateException("task five");
                        }
                      }))
          .hasMessage("task five");
      AtomicIntegerArray runs = new AtomicIntegerArray(8);
      team.run(8, (task, worker) -> runs.incrementAndGet(task));
      assertThat(runs.toString()).isEqualTo("[1, 1, 1, 1, 1, 1, 1, 1]");
    }
  }
}
