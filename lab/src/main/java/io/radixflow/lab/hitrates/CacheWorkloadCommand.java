package io.radixflow.lab.hitrates;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.lab.workload.TrafficGenerator;
import io.radixflow.lab.workload.TrafficModel;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Writes made-up traffic for {@code cache simulate}. */
@Command(
    name = "workload",
    description = {
      "Make up conversations: JSON lines like in the job's topics of events and replies, ordered "
          + "by time.",
      "Lengths and times vary around the given values; equal options make equal lines."
    })
public final class CacheWorkloadCommand extends CliCommand {
  @Mixin TrafficModel model;

  @Option(names = "--out", paramLabel = "FILE", description = "Where to write; - for stdout.")
  String out = "-";

  CacheWorkloadCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    TrafficGenerator generator;
    try {
      generator = new TrafficGenerator(model);
    } catch (IllegalArgumentException e) {
      throw new CliException("these conversations cannot be made: " + e.getMessage(), e);
    }
    try (Progress progress = progress("making conversations")) {
      if (out.equals("-")) {
        generator.run((millis, json) -> writeToStdout(json));
        out().flush();
      } else {
        writeToFile(generator, progress);
      }
    }
    return 0;
  }

  private void writeToStdout(byte[] json) {
    out().print(new String(json, StandardCharsets.UTF_8));
    out().print('\n');
    if (out().checkError()) {
      throw new CliException("cannot write the output; is the disk full or the reader gone?");
    }
  }

  private void writeToFile(TrafficGenerator generator, Progress progress) throws IOException {
    long[] records = new long[1];
    try (OutputStream file =
        new BufferedOutputStream(Files.newOutputStream(Path.of(out)), 1 << 16)) {
      generator.run(
          (millis, json) -> {
            file.write(json);
            file.write('\n');
            progress.detail(++records[0] + " records");
          });
    }
  }
}
