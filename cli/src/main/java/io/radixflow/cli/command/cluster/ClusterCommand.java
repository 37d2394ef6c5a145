package io.radixflow.cli.command.cluster;

import io.radixflow.cli.cluster.ClusterJars;
import io.radixflow.cli.cluster.ClusterOptions;
import io.radixflow.cli.cluster.JavaProcess;
import io.radixflow.cli.cluster.ProcessCluster;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.ModelOptions;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.cli.command.common.SettingsOptions;
import io.radixflow.cli.flink.LoopbackFlink;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.jobs.ServingSettings;
import io.radixflow.jobs.config.RadixflowOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs a cluster of processes with the job until interrupted. */
@Command(
    name = "cluster",
    description = {
      "Start a Flink cluster of several processes on this machine, with ZooKeeper and a Kafka"
          + " broker, and the job on it, until Ctrl-C.",
      "Processes that are killed are replaced, and conversations continue."
    })
public final class ClusterCommand extends CliCommand {
  private static final int MAX_PROCESSES = 64;

  /** The range of metrics ports; each Flink process takes the first free port. */
  private static final String METRICS_PORTS =
      LoopbackFlink.METRICS_PORT + "-" + (LoopbackFlink.METRICS_PORT + 100);

  @Mixin ModelOptions model;
  @Mixin SettingsOptions settingsOptions;
  @Mixin ClusterBuild build;

  @Option(
      names = "--taskmanagers",
      paramLabel = "N",
      description = "Number of TaskManagers, the processes that generate replies.")
  int taskManagers = 2;

  @Option(
      names = "--jobmanagers",
      paramLabel = "N",
      description = "Number of JobManagers; all but one stand by.")
  int jobManagers = 1;

  @Option(
      names = "--slots",
      paramLabel = "N",
      description = "Slots per TaskManager; its subtasks share one engine.")
  int slots = 1;

  @Option(
      names = "--heap",
      paramLabel = "SIZE",
      description = "Heap of each TaskManager for engine and operators (default: 512m; sim: 256m).")
  String heap;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "Port of the broker; 0 for any free port.")
  int port = 9092;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description = "Keep logs and state in this directory; it must be empty or new.")
  Path directory;

  ClusterCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    check();
    Settings settings = settings();
    ClusterJars jars = build.jars();
    ClusterOptions options = options(settings.get(SharedConfig.MODEL));
    ProcessCluster cluster;
    try (Progress progress = progress("starting")) {
      cluster = ProcessCluster.start(jars, options, progress::detail);
    }
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(cluster), "stop"));
    try (cluster) {
      Settings connected =
          settings
              .with(KafkaConfig.BOOTSTRAP_SERVERS, cluster.bootstrapServers())
              .with(KafkaConfig.CREATE_TOPICS, true);
      String job;
      try (Progress progress = progress("starting")) {
        progress.detail("submitting the job");
        job = cluster.commandLine().submit(null, connected);
        progress.detail("waiting for the job");
        new ClusterSubmission(cluster.rest().address()).awaitRunning(job);
      }
      announce(cluster, job);
      new Replacements(cluster, options, this).run(job);
    }
    return 1;
  }

  private void check() {
    if (taskManagers < 1 || taskManagers > MAX_PROCESSES) {
      throw new CliException("--taskmanagers is " + taskManagers + "; it must be 1 to 64");
    }
    if (jobManagers < 1 || jobManagers > MAX_PROCESSES) {
      throw new CliException("--jobmanagers is " + jobManagers + "; it must be 1 to 64");
    }
    if (slots < 1 || slots > MAX_PROCESSES) {
      throw new CliException("--slots is " + slots + "; it must be 1 to 64");
    }
    if (port < 0 || port > 65_535) {
      throw new CliException("--port is " + port + "; it must be 0 to 65535");
    }
    if (heap != null && !heap.matches("\\d{1,6}[mg]")) {
      throw new CliException("--heap is " + heap + "; it must be a size such as 512m or 4g");
    }
  }

  private Settings settings() throws IOException {
    Settings settings = settingsOptions.load(this, model);
    settings =
        settings.with(
            SharedConfig.MODEL, model.locate(this, settings.get(SharedConfig.MODEL)).location());
    ServingSettings.checkWaiting(settings, slots);
    return settings.isGiven(RadixflowOptions.PARALLELISM)
        ? settings
        : settings.with(RadixflowOptions.PARALLELISM, taskManagers * slots);
  }

  private ClusterOptions options(String name) {
    boolean simulated = ModelLoader.isSimulated(name);
    String size = heap != null ? heap : simulated ? "256m" : "512m";
    return new ClusterOptions(
        Optional.ofNullable(directory),
        jobManagers,
        taskManagers,
        slots,
        size,
        simulated,
        port,
        Map.of("metrics.reporter.prom.port", METRICS_PORTS));
  }

  private void announce(ProcessCluster cluster, String job) throws IOException {
    String bootstrap = cluster.bootstrapServers();
    out()
        .println("Flink              http://" + cluster.rest().address() + "/#/job/running/" + job);
    out().println("metrics            http://127.0.0.1:" + METRICS_PORTS + "/metrics");
    out().println("bootstrap servers  " + bootstrap);
    out().println("logs and state     " + cluster.directory());
    for (JavaProcess process : cluster.processes()) {
      print("%-18s process %d%n", process.name(), process.pid());
    }
    out().println();
    out().println("Talk: ./radixflow chat --bootstrap " + bootstrap);
    out().println("Break it: kill -9 " + cluster.taskManagers().get(0).pid() + ", and talk on.");
    out().println("Ctrl-C stops.");
    out().flush();
  }

  private void stop(ProcessCluster cluster) {
    err().println("stopping");
    err().flush();
    cluster.close();
  }
}
