package io.radixflow.cli.command.cluster;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.command.common.SettingsOptions;
import io.radixflow.client.config.Settings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Submits the job to a Flink cluster. */
@Command(
    name = "submit",
    description = {
      "Submit the job to a Flink cluster, as 'flink run --detached radixflow-job.jar' does, and"
          + " wait until it runs.",
      "Options of the job: --config and --set. The brokers and the model must be reachable from the"
          + " TaskManagers, and kernels must be in their lib directory."
    })
public final class SubmitCommand extends CliCommand {
  @Mixin SettingsOptions settingsOptions;

  @Option(
      names = "--jobmanager",
      paramLabel = "HOST:PORT",
      description = "The JobManager's REST address.")
  String jobManager = "localhost:8081";

  @Option(
      names = "--from-savepoint",
      paramLabel = "PATH",
      description = "Start the job from this savepoint or checkpoint.")
  String savepoint;

  @Option(names = "--detached", description = "Do not wait.")
  boolean detached;

  @Option(
      names = "--jar",
      paramLabel = "FILE",
      defaultValue = "${sys:radixflow.job.jar:-radixflow-job.jar}",
      description = "The job's jar.")
  Path jar;

  SubmitCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Settings settings = settingsOptions.load();
    if (!Files.isRegularFile(jar)) {
      throw new CliException("job jar " + jar + " not found; build it, or give --jar");
    }
    try (Progress progress = progress("submitting to " + jobManager)) {
      ClusterSubmission cluster = new ClusterSubmission(jobManager);
      String job = cluster.submit(jar, settings.toArguments(), savepoint);
      out().println("submitted job " + job + " to http://" + jobManager);
      out().flush();
      if (!detached) {
        progress.detail("waiting until it runs");
        cluster.awaitRunning(job);
        out().println("it runs");
        out().flush();
      }
    }
    return 0;
  }
}
