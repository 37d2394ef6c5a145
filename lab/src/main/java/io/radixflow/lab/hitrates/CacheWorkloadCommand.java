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
      defaultValue = "-",
      description = "Where to write; - for stdout (default: ${DEFAULT-VALUE}).")
  String out;

  @Option(
      names = "--sessions",
      paramLabel = "N",
      defaultValue = "1000",
      description = "Number of conversations (default: ${DEFAULT-VALUE}).")
  int sessions;

  @Option(
      names = "--turns",
      paramLabel = "N",
      defaultValue = "6",
      description = "Mean turns of the other sessions (default: ${DEFAULT-VALUE}).")
  double turns;

  @Option(
      names = "--only-one-turn",
      paramLabel = "SHARE",
      defaultValue = "0.35",
      description = "Share of sessions with one turn (default: ${DEFAULT-VALUE}).")
  double onlyOneTurn;

  @Option(
      names = "--closed",
      paramLabel = "SHARE",
      defaultValue = "0.6",
      description = "Share of sessions that are closed in the end (default: ${DEFAULT-VALUE}).")
  double closed;

  @Option(
      names = "--system-prompts",
      paramLabel = "N",
      defaultValue = "8",
      description = "System prompts that sessions share (default: ${DEFAULT-VALUE}).")
  int systemPrompts;

  @Option(
      names = "--system-words",
      paramLabel = "N",
      defaultValue = "400",
      description = "Median words of a system prompt (default: ${DEFAULT-VALUE}).")
  int systemWords;

  @Option(
      names = "--message-words",
      paramLabel = "N",
      defaultValue = "40",
      description = "Median words of a message (default: ${DEFAULT-VALUE}).")
  int messageWords;

  @Option(
      names = "--reply-words",
      paramLabel = "N",
      defaultValue = "150",
      description = "Median words of a reply (default: ${DEFAULT-VALUE}).")
  int replyWords;

  @Option(
      names = "--arrivals",
      paramLabel = "SECONDS",
      defaultValue = "5",
      description = "Mean time between the starts of sessions (default: ${DEFAULT-VALUE}).")
  double arrivalSeconds;

  @Option(
      names = "--think",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description = "Median time from a reply to the next message (default: ${DEFAULT-VALUE}).")
  double thinkSeconds;

  @Option(
      names = "--seed",
      paramLabel = "N",
      defaultValue = "1",
      description = "Seed of the random generator (default: ${DEFAULT-VALUE}).")
  long seed;

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
