package io.radixflow.kernels.cpu.step;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.radixflow.kernels.cpu.kernel.NativeKernels;
import io.radixflow.kernels.device.ThreadPriority;
import io.radixflow.kernels.device.Uninterruptibly;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.Test;

class WorkerTeamTest {
  /** As in Linux's sched.h. */
  private static final int SCHED_IDLE = 5;

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
  void aWorkerDefersToOtherThreadsAndItsCallerDoesNot() {
    assumeThat(NativeKernels.supported()).isNotEmpty();
    int own = nice();
    assumeThat(own).isLessThan(WorkerTeam.NICE);
    try (WorkerTeam team = new WorkerTeam(2)) {
      assertThat(ofEachWorker(team, WorkerTeamTest::nice)).containsExactly(own, WorkerTeam.NICE);
    }
  }

  @Test
  void aWorkerOfIdlePriorityRunsWhereNoOtherThreadWants() {
    assumeThat(NativeKernels.supported()).isNotEmpty();
    int own = policy();
    try (WorkerTeam team = new WorkerTeam(2, ThreadPriority.IDLE)) {
      assertThat(ofEachWorker(team, WorkerTeamTest::policy)).containsExactly(own, SCHED_IDLE);
    }
  }

  /** Returns what a function says on the thread of each worker of a team of two. */
  private static List<Integer> ofEachWorker(WorkerTeam team, IntSupplier function) {
    CountDownLatch ran = new CountDownLatch(2); // so that each worker has one task
    Integer[] said = new Integer[2];
    team.run(
        2,
        (task, worker) -> {
          said[worker] = function.getAsInt();
          ran.countDown();
          Uninterruptibly.await(ran::await);
        });
    return Arrays.asList(said);
  }

  private static int nice() {
    return ofThread(19);
  }

  private static int policy() {
    return ofThread(41);
  }

  /** Returns a field of the calling thread's line, whose second field is a name. */
  private static int ofThread(int field) {
    try {
      String line = Files.readString(Path.of("/proc/thread-self/stat"));
      return Integer.parseInt(line.substring(line.lastIndexOf(')') + 2).split(" ")[field - 3]);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
