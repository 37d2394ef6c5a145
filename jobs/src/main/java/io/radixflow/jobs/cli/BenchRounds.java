package io.radixflow.jobs.cli;

import picocli.CommandLine.Option;

/** How often a benchmark measures. */
final class BenchRounds {
  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "Measured rounds, after one to warm up (default: ${DEFAULT-VALUE}).")
  int rounds;

  int count() {
    if (rounds < 1) {
      throw new CliException("--rounds is " + rounds + ", must be at least 1");
    }
    return rounds;
  }
}
