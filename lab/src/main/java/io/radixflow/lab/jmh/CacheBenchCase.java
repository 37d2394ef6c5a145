package io.radixflow.lab.jmh;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One operation that {@code cache bench} measures.
 *
 * @param name the row's title in the report
 * @param benchmark JMH's class
 * @param parameters the benchmark's own
 * @param goal50 most microseconds of the median; NaN without a goal
 * @param goal99 most microseconds of the 99th percentile; NaN without a goal
 */
record CacheBenchCase(
    String name, Class<?> benchmark, Map<String, String> parameters, double goal50, double goal99) {
  /** Names of a turn without and with the hashing of its pages. */
  static final String TURN = "turn";

  static final String HASHED_TURN = "turn with SHA-256 for events";

  private static final double NONE = Double.NaN;

  /**
   * All operations.
   *
   * @param sessions number of chats
   * @param leaves sizes of the trees that evictions are measured in
   */
  static List<CacheBenchCase> all(int sessions, List<Integer> leaves) {
    List<CacheBenchCase> cases = new ArrayList<>();
    cases.add(match(sessions, 640, NONE, NONE));
    cases.add(match(sessions, 1024, NONE, NONE));
    cases.add(match(sessions, 2176, NONE, NONE));
    cases.add(match(sessions, 4096, 5, 25));
    cases.add(
        new CacheBenchCase(
            "the same, resumed",
            MatchBenchmark.class,
            Map.of("sessions", "" + sessions, "tokens", "4096", "resumed", "true"),
            5,
            25));
    cases.add(new CacheBenchCase("miss", MissBenchmark.class, Map.of("leaves", "1000"), 1, NONE));
    cases.add(turn(TURN, sessions, false, false, 15));
    cases.add(turn("turn, resumed", sessions, true, false, 15));
    cases.add(turn(HASHED_TURN, sessions, false, true, NONE));
    for (int count : leaves) {
      cases.add(
          new CacheBenchCase(
              String.format("evict a page of %,d leaves", count),
              EvictBenchmark.class,
              Map.of("leaves", "" + count),
              NONE,
              5));
    }
    return cases;
  }

  private static CacheBenchCase match(int sessions, int tokens, double goal50, double goal99) {
    return new CacheBenchCase(
        "match of " + tokens + " tokens",
        MatchBenchmark.class,
        Map.of("sessions", "" + sessions, "tokens", "" + tokens, "resumed", "false"),
        goal50,
        goal99);
  }

  private static CacheBenchCase turn(
      String name, int sessions, boolean resumed, boolean events, double goal50) {
    return new CacheBenchCase(
        name,
        TurnBenchmark.class,
        Map.of("sessions", "" + sessions, "resumed", "" + resumed, "events", "" + events),
        goal50,
        NONE);
  }

  /** Returns true if the goals are met; a case without a goal meets it. */
  boolean isMet(double p50, double p99) {
    return !(p50 > goal50) && !(p99 > goal99);
  }

  /** The goals in words; empty without one. */
  String goal() {
    List<String> goals = new ArrayList<>();
    if (!Double.isNaN(goal50)) {
      goals.add(String.format("p50 %.0f", goal50));
    }
    if (!Double.isNaN(goal99)) {
      goals.add(String.format("p99 %.0f", goal99));
    }
    return String.join(", ", goals);
  }
}
