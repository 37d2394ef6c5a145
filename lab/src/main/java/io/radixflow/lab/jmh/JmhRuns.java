package io.radixflow.lab.jmh;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Errors;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.lab.bench.BenchReport;
import io.radixflow.lab.bench.BenchRounds;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;
import org.openjdk.jmh.util.Statistics;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The measurements of a command with JMH, next to their goals; its options are the command's. */
final class JmhRuns {
  static final double NO_GOAL = Double.NaN;
  private static final int WARM_UP_ROUNDS = 3;

  @Mixin BenchRounds rounds;

  @Mixin BenchReport report;

  @Option(names = "--time", paramLabel = "MILLISECONDS", description = "Length of a round.")
  int millis = 1000;

  @Option(
      names = "--forks",
      paramLabel = "N",
      description = "Processes, one after the other, for each operation; 0 measures in this one.")
  int forks = 1;

  private final List<Row> rows = new ArrayList<>();

  /**
   * An operation that was measured. Times are in microseconds.
   *
   * @param most the longest time
   * @param goal50 most microseconds of the median, or {@link #NO_GOAL}
   * @param goal99 most microseconds of the 99th percentile, or {@link #NO_GOAL}
   */
  record Row(
      String name,
      double p50,
      double p99,
      double most,
      long samples,
      double goal50,
      double goal99) {

    /** Returns true if the goals are met; an operation without a goal meets it. */
    boolean isMet() {
      return !(p50 > goal50) && !(p99 > goal99);
    }

    private String goal() {
      String first = Double.isNaN(goal50) ? "" : String.format(Locale.ROOT, "p50 %.0f", goal50);
      String last = Double.isNaN(goal99) ? "" : String.format(Locale.ROOT, "p99 %.0f", goal99);
      String goal = first + (first.isEmpty() || last.isEmpty() ? "" : ", ") + last;
      return goal.isEmpty() ? "" : "   goal " + goal + ": " + (isMet() ? "met" : "MISSED");
    }
  }

  void check() {
    if (millis < 1 || forks < 0) {
      throw new CliException("--time must be at least 1, --forks 0");
    }
  }

  /** Measures the time of each call. */
  void measure(String name, double goal50, double goal99, String method, Map<String, ?> values) {
    run(
        name,
        goal50,
        goal99,
        values,
        options(method)
            .mode(Mode.SampleTime)
            .forks(forks)
            .warmupIterations(WARM_UP_ROUNDS)
            .measurementIterations(rounds.count()));
  }

  /** Measures the first call in each of several processes. */
  void measureFirst(String name, String method, Map<String, ?> values) {
    run(
        name,
        NO_GOAL,
        NO_GOAL,
        values,
        options(method)
            .mode(Mode.SingleShotTime)
            .forks(forks * rounds.count())
            .warmupIterations(0)
            .measurementIterations(1));
  }

  /** All arguments of this JVM except the module of the vector kernels, which warns in each. */
  private ChainedOptionsBuilder options(String method) {
    String[] arguments =
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
            .filter(argument -> !argument.startsWith("--add-modules"))
            .toArray(String[]::new);
    TimeValue time = TimeValue.milliseconds(millis);
    return new OptionsBuilder()
        .include("\\b" + method + "\\b")
        .jvmArgs(arguments)
        .warmupTime(time)
        .measurementTime(time)
        .shouldFailOnError(true)
        .verbosity(VerboseMode.SILENT);
  }

  private void run(
      String name,
      double goal50,
      double goal99,
      Map<String, ?> values,
      ChainedOptionsBuilder options) {
    values.forEach((key, value) -> options.param(key, value.toString()));
    try {
      for (RunResult result : new Runner(options.build()).run()) {
        Statistics nanos = result.getPrimaryResult().getStatistics();
        double p50 = nanos.getPercentile(50) * 1e-3;
        double p99 = nanos.getPercentile(99) * 1e-3;
        rows.add(new Row(name, p50, p99, nanos.getMax() * 1e-3, nanos.getN(), goal50, goal99));
      }
    } catch (RunnerException e) {
      throw new CliException("cannot measure '" + name + "': " + Errors.line(e), e);
    }
  }

  /** Returns the rows whose names begin with {@code start}. */
  List<Row> rows(String start) {
    return rows.stream().filter(row -> row.name().startsWith(start)).toList();
  }

  void print(PrintWriter out) {
    out.printf("%-32s %9s %9s %9s %9s%n", "microseconds", "p50", "p99", "most", "samples");
    for (Row row : rows) {
      out.printf(
          Locale.ROOT,
          "%-32s %9.2f %9.2f %9.1f %9d%s%n",
          row.name(),
          row.p50(),
          row.p99(),
          row.most(),
          row.samples(),
          row.goal());
    }
  }

  ObjectNode json() {
    ObjectNode json = JsonLineOutput.object();
    ArrayNode results = json.putArray("results");
    for (Row row : rows) {
      ObjectNode result = results.addObject();
      result.put("name", row.name()).put("samples", row.samples());
      result.put("p50_us", row.p50()).put("p99_us", row.p99()).put("max_us", row.most());
      putGoal(result, "goal_p50_us", row.goal50());
      putGoal(result, "goal_p99_us", row.goal99());
      result.put("goal_met", row.isMet());
    }
    return json.put("java", Runtime.version().toString());
  }

  private static void putGoal(ObjectNode json, String name, double goal) {
    if (!Double.isNaN(goal)) {
      json.put(name, goal);
    }
  }
}
