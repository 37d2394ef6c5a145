package io.radixflow.operators.flink.engine;

import static io.radixflow.engine.Patience.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.ScriptedEngine;
import io.radixflow.operators.flink.TestJob;
import io.radixflow.protocol.record.EventKind;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.runtime.checkpoint.CheckpointStatsCounts;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.test.junit5.InjectMiniCluster;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Checkpoints of a job whose engine takes long to open. */
@Timeout(180)
class CheckpointStartITCase {
  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJob.cluster();

  private static final CountDownLatch OPENS = new CountDownLatch(1);

  private static ServingEngine open() {
    try {
      OPENS.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    ScriptedEngine engine = new ScriptedEngine(4096, 6);
    return new ServingEngine(engine, engine.model());
  }

  @Test
  void onlyTheFirstCheckpointIsTriedBeforeTheEngineIsOpen(@InjectMiniCluster MiniCluster cluster)
      throws Exception {
    JobClient job =
        new TestJob(
                new NumberSequenceSource(0, Long.MAX_VALUE - 1),
                n -> Events.of(EventKind.OPEN, "s" + n % 8, null).event())
            .start(TestEngineFactory.of("late", CheckpointStartITCase::open));
    try {
      await()
          .during(Duration.ofSeconds(2))
          .atMost(Duration.ofSeconds(60))
          .until(() -> counts(cluster, job).getTotalNumberOfCheckpoints() <= 1);
      OPENS.countDown();
      await().until(() -> counts(cluster, job).getNumberOfCompletedCheckpoints() >= 3);
      assertThat(counts(cluster, job).getNumberOfFailedCheckpoints()).isLessThanOrEqualTo(3);
    } finally {
      OPENS.countDown();
      job.cancel().get();
    }
  }

  private static CheckpointStatsCounts counts(MiniCluster cluster, JobClient job) throws Exception {
    return cluster.getExecutionGraph(job.getJobID()).get().getCheckpointStatsSnapshot().getCounts();
  }
}
