package io.radixflow.lab.jmh;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.lab.bench.BenchReport;
import io.radixflow.lab.bench.BenchRounds;
import io.radixflow.tools.cli.common.CliCommand;
import io.radixflow.tools.cli.common.CliEnvironment;
import io.radixflow.tools.cli.common.CliException;
import io.radixflow.tools.cli.common.Errors;
import io.radixflow.tools.cli.common.JsonLineOutput;
import io.radixflow.tools.cli.common.Progress;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.annotations.Mode;
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

/** Measures grammars: the masks of tokens, and compiling. */
@Command(
    name = "bench",
    description = {
      "Measure with JMH how long the mask of a reply's next token takes at 128,000 tokens, and"
          + " compiling a schema of 100 properties.",
      "The vocabulary is synthetic and always the same; each document's schema is compiled again."
    })
public final class GrammarBenchCommand extends CliCommand {
  private static final int WARM_UP_ROUNDS = 3;
  private static final double MASK_P50 = 50;
  private static final double MASK_P99 = 1000;
  private static final double COMPILE_P50 = 10_000;

  @Mixin BenchRounds rounds;
  @Mixin BenchReport report;

  @Option(names = "--time", paramLabel = "MILLISECONDS", description = "Length of a round.")
  int millis = 2000;

  @Option(
      names = "--forks",
      paramLabel = "N",
      description = "Processes, one after the other, for each operation; 0 measures in this one.")
  int forks = 1;

  @Option(
      names = "--write",
      paramLabel = "FILE",
      description = "Also write the vocabulary, the schemas and the documents as JSON.")
  Path workload;

  private final List<Row> rows = new ArrayList<>();

  /** Times in microseconds; goals are NaN without one. */
  private record Row(
      String name,
      double p50,
      double p99,
      double most,
      long samples,
      double goal50,
      double goal99) {
    boolean isMet() {
      return !(p50 > goal50) && !(p99 > goal99);
    }
  }

  GrammarBenchCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    if (millis < 1 || forks < 0) {
      throw new CliException("--time must be at least 1, --forks 0");
    }
    List<byte[]> vocabulary = SyntheticVocabulary.tokens();
    List<GrammarCases.Case> cases = GrammarCases.all(vocabulary);
    if (workload != null) {
      Files.writeString(workload, json(vocabulary, cases).toString());
    }
    try (Progress progress = progress("measuring")) {
      progress.detail("masks");
      measure("mask, all documents", MASK_P50, MASK_P99, masks(""));
      for (GrammarCases.Case each : cases) {
        progress.detail("masks of " + each.name());
        measure("mask, " + each.name(), Double.NaN, Double.NaN, masks(each.name()));
      }
      progress.detail("compiling");
      measure("compile 100 properties", COMPILE_P50, Double.NaN, compile(Mode.SampleTime, false));
      for (boolean warm : new boolean[] {false, true}) {
        measure(
            warm ? "the first time after a warm-up" : "the same, the first time",
            Double.NaN,
            Double.NaN,
            compile(Mode.SingleShotTime, warm));
      }
    }
    print("vocabulary of %,d tokens, Java %s%n", SyntheticVocabulary.SIZE, Runtime.version());
    print("%-32s %9s %9s %9s %9s%n", "microseconds", "p50", "p99", "most", "samples");
    rows.forEach(this::print);
    report.write(this, json());
    return 0;
  }

  private ChainedOptionsBuilder masks(String only) {
    return options(MaskBenchmark.class)
        .mode(Mode.SampleTime)
        .forks(forks)
        .warmupIterations(WARM_UP_ROUNDS)
        .measurementIterations(rounds.count())
        .param("only", only);
  }

  private ChainedOptionsBuilder compile(Mode mode, boolean warm) {
    boolean first = mode == Mode.SingleShotTime;
    return options(CompileBenchmark.class)
        .param("warm", Boolean.toString(warm))
        .mode(mode)
        .forks(first ? forks * rounds.count() : forks)
        .warmupIterations(first ? 0 : WARM_UP_ROUNDS)
        .measurementIterations(first ? 1 : rounds.count());
  }

  private ChainedOptionsBuilder options(Class<?> benchmark) {
    TimeValue time = TimeValue.milliseconds(millis);
    return new OptionsBuilder()
        .include("\\b" + benchmark.getSimpleName() + "\\b")
        .jvmArgs(CacheBenchCommand.jvmArguments())
        .warmupTime(time)
        .measurementTime(time)
        .shouldFailOnError(true)
        .verbosity(VerboseMode.SILENT);
  }

  private void measure(String name, double goal50, double goal99, ChainedOptionsBuilder options) {
    try {
      for (RunResult result : new Runner(options.build()).run()) {
        Statistics nanos = result.getPrimaryResult().getStatistics();
        rows.add(
            new Row(
                name,
                nanos.getPercentile(50) * 1e-3,
                nanos.getPercentile(99) * 1e-3,
                nanos.getMax() * 1e-3,
                nanos.getN(),
                goal50,
                goal99));
      }
    } catch (RunnerException e) {
      throw new CliException("cannot measure '" + name + "': " + Errors.line(e), e);
    }
  }

  private void print(Row row) {
    String met = row.isMet() ? "met" : "MISSED";
    String goal =
        Double.isNaN(row.goal50)
            ? ""
            : Double.isNaN(row.goal99)
                ? String.format(Locale.ROOT, "   goal p50 %.0f: %s", row.goal50, met)
                : String.format(
                    Locale.ROOT, "   goal p50 %.0f, p99 %.0f: %s", row.goal50, row.goal99, met);
    print(
        "%-32s %9.1f %9.1f %9.1f %9d%s%n", row.name, row.p50, row.p99, row.most, row.samples, goal);
  }

  private ObjectNode json() {
    ObjectNode json = JsonLineOutput.object();
    ArrayNode results = json.putArray("results");
    for (Row row : rows) {
      results
          .addObject()
          .put("name", row.name)
          .put("samples", row.samples)
          .put("p50_us", row.p50)
          .put("p99_us", row.p99)
          .put("max_us", row.most)
          .put("goal_met", row.isMet());
    }
    return json.put("java", Runtime.version().toString());
  }

  private static ObjectNode json(List<byte[]> vocabulary, List<GrammarCases.Case> cases) {
    ObjectNode json = JsonLineOutput.object();
    ArrayNode tokens = json.putArray("tokens");
    vocabulary.forEach(bytes -> tokens.add(Base64.getEncoder().encodeToString(bytes)));
    json.put("end", SyntheticVocabulary.END);
    ArrayNode all = json.putArray("cases");
    for (GrammarCases.Case each : cases) {
      ArrayNode ids =
          all.addObject()
              .put("name", each.name())
              .put("schema", each.schema())
              .put("text", each.text())
              .putArray("ids");
      for (int id : each.ids()) {
        ids.add(id);
      }
    }
    return json;
  }
}
