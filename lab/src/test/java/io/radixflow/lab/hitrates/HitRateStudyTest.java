package io.radixflow.lab.hitrates;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.lab.simulate.CacheSimulation;
import io.radixflow.lab.workload.TestWorkloads;
import io.radixflow.lab.workload.TrafficGenerator;
import io.radixflow.lab.workload.TrafficModel;
import io.radixflow.lab.workload.Workload;
import io.radixflow.lab.workload.WorkloadOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

class HitRateStudyTest {
  private static final List<String> POLICIES = List.of("lru", "lfu", "fifo", "slru");

  /** Hits that a separate simulator counted; see the README in the file's folder. */
  record Expected(String workload, int capacity, long[] hits, long bound) {}

  static Stream<Expected> expected() throws IOException {
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                HitRateStudyTest.class.getResourceAsStream("/workloads/expected.csv"),
                StandardCharsets.UTF_8))) {
      return reader.lines().skip(1).map(HitRateStudyTest::parse).toList().stream();
    }
  }

  private static Expected parse(String line) {
    String[] cells = line.split(",");
    long[] numbers = Arrays.stream(cells).skip(2).mapToLong(Long::parseLong).toArray();
    return new Expected(
        cells[0],
        Integer.parseInt(cells[1]),
        Arrays.copyOf(numbers, POLICIES.size()),
        numbers[POLICIES.size()]);
  }

  private static HitRates study(Workload workload, List<Integer> capacities)
      throws InterruptedException {
    return new HitRateStudy(workload.requests(), POLICIES, 0.8, true, (done, all) -> {})
        .run(capacities);
  }

  private static HitRates study(
      Workload workload, String policy, boolean hints, List<Integer> capacities)
      throws InterruptedException {
    return new HitRateStudy(workload.requests(), List.of(policy), 0.8, hints, (done, all) -> {})
        .run(capacities);
  }

  @ParameterizedTest
  @MethodSource("expected")
  void partsOfPublishedTracesHitWhatASeparateSimulatorCounted(Expected expected) throws Exception {
    Workload workload = TestWorkloads.resource(expected.workload, WorkloadOptions.DEFAULT);

    HitRates rates = study(workload, List.of(expected.capacity));

    HitRates.Row row = rates.rows().get(0);
    assertThat(row.bound()).isEqualTo(expected.bound);
    // the order among blocks that SLRU demotes with one request differs
    for (int i = 0; i < POLICIES.size(); i++) {
      assertThat(rates.percent(row.results().get(i).hits()))
          .as(POLICIES.get(i))
          .isCloseTo(
              rates.percent(expected.hits[i]),
              Offset.offset(POLICIES.get(i).equals("slru") ? 0.1 : 1e-9));
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"conversation", "synthetic", "agent"})
  void aCacheThatHoldsEverythingHitsAllThatCanBeHit(String name) throws Exception {
    Workload workload = TestWorkloads.resource(name, WorkloadOptions.DEFAULT);

    HitRates rates = study(workload, List.of(Integer.MAX_VALUE));

    HitRates.Row row = rates.rows().get(0);
    assertThat(row.results())
        .allSatisfy(
            result -> {
              assertThat(result.hits()).isEqualTo(rates.unlimited());
              assertThat(result.evicted()).isZero();
            });
    assertThat(row.bound()).isEqualTo(rates.unlimited());
  }

  @Test
  void everySimulationIsReported() throws Exception {
    Workload workload = TestWorkloads.resource("agent", WorkloadOptions.DEFAULT);
    AtomicInteger most = new AtomicInteger();

    new HitRateStudy(
            workload.requests(),
            POLICIES,
            0.8,
            true,
            (done, all) -> {
              assertThat(all).isEqualTo(8);
              most.accumulateAndGet(done, Math::max);
            })
        .run(List.of(100, 200));

    assertThat(most).hasValue(8);
  }

  /** Made-up chats of a few hundred sessions. */
  private static Workload chats(long seed) throws Exception {
    StringBuilder records = new StringBuilder();
    TrafficModel model =
        CommandLine.populateCommand(
            new TrafficModel(),
            "--sessions=400",
            "--system-words=100",
            "--message-words=10",
            "--reply-words=40",
            "--seed=" + seed);
    new TrafficGenerator(model)
        .run(
            (millis, json) ->
                records.append(new String(json, StandardCharsets.UTF_8)).append('\n'));
    return TestWorkloads.text(WorkloadOptions.DEFAULT, records.toString());
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void withoutHintsAdaptiveSoonServesChatsLikeLru(long seed) throws Exception {
    Workload workload = chats(seed);
    List<Integer> capacities = List.of(1500, 3000, 6000);

    HitRates lru = study(workload, "lru", false, capacities);
    HitRates adaptive = study(workload, "adaptive", false, capacities);

    for (int i = 0; i < capacities.size(); i++) {
      double best = lru.percent(lru.rows().get(i).results().get(0).hits());
      // learning costs hits at first: at most 1.7 points in the nine cells
      assertThat(adaptive.percent(adaptive.rows().get(i).results().get(0).hits()))
          .as(capacities.get(i) + " pages")
          .isGreaterThan(best - 2);
    }
  }

  @Test
  void knowingWhichSessionsWereClosedAndHowLongTheyGoOnAddsHits() throws Exception {
    Workload workload = chats(1);
    List<Integer> capacities = List.of(1500, 3000);

    HitRates hinted = study(workload, "adaptive", true, capacities);
    HitRates unhinted = study(workload, "adaptive", false, capacities);

    for (int i = 0; i < capacities.size(); i++) {
      CacheSimulation.Result with = hinted.rows().get(i).results().get(0);
      CacheSimulation.Result without = unhinted.rows().get(i).results().get(0);
      assertThat(with.freed()).isPositive();
      assertThat(hinted.percent(with.hits())).isGreaterThan(unhinted.percent(without.hits()) + 0.5);
    }
  }
}
