package io.radixflow.lab.jmh;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.lab.bench.BenchReport;
import io.radixflow.lab.bench.BenchRounds;
import io.radixflow.operators.cache.policy.EvictionPolicies;
import io.radixflow.operators.engine.CacheOptions;
import io.radixflow.tools.cli.common.CliCommand;
import io.radixflow.tools.cli.common.CliEnvironment;
import io.radixflow.tools.cli.common.CliException;
import io.radixflow.tools.cli.common.Errors;
import io.radixflow.tools.cli.common.Progress;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.List;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.openjdk.jmh.util.Statistics;
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
  private static final int WARM_UP_ROUNDS = 3;
  private static final int MOST_PAGE_TOKENS = 128;

  @Mixin BenchRounds rounds;
  @Mixin BenchReport report;

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

  @Option(names = "--time", paramLabel = "MILLISECONDS", description = "Length of a round.")
  int millis = 1000;

  @Option(
      names = "--forks",
      paramLabel = "N",
      description = "Processes, one after the other, for each operation; 0 measures in this one.")
  int forks = 1;

  CacheBenchCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    check();
    CacheBenchReport measured = new CacheBenchReport();
    List<CacheBenchCase> cases = CacheBenchCase.all(sessions, leaves);
    CacheFootprint footprint;
    try (Progress progress = progress("measuring")) {
      for (CacheBenchCase each : cases) {
        progress.detail(each.name());
        measure(each, measured);
      }
      progress.detail("memory");
      footprint = CacheFootprint.measure(sessions, page, policy);
    }
    print(
        "pages of %d tokens, policy %s, %,d sessions, Java %s%n",
        page, policy, sessions, Runtime.version());
    measured.print(out(), footprint);
    ObjectNode json = measured.json(footprint);
    json.put("page_tokens", page).put("policy", policy).put("sessions", sessions);
    report.write(this, json.put("java", Runtime.version().toString()));
    return 0;
  }

  private void check() {
    if (page < 1 || page > MOST_PAGE_TOKENS || Integer.bitCount(page) != 1) {
      throw new CliException("--page is " + page + "; it must be a power of two up to 128");
    }
    if (sessions < 1 || millis < 1 || forks < 0 || leaves.stream().anyMatch(n -> n < 1)) {
      throw new CliException("--sessions, --leaves and --time must be at least 1, --forks 0");
    }
    if (!EvictionPolicies.isKnown(policy)) {
      throw new CliException(
          "--policy is "
              + policy
              + "; it must be one of "
              + String.join(", ", EvictionPolicies.names()));
    }
  }

  private void measure(CacheBenchCase one, CacheBenchReport measured) {
    TimeValue time = TimeValue.milliseconds(millis);
    ChainedOptionsBuilder options =
        new OptionsBuilder()
            .include("\\b" + one.benchmark().getSimpleName() + "\\b")
            .forks(forks)
            .jvmArgs(jvmArguments())
            .warmupIterations(WARM_UP_ROUNDS)
            .warmupTime(time)
            .measurementIterations(rounds.count())
            .measurementTime(time)
            .shouldFailOnError(true)
            .verbosity(VerboseMode.SILENT)
            .param("pageTokens", Integer.toString(page))
            .param("policy", policy);
    one.parameters().forEach(options::param);
    try {
      for (RunResult result : new Runner(options.build()).run()) {
        Statistics nanos = result.getPrimaryResult().getStatistics();
        measured.add(
            one, nanos.getPercentile(50) * 1e-3, nanos.getPercentile(99) * 1e-3, nanos.getN());
      }
    } catch (RunnerException e) {
      throw new CliException("cannot measure '" + one.name() + "': " + Errors.line(e), e);
    }
  }

  /** This JVM's, but for the module of the vector kernels, which each process would warn about. */
  static String[] jvmArguments() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(argument -> !argument.startsWith("--add-modules"))
        .toArray(String[]::new);
  }
}
