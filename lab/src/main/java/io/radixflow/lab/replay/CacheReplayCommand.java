package io.radixflow.lab.replay;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Errors;
import io.radixflow.cli.command.common.JsonLineFiles;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.cli.command.common.Progress;
import java.io.IOException;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Replays recorded cache operations and reports what differs. */
@Command(
    name = "replay",
    description = {
      "Replay a trace of cache operations that SGLang recorded, and compare.",
      "Without --compat it runs on the cache that serves: until the first eviction all results "
          + "must be equal; after that it must find at least as much as a plain model of the "
          + "same policy.",
      "The first line of the trace names eviction policy, page size and kind of keys; each other"
          + " line is an operation with its observed result. The summary is one JSON line; exit"
          + " code 0 means that all agreed, 1 that something differed, 2 that the file is not a"
          + " trace."
    })
public final class CacheReplayCommand extends CliCommand {
  /** The most printed mismatches, because most mismatches after the first are its consequences. */
  private static final int SHOWN = 10;

  @Parameters(paramLabel = "TRACE", description = "JSON lines, plain or gzip; - for stdin.")
  String file;

  @Option(
      names = "--compat",
      description = {
        "Replay on a tree that splits and evicts as SGLang's does: every field must be equal."
      })
  boolean compat;

  private int shown;

  CacheReplayCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() {
    try {
      return replayFile();
    } catch (IOException e) {
      throw CliException.badInput(Errors.line(e), e);
    }
  }

  private int replayFile() throws IOException {
    ReplayReport report = new ReplayReport(this::show);
    try (TraceFile trace = new TraceFile(file, JsonLineFiles.openStream(this, file));
        Progress progress = progress("replaying")) {
      TraceSetup setup = trace.setup();
      List<TraceStep> steps = trace.steps();
      TraceReplay<?> replay = replay(setup, steps, report);
      for (TraceStep step : steps) {
        apply(replay, step, report);
        progress.detail(report.operations() + " of " + steps.size() + " operations");
      }
      new JsonLineOutput(out(), false).write(summary(setup, report));
    }
    return report.mismatches() == 0 ? 0 : 1;
  }

  private TraceReplay<?> replay(TraceSetup setup, List<TraceStep> steps, ReplayReport report) {
    try {
      return compat
          ? new CompatReplay(setup, report)
          : new NativeReplay(setup, NativeReplay.pagesFor(setup, steps), report);
    } catch (IllegalArgumentException e) {
      throw CliException.badInput(file + ": " + Errors.line(e), e);
    }
  }

  private void apply(TraceReplay<?> replay, TraceStep step, ReplayReport report) {
    try {
      replay.apply(step);
    } catch (IllegalArgumentException e) {
      String where = file + ", operation " + (report.operations() - 1) + ": ";
      throw CliException.badInput(where + Errors.line(e), e);
    }
  }

  private void show(Mismatch mismatch) {
    if (shown++ < SHOWN) {
      err().println(mismatch);
    } else if (shown == SHOWN + 1) {
      err().println("more are not shown");
    }
  }

  private ObjectNode summary(TraceSetup setup, ReplayReport report) {
    return JsonLineOutput.object()
        .put("mode", compat ? "compat" : "native")
        .put("policy", setup.policy())
        .put("page", setup.pageTokens())
        .put("eagle", setup.bigram())
        .put("operations", report.operations())
        .put("mismatches", report.mismatches())
        .put("matchedTokens", report.matched())
        .put("evictedTokens", report.evicted());
  }
}
