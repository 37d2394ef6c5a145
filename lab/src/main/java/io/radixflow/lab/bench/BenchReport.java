package io.radixflow.lab.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The option {@code --json} of benchmarks: writes their figures to a file. */
public final class BenchReport {
  @Option(
      names = "--json",
      paramLabel = "FILE",
      description = "Also write the figures as JSON to this file.")
  Path json;

  /** Prints the table and writes the file. */
  public void write(CliCommand command, Figures figures) throws IOException {
    command.out().print(figures.table());
    write(command, figures.json());
  }

  public void write(CliCommand command, ObjectNode figures) throws IOException {
    command.out().flush();
    if (json != null) {
      Files.writeString(json, figures.toPrettyString() + "\n");
    }
  }
}
