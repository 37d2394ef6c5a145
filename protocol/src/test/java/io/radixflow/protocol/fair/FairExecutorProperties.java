package io.radixflow.protocol.fair;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.BeforeTry;

/** Tasks of tenants on a thread that the test is, with a clock that the tasks move. */
class FairExecutorProperties {
  private static final long MILLI = 1_000_000;

  private final Queue<Runnable> thread = new ArrayDeque<>();
  private final List<String> ran = new ArrayList<>();
  private final Map<String, Long> used = new HashMap<>();
  private long now;

  @BeforeTry
  void clear() {
    thread.clear();
    ran.clear();
    used.clear();
  }

  private FairExecutor open(Map<String, Integer> weights) {
    return new FairExecutor(thread::add, weights, () -> now);
  }

  private void submit(FairExecutor executor, String tenant, long nanos) {
    executor.execute(
        tenant,
        () -> {
          now += nanos;
          ran.add(tenant);
          used.merge(tenant, nanos, Long::sum);
        });
  }

  private void runNext() {
    thread.remove().run();
  }

  @Example
  void anotherTenantsTaskIsNextWhateverOneTenantHasQueued() {
    FairExecutor executor = open(Map.of());
    for (int i = 0; i < 1000; i++) {
      submit(executor, "flood", MILLI);
    }
    runNext();
    submit(executor, "patient", MILLI);
    runNext();
    runNext();
    assertThat(ran).containsSubsequence("flood", "patient").hasSize(3);
    assertThat(executor.waiting()).isEqualTo(998);
  }

  @Example
  void tasksOfOneTenantRunInOrder() {
    FairExecutor executor = open(Map.of());
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      int number = i;
      executor.of("a").execute(() -> order.add(number));
    }
    while (!thread.isEmpty()) {
      runNext();
    }
    assertThat(order).isSorted().hasSize(10);
  }

  @Example
  void aTaskThatThrowsCountsAndTheOthersRun() {
    FairExecutor executor = open(Map.of());
    executor.execute(
        "a",
        () -> {
          now += MILLI;
          throw new IllegalStateException("defect");
        });
    assertThatThrownBy(this::runNext).hasMessage("defect");
    submit(executor, "a", 1);
    submit(executor, "b", 1);
    runNext();
    runNext();
    assertThat(ran).containsExactlyInAnyOrder("a", "b");
  }

  /**
   * Tenants that always have tasks waiting get time by weight, whatever their tasks take: they
   * differ by no more than a task of each.
   */
  @Property(tries = 100)
  void tenantsThatCompeteGetTimeByWeight(
      @ForAll long seed,
      @ForAll @IntRange(min = 1, max = 5) int weight,
      @ForAll @IntRange(min = 1, max = 50) int heaviest) {
    Random random = new Random(seed);
    FairExecutor executor = open(Map.of("heavy", weight));
    int[] most = {1 + random.nextInt(heaviest), 1 + random.nextInt(heaviest)};
    List<String> tenants = List.of("heavy", "light");
    Map<String, Integer> submitted = new HashMap<>();
    for (int i = 0; i < 500; i++) {
      for (int t = 0; t < 2; t++) {
        String tenant = tenants.get(t);
        long waiting =
            submitted.getOrDefault(tenant, 0) - ran.stream().filter(tenant::equals).count();
        for (; waiting < 2; waiting++) {
          submit(executor, tenant, MILLI * (1 + random.nextInt(most[t])));
          submitted.merge(tenant, 1, Integer::sum);
        }
      }
      runNext();
    }
    double difference = (double) used.get("heavy") / weight - used.get("light");
    assertThat(difference / MILLI).isCloseTo(0, within((double) most[0] / weight + most[1]));
  }

  /** A newcomer waits for at most one task of each waiting tenant, whatever they have used. */
  @Property(tries = 100)
  void aNewcomerWaitsForOneTaskOfEachOther(
      @ForAll long seed, @ForAll @IntRange(min = 1, max = 10) int others) {
    Random random = new Random(seed);
    FairExecutor executor = open(Map.of());
    for (int i = 0; i < 50; i++) {
      for (int other = 0; other < others; other++) {
        submit(executor, "other " + other, MILLI);
      }
    }
    int before = random.nextInt(20 * others);
    for (int i = 0; i < before; i++) {
      runNext();
    }
    ran.clear();
    submit(executor, "new", MILLI);
    while (!ran.contains("new")) {
      runNext();
    }
    assertThat(ran.size()).isLessThanOrEqualTo(others + 1);
  }
}
