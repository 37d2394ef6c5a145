package io.radixflow.jobs.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.operators.cache.replay.CompatReplay;
import io.radixflow.operators.cache.replay.Mismatch;
import io.radixflow.operators.cache.replay.ReplayReport;
import io.radixflow.operators.cache.replay.TraceReplay;
import io.radixflow.operators.cache.replay.TraceSetup;
import io.radixflow.operators.cache.replay.TraceStep;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Recorded cache operations, done again. */
@Command(
    name = "replay",
    description = {
      "Replay a trace of cache operations that SGLang recorded, and compare.",
      "The first line of the trace names eviction policy, page size and kind of keys; each other"
          + " line is an operation with what was observed. The summary is one JSON line; exit code 0"
          + " means that all agreed, 1 that something differed, 2 that the file is no trace."
    })
final class CacheReplayCommand extends CliCommand {
  /** Mismatches that are told one by one; after the first, most are its consequences. */
  private static final int SHOWN = 10;

  @Parameters(paramLabel = "TRACE", description = "JSON lines, plain or gzip; - for stdin.")
  String file;

  @Option(
      names = "--compat",
      required = true,
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
      TraceReplay replay = replay(trace, setup, report);
      for (TraceStep step = trace.next(); step != null; step = trace.next()) {
        apply(trace, replay, step);
        progress.detail(report.operations() + " operations");
      }
      new JsonLineOutput(out(), false).write(summary(setup, report));
    }
    return report.mismatches() == 0 ? 0 : 1;
  }

  private static TraceReplay replay(TraceFile trace, TraceSetup setup, ReplayReport report) {
    try {
      return new CompatReplay(setup, report);
    } catch (IllegalArgumentException e) {
      throw trace.bad(e);
    }
  }

  private static void apply(TraceFile trace, TraceReplay replay, TraceStep step) {
    try {
      replay.apply(step);
    } catch (IllegalArgumentException e) {
      throw trace.bad(e);
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
