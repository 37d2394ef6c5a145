package io.radixflow.lab.bench.job;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.LocatedModel;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.command.common.SettingsOptions;
import io.radixflow.cli.local.LocalStack;
import io.radixflow.cli.state.StateSeed;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.lab.bench.BenchReport;
import io.radixflow.lab.bench.Figures;
import io.radixflow.models.io.ScratchDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Measures how many idle sessions in state slow down the active sessions. */
@Command(
    name = "state",
    description = {
      "Measure the cost of idle sessions: checkpoints, restore, and the time to a turn's first "
          + "text, with all sessions in RocksDB and with only the active sessions.",
      "Starts a job with the model sim from a savepoint of made-up sessions. The"
          + " cost of the active sessions is measured twice; the first time warms the JVM up."
    })
public final class BenchStateCommand extends CliCommand {
  /** The share of sessions with a turn in each checkpoint. */
  private static final double ACTIVE_SHARE = 0.01;

  private static final Duration INTERVAL = Duration.ofSeconds(10);

  @Mixin SettingsOptions settingsOptions;
  @Mixin BenchReport report;

  @Option(names = "--sessions", paramLabel = "N", description = "Sessions in state.")
  int sessions = 100000;

  @Option(names = "--turns", paramLabel = "N", description = "Turns per session, at most 25.")
  int turns = 20;

  @Option(
      names = "--checkpoints",
      paramLabel = "N",
      description = "Checkpoints to measure, at most 10.")
  int checkpoints = 5;

  BenchStateCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws Exception {
    int activeSessions = (int) Math.ceil(sessions * ACTIVE_SHARE);
    CliException.throwIf(
        sessions < 1 || turns < 1 || turns > 25 || checkpoints < 1 || checkpoints > 10,
        "--sessions must be 1 or more, --turns 1 to 25, --checkpoints 1 to 10");
    measure(activeSessions, activeSessions); // this run also warms up the JVM
    StateLoad few = measure(activeSessions, activeSessions);
    StateLoad all = measure(sessions, activeSessions);
    Figures figures = new Figures();
    String title = "%,d sessions, " + activeSessions + " of them active";
    few.addTo(figures.section("active_only", title.formatted(activeSessions)));
    all.addTo(figures.section("all", title.formatted(sessions)));
    report.write(this, figures);
    return 0;
  }

  private StateLoad measure(int inState, int activeSessions) throws Exception {
    try (ScratchDirectory files = ScratchDirectory.create("bench");
        Progress progress = progress("measuring with " + inState + " sessions")) {
      Path directory = files.path();
      Settings settings =
          settingsOptions
              .load()
              .with(SharedConfig.MODEL, "sim")
              .with(SharedConfig.CHECKPOINT_INTERVAL, INTERVAL);
      progress.detail("writing the savepoint");
      long begun = System.nanoTime();
      seed(settings, directory, inState);
      StateLoad load = new StateLoad(inState, (System.nanoTime() - begun) * 1e-9);
      try (LocalStack imported = start(settings, directory, progress)) {
        load.awaitCheckpoint(imported);
      }
      begun = System.nanoTime();
      try (LocalStack stack = start(settings, directory, progress)) {
        load.started((System.nanoTime() - begun) * 1e-9);
        load.run(stack, activeSessions, turns, checkpoints, INTERVAL, progress);
      }
      return load;
    }
  }

  private void seed(Settings settings, Path directory, int inState) throws Exception {
    Path temporary = Files.createDirectories(directory.resolve("seed"));
    Path savepoints = Files.createDirectories(directory.resolve("savepoints"));
    new StateSeed(inState, turns, System.currentTimeMillis())
        .write(
            savepoints.resolve("seed"),
            temporary,
            settings.get(RadixflowOptions.MAX_PARALLELISM),
            LocatedModel.open("sim").tokenizer().fingerprint());
  }

  private static LocalStack start(Settings settings, Path directory, Progress progress)
      throws IOException {
    return LocalStack.start(
        settings,
        new LocalStack.Options(Optional.of(directory), true, 0, 0),
        ServingSettings.engine(settings, LocatedModel::open),
        progress::detail);
  }
}
