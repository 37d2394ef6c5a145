package io.radixflow.jobs.cli;

import io.radixflow.jobs.cluster.ClusterOptions;
import io.radixflow.jobs.cluster.JavaProcess;
import io.radixflow.jobs.cluster.ProcessCluster;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;

/** Looks after a cluster: starts another process for each that is gone, until the job ends. */
final class Replacements {
  private static final Duration PERIOD = Duration.ofSeconds(1);
  private static final Set<String> ENDS = Set.of("FAILED", "CANCELED", "FINISHED");

  private final ProcessCluster cluster;
  private final ClusterOptions options;
  private final CliCommand command;

  Replacements(ProcessCluster cluster, ClusterOptions options, CliCommand command) {
    this.cluster = cluster;
    this.options = options;
    this.command = command;
  }

  /**
   * Returns only by an exception.
   *
   * @throws CliException when the job has ended
   */
  void run(String job) throws IOException, InterruptedException {
    while (true) {
      Thread.sleep(PERIOD.toMillis());
      if (cluster.taskManagers().size() < options.taskManagers()) {
        tell(cluster.startTaskManager());
      }
      if (cluster.jobManagers().size() < options.jobManagers()) {
        tell(cluster.startJobManager(Map.of()));
      }
      if (cluster.brokers().isEmpty()) {
        tell(cluster.startBroker());
      }
      String state = state(job);
      if (ENDS.contains(state)) {
        throw new CliException(
            "the job is " + state + "; --directory keeps the logs that say why, then start again");
      }
    }
  }

  private void tell(JavaProcess replacement) {
    command
        .out()
        .printf(
            "%-18s process %d, in place of one that is gone%n",
            replacement.name(), replacement.pid());
    command.out().flush();
  }

  private String state(String job) throws InterruptedException {
    try {
      return cluster.rest().jobState(job);
    } catch (IOException e) {
      return "unknown while no JobManager leads";
    }
  }
}
