package io.radixflow.lab.hitrates;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.lab.workload.TestWorkloads;
import io.radixflow.lab.workload.Workload;
import io.radixflow.lab.workload.WorkloadOptions;
import java.util.List;
import org.junit.jupiter.api.Test;

class WindowStudyTest {
  private static WindowRates study(String name, int percent, List<Double> shares) throws Exception {
    Workload workload = TestWorkloads.resource(name, WorkloadOptions.DEFAULT);
    int pages = workload.requests().distinctBlocks() * percent / 100;
    return new HitRateStudy(workload.requests(), List.of("lru"), 0.8, true, (done, all) -> {})
        .runWindows(List.of(pages), shares, 2, 0.8);
  }

  @Test
  void aPoolWithAPartForEachPageHitsWhatOneWithoutPartsHits() throws Exception {
    WindowRates.Row row = study("synthetic", 10, List.of(1.0)).rows().get(0);

    assertThat(row.full()).isPositive();
    assertThat(row.windows()).containsExactly(new WindowRates.Cell(row.capacity(), row.full()));
  }

  @Test
  void fewerPartsLeaveRoomForMorePagesAndMoreHitsInLongPrompts() throws Exception {
    WindowRates rates = study("agent", 5, List.of(0.5, 0.25));
    WindowRates.Row row = rates.rows().get(0);

    assertThat(row.windows().get(0).pages() / (row.capacity() / 0.6)).isBetween(0.98, 1.0);
    assertThat(row.windows().get(1).pages() / (row.capacity() / 0.4)).isBetween(0.98, 1.0);
    assertThat(row.windows()).allMatch(cell -> cell.hits() > row.full());
    assertThat(row.windows()).allMatch(cell -> cell.hits() <= rates.unlimited());
  }

  @Test
  void aPoolOfTheWholeWorkloadMissesWhereWindowsAreGone() throws Exception {
    WindowRates rates = study("synthetic", 100, List.of(0.01));

    assertThat(rates.rows().get(0).full()).isEqualTo(rates.unlimited());
    assertThat(rates.rows().get(0).windows().get(0).hits()).isBetween(1L, rates.unlimited() - 1);
  }
}
