package io.radixflow.lab.jmh;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * One operation that {@code cache bench} measures.
 *
 * @param name for people
 * @param benchmark JMH's class
 * @param parameters of its own
 * @param goal50 most microseconds of the median; NaN without a goal
 * @param goal99 of the 99th percentile
 * @param sglang what SGLang takes for the same
 */
record CacheBenchCase(
    String name,
    Class<?> benchmark,
    Map<String, String> parameters,
    double goal50,
    double goal99,
    SglangTimes sglang) {
  /** Names of a turn without and with the hashing of its pages. */
  static final String TURN = "turn";

  static final String HASHED_TURN = "turn with SHA-256 for events";

  private static final double NONE = Double.NaN;

  /**
   * All operations.
   *
   * @param sessions that chat
   * @param leaves sizes of the trees that evictions are measured in
   */
  static List<CacheBenchCase> all(int sessions, List<Integer> leaves) {
    List<CacheBenchCase> cases = new ArrayList<>();
    cases.add(match(sessions, 640, NONE, NONE, SglangTimes.MATCH_640));
    cases.add(match(sessions, 1024, NONE, NONE, SglangTimes.MATCH_1024));
    cases.add(match(sessions, 2176, NONE, NONE, SglangTimes.MATCH_2176));
    cases.add(match(sessions, 4096, 5, 25, SglangTimes.MATCH_4096));
    cases.add(
        new CacheBenchCase(
            "the same, resumed",
            MatchBenchmark.class,
            Map.of("sessions", "" + sessions, "tokens", "4096", "resumed", "true"),
            5,
            25,
            SglangTimes.MATCH_4096));
    cases.add(
        new CacheBenchCase(
            "miss", MissBenchmark.class, Map.of("leaves", "1000"), 1, NONE, SglangTimes.MISS));
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
              5,
              SglangTimes.evict(count)));
    }
    return cases;
  }

  private static CacheBenchCase match(
      int sessions, int tokens, double goal50, double goal99, SglangTimes sglang) {
    return new CacheBenchCase(
        "match of " + tokens + " tokens",
        MatchBenchmark.class,
        Map.of("sessions", "" + sessions, "tokens", "" + tokens, "resumed", "false"),
        goal50,
        goal99,
        sglang);
  }

  private static CacheBenchCase turn(
      String name, int sessions, boolean resumed, boolean events, double goal50) {
    return new CacheBenchCase(
        name,
        TurnBenchmark.class,
        Map.of("sessions", "" + sessions, "resumed", "" + resumed, "events", "" + events),
        goal50,
        NONE,
        SglangTimes.TURN);
  }

  /** Whether the goals are met; true without one. */
  boolean isMet(double p50, double p99) {
    return !(p50 > goal50) && !(p99 > goal99);
  }

  /** The goals in words, or nothing. */
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
