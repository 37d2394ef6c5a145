package io.radixflow.jobs.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The options that benchmarks share. */
final class BenchReport {
  @Option(
      names = "--rounds",
      paramLabel = "N",
      defaultValue = "5",
      description = "Measured rounds, after one to warm up (default: ${DEFAULT-VALUE}).")
  int rounds;

  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Also write the figures as JSON to this file.")
  Path json;

  int rounds() {
    if (rounds < 1) {
      throw new CliException("--rounds is " + rounds + ", must be at least 1");
    }
    return rounds;
  }

  void write(CliCommand command, ObjectNode figures) throws IOException {
    command.out().flush();
    if (json != null) {
      Files.writeString(json, figures.toPrettyString() + "\n");
    }
  }
}
