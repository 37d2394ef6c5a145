package io.radixflow.cli.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.radixflow.cli.flink.WebPort;
import io.radixflow.cli.local.LocalBroker;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The job on Flink's own distribution, with its scripts and its default memory. */
@Tag("slow")
class StockFlinkIT {

  private static final Duration PATIENCE = Duration.ofMinutes(3);

  /** The settings that docs/operations.md asks for. */
  private static final String PROPERTIES =
      """
          heartbeat.interval: 1000
          heartbeat.timeout: 8000
          heartbeat.rpc-failure-threshold: 1
          execution.state-recovery.from-local: true
          execution.checkpointing.local-backup.enabled: true
          execution.checkpointing.dir: %scheckpoints
          web.submit.enable: false
          web.cancel.enable: false
          web.rescale.enable: false
          web.access-control-allow-origin: http://flink.invalid
          metrics.reporter.prom.factory.class: org.apache.flink.metrics.prometheus.PrometheusReporterFactory
          metrics.reporter.prom.port: 0
          """;

  @Test
  void aConversationGoesOnAfterItsTaskManagerWasKilledAndStartedAgain(@TempDir Path dir)
      throws Exception {
    try (StockFlink flink =
            StockFlink.layOut(Path.of("target/stock-flink"), PROPERTIES.formatted(dir.toUri()));
        LocalBroker broker = LocalBroker.start(dir)) {
      flink.run("start-cluster.sh");
      ClusterRest rest = new ClusterRest(flink.restPort());
      await()
          .atMost(PATIENCE)
          .failFast("a process has ended", () -> flink.hasLost("taskexecutor"))
          .ignoreExceptions()
          .until(() -> rest.slots() == 1);

      assertThat(
              flink.run(
                  "flink",
                  "run",
                  "--detached",
                  Path.of("../jobs/target/radixflow-job.jar").toRealPath().toString(),
                  "--set",
                  "model=sim",
                  "--set",
                  "kafka.bootstrap-servers=" + broker.bootstrapServers(),
                  "--set",
                  "kafka.create-topics=true"))
          .contains("Job has been submitted with JobID");
      WebPort port = new WebPort(URI.create("http://127.0.0.1:" + flink.restPort()));
      assertThat(port.upload("/jars/upload").statusCode()).isBetween(400, 499);

      try (Conversations conversations = new Conversations(broker.bootstrapServers())) {
        conversations.say("a", "1", "Which lights does a harbour have?", 16);
        conversations.awaitReplies(1);
        ProcessHandle victim = flink.latest("taskexecutor");
        victim.destroyForcibly();
        victim.onExit().join();
        conversations.say("a", "2", "And the other one?", 16);
        flink.run("taskmanager.sh", "start");
        conversations.awaitReplies(2);

        assertThat(conversations.answered()).containsExactly("a/1", "a/2");
      }
    }
  }
}
