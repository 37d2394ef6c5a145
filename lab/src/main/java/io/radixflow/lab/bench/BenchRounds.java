package io.radixflow.lab.bench;

import io.radixflow.tools.cli.common.CliException;
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
}
