package io.radixflow.lab.hitrates;

import io.radixflow.lab.workload.TrafficGenerator;
import io.radixflow.lab.workload.TrafficModel;
import io.radixflow.tools.cli.common.CliCommand;
import io.radixflow.tools.cli.common.CliEnvironment;
import io.radixflow.tools.cli.common.CliException;
import io.radixflow.tools.cli.common.Progress;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Writes made-up traffic of the job for {@code cache simulate}. */
@Command(
    name = "workload",
    description = {
      "Make up conversations: JSON lines as the job's topics of events and replies have them, in"
          + " the order of time.",
      "Lengths and times vary around what is given; equal options make equal lines."
    })
public final class CacheWorkloadCommand extends CliCommand {
  @Option(
      names = "--out",
      paramLabel = "FILE",
      description = "Where to write; - for stdout.")
  String out = "-";

  @Option(
      names = "--sessions",
      paramLabel = "N",
      description = "Number of conversations.")
  int sessions = 1000;

  @Option(
      names = "--turns",
      paramLabel = "N",
      description = "Mean turns of the other sessions.")
  double turns = 6;

  @Option(
      names = "--only-one-turn",
      paramLabel = "SHARE",
      description = "Share of sessions with one turn.")
  double onlyOneTurn = 0.35;

  @Option(
      names = "--closed",
      paramLabel = "SHARE",
      description = "Share of sessions that are closed in the end.")
  double closed = 0.6;

  @Option(
      names = "--system-prompts",
      paramLabel = "N",
      description = "System prompts that sessions share.")
  int systemPrompts = 8;

  @Option(
      names = "--system-words",
      paramLabel = "N",
      description = "Median words of a system prompt.")
  int systemWords = 400;

  @Option(
      names = "--message-words",
      paramLabel = "N",
      description = "Median words of a message.")
  int messageWords = 40;

  @Option(
      names = "--reply-words",
      paramLabel = "N",
      description = "Median words of a reply.")
  int replyWords = 150;

  @Option(
      names = "--arrivals",
      paramLabel = "SECONDS",
      description = "Mean time between the starts of sessions.")
  double arrivalSeconds = 5;

  @Option(
      names = "--think",
      paramLabel = "SECONDS",
      description = "Median time from a reply to the next message.")
  double thinkSeconds = 60;

  @Option(
      names = "--seed",
      paramLabel = "N",
      description = "Seed of the random generator.")
  long seed = 1;

  CacheWorkloadCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException {
    TrafficGenerator generator = new TrafficGenerator(model());
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

  private TrafficModel model() {
    try {
      return new TrafficModel(
          sessions,
          turns,
          onlyOneTurn,
          closed,
          systemPrompts,
          systemWords,
          messageWords,
          replyWords,
          arrivalSeconds,
          thinkSeconds,
          seed);
    } catch (IllegalArgumentException e) {
      throw new CliException("these conversations cannot be made: " + e.getMessage(), e);
    }
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
