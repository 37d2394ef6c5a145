package io.radixflow.operators.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class TenantCountsTest {
  private final TenantCounts counts = new TenantCounts();
  private final TenantCounts.Share first = counts.share();
  private final TenantCounts.Share second = counts.share();

  @Test
  void aLimitIsOneOfAllSharesTogether() {
    assertThat(first.tryAdd("acme", 0, 2, 9)).isNull();
    assertThat(second.tryAdd("acme", 0, 2, 9)).isNull();
    assertThat(first.tryAdd("acme", 0, 2, 9)).isEqualTo(TenantCounts.Full.TENANT);
    assertThat(first.tryAdd("beta", 0, 2, 2)).isEqualTo(TenantCounts.Full.TASK_MANAGER);
    second.remove("acme");
    assertThat(first.tryAdd("acme", 0, 2, 9)).isNull();
    assertThat(List.of(first.count(), second.count(), counts.total())).containsExactly(2, 0, 2);
  }

  @Test
  void turnsThatAreToBeReplacedCountAsFree() {
    first.add("acme");
    first.add("acme");
    assertThat(first.tryAdd("acme", 1, 1, 9)).isEqualTo(TenantCounts.Full.TENANT);
    assertThat(first.tryAdd("acme", 2, 1, 1)).isNull();
  }

  @Test
  void restoredTurnsAreCountedBeyondTheLimits() {
    first.add("acme");
    first.add("acme");
    assertThat(second.tryAdd("acme", 0, 1, 9)).isEqualTo(TenantCounts.Full.TENANT);
    first.remove("acme");
    assertThat(second.tryAdd("acme", 0, 1, 9)).isEqualTo(TenantCounts.Full.TENANT);
    first.remove("acme");
    assertThat(second.tryAdd("acme", 0, 1, 9)).isNull();
  }

  @Test
  void aClosedShareSubtractsItsOwnCountOnce() {
    first.add("acme");
    first.add("beta");
    second.add("acme");
    first.close();
    first.close();
    assertThat(counts.total()).isEqualTo(1);
    assertThat(first.tryAdd("acme", 0, 2, 2)).isNull();
    assertThat(first.tryAdd("acme", 0, 2, 9)).isEqualTo(TenantCounts.Full.TENANT);
  }

  @Test
  void subtasksThatComeAtTheSameMomentDoNotPassALimit() throws Exception {
    int limit = 1_000;
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Callable<Integer>> subtasks = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        subtasks.add(
            () -> {
              TenantCounts.Share share = counts.share();
              for (int tries = 0; tries < limit; tries++) {
                if (share.tryAdd("acme", 0, limit, Integer.MAX_VALUE) == null && tries % 3 == 0) {
                  share.remove("acme");
                }
              }
              return share.count();
            });
      }
      int sum = 0;
      for (Future<Integer> each : threads.invokeAll(subtasks)) {
        sum += each.get();
      }
      assertThat(sum).isEqualTo(limit).isEqualTo(counts.total());
    } finally {
      threads.shutdownNow();
    }
  }
}
