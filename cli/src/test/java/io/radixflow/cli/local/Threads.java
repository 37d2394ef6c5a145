package io.radixflow.cli.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The threads of this process at one time, to find those left behind later. */
final class Threads {

  /** Threads that libraries start once a process and never stop. */
  private static final List<String> ONCE_A_PROCESS =
      List.of(
          "metrics-meter-tick-thread",
          "prometheus-metrics-scheduler",
          "Common-Cleaner",
          "process reaper",
          "awaitility-thread",
          "ForkJoinPool.commonPool",
          "CompletableFutureDelayScheduler",
          "FlinkCompletableFutureDelayScheduler",
          // the connector's exactly-once writer with pooled transaction ids never closes its own
          "kafka-admin-client-thread | adminclient-",
          "Attach Listener",
          "prometheus-metrics-scheduler",
          "junit-");

  private final Set<Thread> before;

  private Threads(Set<Thread> before) {
    this.before = before;
  }

  static Threads running() {
    return new Threads(new HashSet<>(Thread.getAllStackTraces().keySet()));
  }

  void assertNoneLeft() {
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(left()).extracting(Thread::getName).isEmpty());
  }

  private List<Thread> left() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> !before.contains(thread) && thread.isAlive())
        .filter(thread -> ONCE_A_PROCESS.stream().noneMatch(thread.getName()::startsWith))
        .toList();
  }
}
