package io.radixflow.lab.bench.operation;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.cache.policy.EvictionPolicies;
import io.radixflow.lab.bench.Figures;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures the operations of the radix cache. */
@Command(
    name = "bench",
    description = {
      "Measure the operations of the radix cache, and the heap that it needs.",
      "Chats: sessions of 10 turns share a system prompt of 512 tokens; each turn adds 128 tokens"
          + " of the user and 256 of the reply. Takes two minutes."
    })
public final class CacheBenchCommand extends CliCommand {
  private static final int MOST_PAGE_TOKENS = 128;

  @Mixin OperationTimes times;

  @Option(names = "--sessions", paramLabel = "N", description = "Number of chats at the same time.")
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
      description = "The eviction policy (default: the engine's).")
  String policy = CacheOptions.DEFAULT.evictionPolicy();

  CacheBenchCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    check();
    Figures figures = new Figures();
    figures.json().put("page_tokens", page).put("policy", policy).put("sessions", sessions);
    figures.note(
        "pages of %d tokens, policy %s, %,d sessions, Java %s",
        page, policy, sessions, Runtime.version());
    try (Progress progress = progress("measuring")) {
      progress.detail("memory");
      // measured first, because the operations leave garbage
      CacheFootprint.measure(sessions, page, policy).addTo(figures);
      measure(progress, figures.section("seconds", "microseconds"));
    }
    times.report.write(this, figures);
    return 0;
  }

  private void check() {
    if (page < 1 || page > MOST_PAGE_TOKENS || Integer.bitCount(page) != 1) {
      throw new CliException("--page is " + page + "; it must be a power of two up to 128");
    }
    times.check();
    CliException.throwIf(
        sessions < 1 || leaves.stream().anyMatch(n -> n < 1),
        "--sessions and --leaves must be at least 1");
    if (!EvictionPolicies.isKnown(policy)) {
      throw new CliException(
          "--policy is "
              + policy
              + "; it must be one of "
              + String.join(", ", EvictionPolicies.names()));
    }
  }

  private void measure(Progress progress, Figures figures) {
    CacheOperations cache = new CacheOperations(sessions, page, policy);
    for (int tokens : new int[] {640, 1024, 2176, 4096}) {
      String name = "match of " + tokens + " tokens";
      times.measure(progress, figures, name, cache.match(tokens, false));
    }
    times.measure(progress, figures, "the same, resumed", cache.match(4096, true));
    times.measure(progress, figures, "miss", cache.miss(1000));
    times.measure(progress, figures, "turn", cache.turn(false, false));
    times.measure(progress, figures, "turn, resumed", cache.turn(true, false));
    times.measure(progress, figures, "turn with SHA-256 for events", cache.turn(false, true));
    for (int count : leaves) {
      String name = "evict a page of %,d leaves".formatted(count);
      times.measure(progress, figures, name, cache.evict(count));
    }
  }
}
