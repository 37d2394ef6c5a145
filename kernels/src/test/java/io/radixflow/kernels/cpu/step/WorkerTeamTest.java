package io.radixflow.kernels.cpu.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.device.Uninterruptibly;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
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
  void aTaskIsItsWorkersOwnWhereAllKeepPace() {
    try (WorkerTeam team = new WorkerTeam(3)) {
      CountDownLatch begun = new CountDownLatch(3);
      AtomicIntegerArray workers = new AtomicIntegerArray(3);
      team.run(
          3,
          (task, worker) -> {
            workers.set(task, worker);
            begun.countDown();
            Uninterruptibly.await(begun::await);
          });
      assertThat(workers.toString()).isEqualTo("[0, 1, 2]");
    }
  }

  @Test
  void othersRunTheTasksOfAWorkerThatIsHeldUp() {
    try (WorkerTeam team = new WorkerTeam(2)) {
      CountDownLatch others = new CountDownLatch(7);
      AtomicIntegerArray runs = new AtomicIntegerArray(8);
      team.run(
          8,
          (task, worker) -> {
            runs.incrementAndGet(task);
            if (task == 1) {
              Uninterruptibly.await(others::await);
            } else {
              others.countDown();
            }
          });
      assertThat(runs.toString()).isEqualTo("[1, 1, 1, 1, 1, 1, 1, 1]");
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

  @Test
  void aWorkerDefersToOtherThreadsAndItsCallerDoesNot() throws Exception {
    assumeThat(NativeKernels.supported()).isNotEmpty();
    int own = nice();
    assumeThat(own).isLessThan(WorkerTeam.NICE);
    CountDownLatch ran = new CountDownLatch(2); // so that each worker has one task
    AtomicIntegerArray nice = new AtomicIntegerArray(2);
    try (WorkerTeam team = new WorkerTeam(2)) {
      team.run(
          2,
          (task, worker) -> {
            nice.set(worker, nice());
            ran.countDown();
            Uninterruptibly.await(ran::await);
          });
    }
    assertThat(nice.get(0)).isEqualTo(own);
    assertThat(nice.get(1)).isEqualTo(WorkerTeam.NICE);
  }

  /** Returns the nice value of the calling thread: field 19 of its line, whose second is a name. */
  private static int nice() {
    try {
      String line = Files.readString(Path.of("/proc/thread-self/stat"));
      return Integer.parseInt(line.substring(line.lastIndexOf(')') + 2).split(" ")[16]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
