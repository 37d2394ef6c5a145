package io.radixflow.lab.jmh;

import static io.radixflow.lab.jmh.JmhRuns.NO_GOAL;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.lab.jmh.JmhRuns.Row;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures the operations of the radix cache. */
@Command(
    name = "bench",
    description = {
      "Measure the operations of the radix cache with JMH, and show their goals.",
      "Chats: sessions of 10 turns share a system prompt of 512 tokens; each turn adds 128 tokens"
          + " of the user and 256 of the reply. Takes two minutes."
    })
public final class CacheBenchCommand extends CliCommand {
  private static final int MOST_PAGE_TOKENS = 128;
  private static final double MOST_GROWTH = 3;
  private static final String TURN = "turn";
  private static final String HASHED_TURN = "turn with SHA-256 for events";
  private static final String EVICT = "evict ";

  @Mixin JmhRuns runs;

  @Option(names = "--sessions", paramLabel = "N", description = "Chats at a time.")
  int sessions = 500;

  @Option(
      names = "--leaves",
      paramLabel = "N",
      split = ",",
      defaultValue = "1000,50000,1000000",
      description = "Sizes of the trees to evict from, in leaves.")
  List<Integer> leaves;

  @Option(
      names = "--page",
      paramLabel = "TOKENS",
      description = "Tokens per page, a power of two up to 128.")
  int page = 16;

  @Option(
      names = "--policy",
      paramLabel = "NAME",
      description = "The eviction policy; without it the engine's default.")
  String policy = CacheOptions.DEFAULT.evictionPolicy();

  CacheBenchCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    check();
    CacheFootprint footprint;
    try (Progress progress = progress("measuring")) {
      measure(progress);
      progress.detail("memory");
      footprint = CacheFootprint.measure(sessions, page, policy);
    }
    print(
        "pages of %d tokens, policy %s, %,d sessions, Java %s%n",
        page, policy, sessions, Runtime.version());
    runs.print(out());
    print("of a turn with SHA-256, hashing takes %.2f at p50%n", hashing50());
    print(
        "evict, most leaves over fewest: %.1fx at p50, %.1fx at p99; goal at most %.0fx: %s%n",
        growth(Row::p50), growth(Row::p99), MOST_GROWTH, met(growth(Row::p99) <= MOST_GROWTH));
    footprint.print(out());
    ObjectNode json = runs.json();
    json.put("turn_hashing_p50_us", hashing50());
    json.putObject("evict_growth")
        .put("p50", growth(Row::p50))
        .put("p99", growth(Row::p99))
        .put("goal", MOST_GROWTH)
        .put("goal_met", growth(Row::p99) <= MOST_GROWTH);
    footprint.putInto(json);
    json.put("page_tokens", page).put("policy", policy).put("sessions", sessions);
    runs.report.write(this, json);
    return 0;
  }

  static String met(boolean met) {
    return met ? "met" : "MISSED";
  }

  private double hashing50() {
    return runs.rows(HASHED_TURN).get(0).p50() - runs.rows(TURN).get(0).p50();
  }

  private double growth(ToDoubleFunction<Row> time) {
    List<Row> evictions = runs.rows(EVICT);
    return time.applyAsDouble(evictions.get(evictions.size() - 1))
        / time.applyAsDouble(evictions.get(0));
  }

  private void check() {
    if (page < 1 || page > MOST_PAGE_TOKENS || Integer.bitCount(page) != 1) {
      throw new CliException("--page is " + page + "; it must be a power of two up to 128");
    }
    runs.check();
    if (sessions < 1 || leaves.stream().anyMatch(n -> n < 1)) {
      throw new CliException("--sessions and --leaves must be at least 1");
    }
    if (!EvictionPolicies.isKnown(policy)) {
      throw new CliException(
          "--policy is "
              + policy
              + "; it must be one of "
              + String.join(", ", EvictionPolicies.names()));
    }
  }

  private void measure(Progress progress) {
    for (int tokens : new int[] {640, 1024, 2176}) {
      measure(progress, "match of " + tokens + " tokens", NO_GOAL, NO_GOAL, match(tokens, false));
    }
    measure(progress, "match of 4096 tokens", 5, 25, match(4096, false));
    measure(progress, "the same, resumed", 5, 25, match(4096, true));
    measure(progress, "miss", 1, NO_GOAL, Map.of("operation", "miss", "leaves", 1000));
    measure(progress, TURN, 15, NO_GOAL, turn(false, false));
    measure(progress, "turn, resumed", 15, NO_GOAL, turn(true, false));
    measure(progress, HASHED_TURN, NO_GOAL, NO_GOAL, turn(false, true));
    for (int count : leaves) {
      String name = String.format(EVICT + "a page of %,d leaves", count);
      measure(progress, name, NO_GOAL, 5, Map.of("operation", "evict", "leaves", count));
    }
  }

  private static Map<String, ?> match(int tokens, boolean resumed) {
    return Map.of("operation", "match", "tokens", tokens, "resumed", resumed);
  }

  private static Map<String, ?> turn(boolean resumed, boolean events) {
    return Map.of("operation", "turn", "resumed", resumed, "events", events);
  }

  private void measure(
      Progress progress, String name, double goal50, double goal99, Map<String, ?> values) {
    progress.detail(name);
    Map<String, Object> all = new HashMap<>(values);
    all.putAll(Map.of("pageTokens", page, "policy", policy, "sessions", sessions));
    runs.measure(name, goal50, goal99, "CacheBenchmark", all);
  }
}
