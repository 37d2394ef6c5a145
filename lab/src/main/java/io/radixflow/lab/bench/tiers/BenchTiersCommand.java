package io.radixflow.lab.bench.tiers;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.lab.bench.BenchOptions;
import io.radixflow.lab.bench.Figures;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures the time to the first token of a turn, by the tier of its pages. */
@Command(
    name = "tiers",
    description = {
      "Measure the time to the first token of a turn of a conversation whose pages are on the"
          + " device, in host memory, on disk, on disk after a crash, or gone.",
      "Each round measures all of these places with the same prompt, and all replies must be "
          + "equal. Disk files are forced to the device and dropped from the page cache before "
          + "they are read, if dd is available. The crash is simulated: the files are copied "
          + "while the engine runs, and another engine in this process opens the copy. The time "
          + "of opening is reported separately."
    })
public final class BenchTiersCommand extends CliCommand {
  private static final int FRESH = 32;

  @Mixin BenchOptions common;

  @Option(names = "--cached", paramLabel = "N", description = "Tokens of the conversation so far.")
  int cached = 2000;

  @Option(names = "--reply", paramLabel = "N", description = "Tokens of the reply.")
  int reply = 8;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description =
          "Create the disk's files in this directory, and delete them afterwards (default: the "
              + "system's directory for temporary files).")
  Path directory;

  BenchTiersCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    CliException.throwIf(
        cached < 64 || reply < 1, "--cached must be at least 64, --reply at least 1");
    common.rounds.count();
    try (ServedModel model = common.model.open(this)) {
      int room = model.config().contextLength();
      CliException.throwIf(
          (long) cached + FRESH + reply > room,
          "--cached, the message and --reply are more than the model's context of "
              + room
              + " tokens");
      try (TierRounds bench =
              new TierRounds(
                  () -> common.model.openBackend(this, model),
                  model,
                  new TierRounds.Sizes(cached, FRESH, reply),
                  directory);
          Progress progress = progress("measuring")) {
        bench.begin();
        for (int round : common.rounds.all(progress)) {
          bench.round(round, round >= 0);
        }
        show(bench);
      }
    }
    return 0;
  }

  private void show(TierRounds bench) throws IOException {
    int cores = Runtime.getRuntime().availableProcessors();
    int threads = common.model.computeThreads();
    String pageCache = bench.isPageCacheCold() ? "cold" : "warm";
    Figures figures = new Figures();
    figures.note(
        "%d cores, %d compute threads on a CPU; %d tokens cached, %d new; page cache %s",
        cores, threads, cached, FRESH, pageCache);
    bench.times().addTo(figures);
    figures.note("all replies were equal");
    ObjectNode json = figures.json();
    json.put("cores", cores).put("engine_threads", threads).put("page_cache", pageCache);
    json.put("cached_tokens", cached).put("new_tokens", FRESH).put("reply_tokens", reply);
    common.report.write(this, figures);
  }
}
