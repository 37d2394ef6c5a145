package io.radixflow.cli.command.cluster;

import io.radixflow.cli.cluster.ClusterOptions;
import io.radixflow.cli.cluster.JavaProcess;
import io.radixflow.cli.cluster.ProcessCluster;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliException;
import java.io.IOException;
import java.time.Duration;
import java.util.Map;

/**
 * Watches a cluster and replaces each process that has ended, until the job fails. A job that a
 * user stopped or cancelled may be submitted again.
 */
record Replacements(ProcessCluster cluster, ClusterOptions options, CliCommand command) {
  private static final Duration PERIOD = Duration.ofSeconds(1);
  private static final String FAILED = "FAILED";
  private static final Map<String, String> ENDED =
      Map.of("CANCELED", "cancelled", "FINISHED", "stopped");

  /**
   * Watches the cluster; returns only by an exception.
   *
   * @throws CliException when the job has failed
   */
  void run(String job) throws IOException, InterruptedException {
    boolean ended = false;
    while (true) {
      Thread.sleep(PERIOD.toMillis());
      if (cluster.taskManagers().size() < options.taskManagers()) {
        report(cluster.startTaskManager());
      }
      if (cluster.jobManagers().size() < options.jobManagers()) {
        report(cluster.startJobManager(Map.of()));
      }
      if (cluster.brokers().isEmpty()) {
        report(cluster.startBroker());
      }
      String state = ended ? "" : state(job);
      if (state.equals(FAILED)) {
        throw new ClusterSubmission(cluster.rest().address()).ended(job, state);
      }
      if (ENDED.containsKey(state)) {
        ended = true;
        reportEnd(ENDED.get(state));
      }
    }
  }

  private void report(JavaProcess replacement) {
    command
        .out()
        .printf(
            "%-18s process %d, which replaces one that is gone%n",
            replacement.name(), replacement.pid());
    command.out().flush();
  }

  private void reportEnd(String how) throws IOException {
    command.out().println("The job was " + how + "; Flink and Kafka run on. Start it again:");
    command
        .out()
        .printf(
            "./radixflow submit --jobmanager %s --set kafka.bootstrap-servers=%s"
                + " [--from-savepoint PATH] and the --set options given here%n",
            cluster.rest().address(), cluster.bootstrapServers());
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
