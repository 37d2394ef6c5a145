package io.radixflow.lab.simulate;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.cache.EvictionPolicy;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Compares the learning policy with fixed policies, on published traces in several orders. */
class AdaptiveOrderingsTest {
  private static final List<String> FIXED = List.of("lru", "fifo", "slru", "lfu-ghost");
  private static final int[] CAPACITIES = {1000, 2000, 5000, 10_000, 20_000, 30_000};

  /** The requests of a trace, each a line of runs {@code first+count} of blocks. */
  private static List<String> requests(String trace) throws IOException {
    String path = "/workloads/" + trace + ".txt.gz";
    try (BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                new GZIPInputStream(AdaptiveOrderingsTest.class.getResourceAsStream(path)),
                StandardCharsets.UTF_8))) {
      return reader.lines().toList();
    }
  }

  private static CacheWorkload workload(List<String> requests) {
    CacheWorkload.Builder workload = new CacheWorkload.Builder();
    for (String request : requests) {
      workload.begin(0);
      for (String run : request.split(" ")) {
        String[] parts = run.split("\\+");
        int first = Integer.parseInt(parts[0]);
        int count = Integer.parseInt(parts[1]);
        for (int i = 0; i < count; i++) {
          workload.block(first + i);
        }
      }
    }
    return workload.build();
  }

  /** Sixths of the requests in the order that the digits give. */
  private static List<String> sixths(List<String> requests, String order) {
    List<String> chosen = new ArrayList<>();
    for (char digit : order.toCharArray()) {
      int sixth = digit - '0';
      chosen.addAll(
          requests.subList(requests.size() * sixth / 6, requests.size() * (sixth + 1) / 6));
    }
    return chosen;
  }

  private static double percent(CacheWorkload workload, int capacity, String policy) {
    EvictionPolicy made = EvictionPolicies.of(policy, capacity, 0.8);
    long hits = CacheSimulation.run(workload, capacity, made, true).hits();
    return 100.0 * hits / workload.inputBlocks();
  }

  @ParameterizedTest
  @CsvSource({
    "conversation, 012345, 0.7",
    "conversation, 345, 0.7",
    "conversation, 345012, 0.7",
    "synthetic, 012345, 0.7",
    "synthetic, 012, 0.7",
    "synthetic, 345, 0.7",
    "synthetic, 345012, 0.7",
    // a hundred requests make half of the hits: five or so are a point
    "synthetic, 450123, 0.8",
    "synthetic, 501234, 0.8",
  })
  void adaptiveIsNowhereMuchBehindTheBestFixedPolicy(String trace, String order, double margin)
      throws IOException {
    CacheWorkload workload = workload(sixths(requests(trace), order));

    for (int capacity : CAPACITIES) {
      double best =
          FIXED.stream().mapToDouble(each -> percent(workload, capacity, each)).max().orElseThrow();
      assertThat(percent(workload, capacity, "adaptive"))
          .as(capacity + " pages")
          .isGreaterThan(best - margin);
    }
  }
}
