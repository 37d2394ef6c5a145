package io.radixflow.lab.bench.tiers;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.command.common.Samples;
import io.radixflow.lab.bench.BenchReport;
import io.radixflow.lab.bench.BenchRounds;
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
      "Pages are made up, and their files deleted in the end. The crash is a copy of the files as"
          + " they are while the store is open and rests. A checkpoint copies nothing of a disk"
          + " tier, so it takes none of its time."
    })
public final class BenchDiskCommand extends CliCommand {
  @Mixin BenchRounds rounds;
  @Mixin BenchReport report;

  @Option(names = "--pages", paramLabel = "N", description = "Pages on disk.")
  int pages = 1000000;

  @Option(
      names = "--page-bytes",
      paramLabel = "N",
      description = "Bytes per page, without its header.")
  int pageBytes = 64;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description = "Make the files in this directory (default: the system's for temporary files).")
  Path directory;

  BenchDiskCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (pages < DiskBench.CHAIN || pageBytes < 1 || pageBytes > 1 << 20) {
      throw new CliException("--pages must be at least 100, --page-bytes 1 to 1048576");
    }
    Samples write = new Samples();
    Samples find = new Samples();
    Samples read = new Samples();
    Samples again = new Samples();
    Samples crash = new Samples();
    try (ScratchDirectory files = ScratchDirectory.createIn(directory, "disk");
        DiskBench bench = new DiskBench(files.path(), pageBytes, pages);
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
    print("%,d pages of %d bytes on disk, milliseconds%n", pages, pageBytes);
    print("%-46s %11s %11s %11s%n", "", "min", "median", "max");
    line("writing 100 pages", write);
    line("finding 100 pages", find);
    line("reading 100 pages", read);
    line("opening", again);
    line("opening after a crash", crash);
    ObjectNode json = JsonLineOutput.object();
    json.put("pages", pages).put("page_bytes", pageBytes);
    write.putInto(json.putObject("write_seconds"));
    find.putInto(json.putObject("find_seconds"));
    read.putInto(json.putObject("read_seconds"));
    again.putInto(json.putObject("open_seconds"));
    crash.putInto(json.putObject("open_after_crash_seconds"));
    report.write(this, json);
    return 0;
  }

  private void line(String name, Samples samples) {
    print(
        "%-46s %11.3f %11.3f %11.3f%n",
        name, samples.min() * 1e3, samples.median() * 1e3, samples.max() * 1e3);
  }
}
