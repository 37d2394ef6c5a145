package io.radixflow.lab.hitrates;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.lab.workload.TestWorkloads;
import io.radixflow.lab.workload.Workload;
import io.radixflow.lab.workload.WorkloadOptions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class TierStudyTest {
  private static TierRates study(String name, List<String> policies, int... percent)
      throws Exception {
    Workload workload = TestWorkloads.resource(name, WorkloadOptions.DEFAULT);
    int pages = workload.requests().distinctBlocks();
    return new HitRateStudy(workload.requests(), policies, 0.8, true, (done, all) -> {})
        .runTiers(pages * percent[0] / 100, pages * percent[1] / 100, pages * percent[2] / 100);
  }

  /** Half of host memory must hold the longest prompt: more is not locked for waiting requests. */
  @ParameterizedTest
  @CsvSource({"conversation,20", "synthetic,20", "agent,40"})
  void tiersThatHoldEverythingHitWhatAnInfiniteCacheHits(String name, int host) throws Exception {
    TierRates rates = study(name, EvictionPolicies.names(), 10, host, 100);

    assertThat(rates.unlimited()).isPositive();
    assertThat(rates.rows())
        .extracting(TierRates.Row::policy)
        .containsExactlyElementsOf(EvictionPolicies.names());
    assertThat(rates.rows()).allMatch(row -> row.all() == rates.unlimited());
    assertThat(rates.rows()).allMatch(row -> row.host() > 0 && row.device() > 0);
  }

  @Test
  void theDeviceHitsTheMoreTheLargerItIsAndTheDiskTheLess() throws Exception {
    List<TierRates.Row> rows =
        List.of(
            study("conversation", List.of("lru"), 5, 10, 100).rows().get(0),
            study("conversation", List.of("lru"), 20, 40, 100).rows().get(0));

    assertThat(rows.get(1).device()).isGreaterThan(rows.get(0).device());
    assertThat(rows.get(1).disk()).isLessThan(rows.get(0).disk());
    assertThat(rows.get(1).all()).isEqualTo(rows.get(0).all());
  }

  @Test
  void hostMemoryAloneHitsWhatItAndTheDeviceHold() throws Exception {
    TierRates.Row without = study("synthetic", List.of("lru"), 10, 20, 0).rows().get(0);
    TierRates.Row with = study("synthetic", List.of("lru"), 10, 20, 100).rows().get(0);

    assertThat(without.disk()).isZero();
    assertThat(without.all()).isBetween(without.device() + 1, with.all() - 1);
  }
}
