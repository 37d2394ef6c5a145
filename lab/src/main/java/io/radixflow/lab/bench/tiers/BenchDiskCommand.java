package io.radixflow.lab.bench.tiers;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.bench.BenchReport;
import io.radixflow.lab.bench.BenchRounds;
import io.radixflow.lab.bench.Figures;
import io.radixflow.models.io.ScratchDirectory;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures a disk tier of many pages: writing, finding and reading pages, and opening it. */
@Command(
    name = "disk",
    description = {
      "Measure a disk tier of many small pages: how long it takes to write, find and read the 100"
          + " pages of a conversation, to open it, and to open it after a crash.",
      "The pages are made up, and their files are deleted at the end. The crash is simulated: "
          + "the files are copied while the store is open and idle. A checkpoint copies nothing "
          + "of a disk tier and is not slowed by it."
    })
public final class BenchDiskCommand extends CliCommand {
  private static final int PAGE_BYTES = 64;

  @Mixin BenchRounds rounds;
  @Mixin BenchReport report;

  @Option(names = "--pages", paramLabel = "N", description = "Pages on disk.")
  int pages = 1000000;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description =
          "Create the files in this directory (default: the system's directory for "
              + "temporary files).")
  Path directory;

  BenchDiskCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    CliException.throwIf(pages < DiskBench.CHAIN, "--pages must be at least 100");
    Samples write = new Samples();
    Samples find = new Samples();
    Samples read = new Samples();
    Samples again = new Samples();
    Samples crash = new Samples();
    try (ScratchDirectory files = ScratchDirectory.createIn(directory, "disk");
        DiskBench bench = new DiskBench(files.path(), PAGE_BYTES, pages);
        Progress progress = progress("measuring")) {
      bench.open();
      progress.detail("writing pages");
      for (int i = 0; i < pages / DiskBench.CHAIN; i++) {
        write.add(bench.write());
      }
      for (int i = 0; i < rounds.count(); i++) {
        progress.detail("opening, round " + (i + 1) + " of " + rounds.count());
        crash.add(bench.openAfterCrash());
        again.add(bench.openAgain());
        find.add(bench.find());
        read.add(bench.read());
      }
    }
    Figures figures = new Figures();
    figures.json().put("pages", pages).put("page_bytes", PAGE_BYTES);
    figures.head("%,d pages of %d bytes; ms".formatted(pages, PAGE_BYTES));
    figures.add("writing 100 pages", "write_seconds", write, 1e3);
    figures.add("finding 100 pages", "find_seconds", find, 1e3);
    figures.add("reading 100 pages", "read_seconds", read, 1e3);
    figures.add("opening", "open_seconds", again, 1e3);
    figures.add("opening after a crash", "open_after_crash_seconds", crash, 1e3);
    report.write(this, figures);
    return 0;
  }
}
