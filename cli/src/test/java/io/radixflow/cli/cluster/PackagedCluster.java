package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.jobs.config.RadixflowOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.apache.flink.util.FileUtils;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A small cluster of processes from this build's jars, a new one for each test; none stays. */
final class PackagedCluster implements BeforeEachCallback, AfterEachCallback {
  private final Path directory;
  private final UnaryOperator<ClusterOptions> options;
  private ProcessCluster processes;

  /**
   * @param name of its directory, where configuration and logs stay
   */
  PackagedCluster(String name, UnaryOperator<ClusterOptions> options) {
    directory = Path.of("target/cluster", name);
    this.options = options;
  }

  @Override
  public void beforeEach(ExtensionContext context) throws Exception {
    FileUtils.deleteDirectory(directory.toFile());
    processes =
        ProcessCluster.start(
            ClusterJars.in(
                Path.of("target/dist/lib"),
                Path.of("../engine/target/radixflow-kernels-lib.jar"),
                Path.of("../jobs/target/radixflow-job.jar")),
            options.apply(ClusterOptions.SMALL.in(directory)),
            step -> {});
  }

  @Override
  public void afterEach(ExtensionContext context) {
    if (processes != null) {
      processes.close();
    }
    await()
        .atMost(Duration.ofSeconds(60))
        .untilAsserted(() -> assertThat(ProcessHandle.current().descendants()).isEmpty());
  }

  ProcessCluster processes() {
    return processes;
  }

  ClusterRest rest() {
    return processes.rest();
  }

  Path directory() {
    return directory;
  }

  /** Settings of a job that has a name and topics of its own on the cluster's broker. */
  Settings settings(String job, List<String> assignments) throws IOException {
    return new SettingsLoader()
        .set(assignments)
        .load()
        .with(KafkaConfig.BOOTSTRAP_SERVERS, processes.bootstrapServers())
        .with(KafkaConfig.CREATE_TOPICS, true)
        .with(RadixflowOptions.JOB_NAME, job)
        .with(KafkaConfig.GROUP_ID, job)
        .with(KafkaConfig.TRANSACTIONAL_ID_PREFIX, job)
        .with(KafkaConfig.EVENTS_TOPIC, job + "-events")
        .with(KafkaConfig.REPLIES_TOPIC, job + "-replies")
        .with(KafkaConfig.DELTAS_TOPIC, job + "-deltas")
        .with(KafkaConfig.DEAD_LETTERS_TOPIC, job + "-dead-letters")
        .with(KafkaConfig.CONTROL_TOPIC, job + "-control");
  }

  /**
   * Submits a job by Flink's command line.
   *
   * @return its id
   */
  String submit(Settings settings) throws Exception {
    return processes.commandLine().submit(null, settings);
  }

  /** Talks to a job of {@link #settings}. */
  Conversations conversations(String job) {
    return new Conversations(processes.bootstrapServers(), job + "-events", job + "-replies");
  }
}
