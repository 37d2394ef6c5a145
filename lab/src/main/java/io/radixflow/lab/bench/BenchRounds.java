package io.radixflow.lab.bench;

import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Progress;
import java.util.stream.IntStream;
import picocli.CommandLine.Option;

/** The option {@code --rounds} of benchmarks. */
public final class BenchRounds {
  @Option(
      names = "--rounds",
      paramLabel = "N",
      description = "Measured rounds, after one to warm up.")
  int rounds = 5;

  public int count() {
    if (rounds < 1) {
      throw new CliException("--rounds is " + rounds + "; it must be at least 1");
    }
    return rounds;
  }

  /** Returns the numbers of the rounds. Round -1 warms up. Shows which round has begun. */
  public Iterable<Integer> all(Progress progress) {
    return some(progress, 0, count());
  }

  /**
   * Returns the numbers of rounds {@code from} to {@code to - 1}, and before them a round to warm
   * up.
   */
  Iterable<Integer> some(Progress progress, int from, int to) {
    return IntStream.range(from - 1, to)
            .peek(round -> progress.detail("round " + Math.max(0, round + 1) + " of " + count()))
        ::iterator;
  }
}
