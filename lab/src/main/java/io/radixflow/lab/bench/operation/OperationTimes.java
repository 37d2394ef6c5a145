package io.radixflow.lab.bench.operation;

import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.bench.BenchReport;
import io.radixflow.lab.bench.BenchRounds;
import io.radixflow.lab.bench.Figures;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures the time of each call of an operation. Its options belong to the command. */
final class OperationTimes {
  private static final int WARM_UP_ROUNDS = 3;

  /** The most timed calls; limits the memory of the samples. */
  private static final int MOST_CALLS = 1_000_000;

  /** Results are stored here, so that the compiler removes no call. */
  static volatile Object sink;

  @Mixin BenchRounds rounds;

  @Mixin BenchReport report;

  @Option(names = "--time", paramLabel = "MILLISECONDS", description = "Length of a round.")
  int millis = 1000;

  /** An operation with a preparation that is not timed. */
  interface Operation {
    default void prepare() {}

    Object run();
  }

  void check() {
    CliException.throwIf(millis < 1, "--time must be at least 1");
  }

  /** Times an operation in rounds; the figures are in microseconds. */
  void measure(Progress progress, Figures figures, String name, Operation operation) {
    progress.detail(name);
    Samples seconds = new Samples();
    for (int round = -WARM_UP_ROUNDS; round < rounds.count(); round++) {
      long end = System.nanoTime() + 1_000_000L * millis;
      for (int call = 0; call == 0 || call < MOST_CALLS && System.nanoTime() < end; call++) {
        double time = seconds(operation);
        if (round >= 0) {
          seconds.add(time);
        }
      }
    }
    figures.add(name, name, seconds, 1e6);
  }

  static double seconds(Operation operation) {
    operation.prepare();
    long begun = System.nanoTime();
    sink = operation.run();
    return (System.nanoTime() - begun) * 1e-9;
  }
}
