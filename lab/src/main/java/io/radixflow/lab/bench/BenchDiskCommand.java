package io.radixflow.lab.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.tools.cli.common.CliCommand;
import io.radixflow.tools.cli.common.CliEnvironment;
import io.radixflow.tools.cli.common.CliException;
import io.radixflow.tools.cli.common.JsonLineOutput;
import io.radixflow.tools.cli.common.Progress;
import io.radixflow.tools.cli.common.Samples;
import io.radixflow.tools.cli.common.TemporaryDirectory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What a disk tier of many pages costs a checkpoint, and how long it takes to open. */
@Command(
    name = "disk",
    description = {
      "Measure a disk tier of many small pages: what a checkpoint of its page directory takes of the"
          + " thread of Flink's mailbox, and of its own; how long opening the store takes with the"
          + " directory, with one of an earlier checkpoint, and without one.",
      "Pages are made up, and their files deleted in the end. The mailbox's calls are made while the"
          + " directory is being copied."
    })
final class BenchDiskCommand extends CliCommand {
  @Mixin BenchRounds rounds;
  @Mixin BenchReport report;

  @Option(
      names = "--pages",
      paramLabel = "N",
      defaultValue = "1000000",
      description = "Pages on disk (default: ${DEFAULT-VALUE}).")
  int pages;

  @Option(
      names = "--page-bytes",
      paramLabel = "N",
      defaultValue = "64",
      description = "Bytes of each, besides 192 of its header (default: ${DEFAULT-VALUE}).")
  int pageBytes;

  @Option(
      names = "--changed",
      paramLabel = "N",
      defaultValue = "5000",
      description = "Pages written before each checkpoint (default: ${DEFAULT-VALUE}).")
  int changed;

  @Option(
      names = "--checkpoints",
      paramLabel = "N",
      defaultValue = "20",
      description = "Checkpoints to measure (default: ${DEFAULT-VALUE}).")
  int checkpoints;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description =
          "Makes the files in this directory (default: the system's for temporary files).")
  Path directory;

  BenchDiskCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (pages < 1 || pageBytes < 1 || pageBytes > 1 << 20 || changed < 1 || checkpoints < 2) {
      throw new CliException(
          "--pages and --changed must be at least 1, --page-bytes 1 to 1048576, --checkpoints at"
              + " least 2");
    }
    long all = pages + (long) changed * checkpoints;
    Samples mailbox = new Samples();
    Samples mailboxCpu = new Samples();
    Samples background = new Samples();
    Samples again = new Samples();
    Samples earlier = new Samples();
    Samples lost = new Samples();
    try (TemporaryDirectory files = TemporaryDirectory.create(directory, "radixflow-disk-");
        DiskBench bench = new DiskBench(files.path(), pageBytes, all);
        Progress progress = progress("measuring")) {
      bench.open(List.of());
      progress.detail("writing pages");
      bench.write(pages);
      for (int i = 1; i <= checkpoints; i++) {
        progress.detail("checkpoint " + i + " of " + checkpoints);
        bench.write(changed);
        DiskBench.Checkpoint checkpoint = bench.checkpoint(i);
        mailbox.add(checkpoint.mailbox());
        mailboxCpu.add(checkpoint.mailboxCpu());
        background.add(checkpoint.background());
      }
      for (int i = 0; i < rounds.count(); i++) {
        progress.detail("opening, round " + (i + 1) + " of " + rounds.count());
        again.add(bench.openAgain());
        earlier.add(bench.openEarlier());
        lost.add(bench.openWithoutDirectory());
      }
    }
    out().printf(Locale.ROOT, "%,d pages of %d bytes on disk, milliseconds%n", all, pageBytes);
    out().printf("%-46s %11s %11s %11s%n", "", "min", "median", "max");
    line("checkpoint, of the mailbox's thread", mailbox);
    line("the same, CPU time", mailboxCpu);
    line("checkpoint, of its own thread", background);
    line("opening", again);
    line("opening with the directory of the one before", earlier);
    line("opening without a directory", lost);
    ObjectNode json = JsonLineOutput.object();
    json.put("pages", all).put("page_bytes", pageBytes);
    mailbox.putInto(json.putObject("mailbox_seconds"));
    mailboxCpu.putInto(json.putObject("mailbox_cpu_seconds"));
    background.putInto(json.putObject("background_seconds"));
    again.putInto(json.putObject("open_seconds"));
    earlier.putInto(json.putObject("open_earlier_seconds"));
    lost.putInto(json.putObject("open_without_directory_seconds"));
    report.write(this, json);
    return 0;
  }

  private void line(String name, Samples samples) {
    out()
        .printf(
            Locale.ROOT,
            "%-46s %11.3f %11.3f %11.3f%n",
            name,
            samples.min() * 1e3,
            samples.median() * 1e3,
            samples.max() * 1e3);
  }
}
