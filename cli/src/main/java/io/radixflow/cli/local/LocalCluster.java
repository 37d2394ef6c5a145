package io.radixflow.cli.local;

import io.radixflow.cli.flink.LoopbackFlink;
import io.radixflow.cli.flink.Ports;
import io.radixflow.cli.flink.WebAccess;
import io.radixflow.jobs.config.LocalFiles;
import io.radixflow.models.io.PrivateDirectories;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.configuration.BlobServerOptions;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.MetricOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RpcOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.AbstractCheckpointStats;
import org.apache.flink.runtime.checkpoint.CheckpointStatsSnapshot;
import org.apache.flink.runtime.checkpoint.CheckpointStatsStatus;
import org.apache.flink.runtime.checkpoint.TaskStateStats;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.executiongraph.AccessExecutionGraph;
import org.apache.flink.runtime.executiongraph.AccessExecutionVertex;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.ExceptionUtils;

/** A Flink cluster in this process, on loopback only, that runs one job at a time. */
public final class LocalCluster implements AutoCloseable {

  private static final String CHECKPOINTS = "checkpoints";
  private static final String TEMPORARY = "tmp";

  /** Pekko reads it as a property of the JVM; Flink has no option for it. */
  private static final String TIMER_TICK = "pekko.scheduler.tick-duration";

  private static final String SAVEPOINTS = "savepoints";

  /** Room for RocksDB's write buffers. */
  private static final int MANAGED_MEBIBYTES_PER_SLOT = 128;

  private static final Duration METRICS_AGE = Duration.ofSeconds(1);
  private static final Duration POLL = Duration.ofMillis(50);
  private static final Duration LOOK_TIMEOUT = Duration.ofSeconds(60);
  private static final long STEP_MILLIS = 500;

  /** Longer than any pause of the process; Flink's scheduler accepts at most 248 days. */
  private static final Duration PAUSE = Duration.ofDays(200);

  private final MiniCluster cluster;
  private final Path directory;
  private final int metricsPort;

  static {
    // Flink's two actor systems look at their timers every 10 ms by default. No timer of a single
    // process needs that precision, and an idle laptop would pay for it.
    if (System.getProperty(TIMER_TICK) == null) {
      System.setProperty(TIMER_TICK, "100ms");
    }
  }

  private LocalCluster(MiniCluster cluster, Path directory, int metricsPort) {
    this.cluster = cluster;
    this.directory = directory;
    this.metricsPort = metricsPort;
  }

  /**
   * Starts a cluster; takes seconds.
   *
   * @param directory the directory of checkpoints and temporary files
   * @param slots slots of its only TaskManager, whose subtasks share an engine
   * @param metricsPort the port of the metrics in Prometheus' format; 0 for any free port
   * @throws IOException if it does not start, or the port is in use
   */
  public static LocalCluster start(Path directory, int slots, int metricsPort) throws IOException {
    deleteLeftovers(directory.resolve(TEMPORARY));
    int metrics = metricsPort == 0 ? Ports.free() : metricsPort;
    Ports.requireFree(metrics, "metrics");
    MiniCluster cluster =
        new MiniCluster(
            new MiniClusterConfiguration.Builder()
                .setConfiguration(configuration(directory, slots, metrics))
                .setNumTaskManagers(1)
                .setNumSlotsPerTaskManager(slots)
                .build());
    try {
      cluster.start();
    } catch (Exception e) {
      cluster.closeAsync();
      throw new IOException("the local Flink cluster does not start: " + e.getMessage(), e);
    }
    return new LocalCluster(cluster, directory, metrics);
  }

  /** Deletes the temporary files of a killed process; no later process needs them. */
  private static void deleteLeftovers(Path temporary) throws IOException {
    if (Files.isDirectory(temporary)) {
      PrivateDirectories.delete(temporary);
    }
  }

  private static Configuration configuration(Path directory, int slots, int metricsPort) {
    Configuration flink =
        Configuration.fromMap(
            LoopbackFlink.settings(WebAccess.NO_SUBMISSION, Integer.toString(metricsPort)));
    flink.set(RestOptions.BIND_PORT, "0");
    flink.set(BlobServerOptions.PORT, "0");
    flink.set(
        TaskManagerOptions.MANAGED_MEMORY_SIZE,
        MemorySize.ofMebiBytes((long) MANAGED_MEBIBYTES_PER_SLOT * slots));
    flink.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(32));
    flink.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(32));
    ignorePauses(flink);
    // the gateway's live page is as fresh as this
    flink.set(MetricOptions.METRIC_FETCHER_UPDATE_INTERVAL, METRICS_AGE);
    String temporary = directory.resolve(TEMPORARY).toString();
    flink.set(CoreOptions.TMP_DIRS, temporary);
    flink.set(WebOptions.TMP_DIR, temporary);
    flink.set(WebOptions.UPLOAD_DIR, temporary);
    flink.set(
        CheckpointingOptions.CHECKPOINTS_DIRECTORY,
        LocalFiles.name(directory.resolve(CHECKPOINTS)));
    return flink;
  }

  /**
   * Sets long timeouts, because a single process cannot lose a part of itself. After a pause,
   * timers would expire before the waiting messages are read, and would end a healthy cluster.
   */
  private static void ignorePauses(Configuration flink) {
    flink.set(HeartbeatManagerOptions.HEARTBEAT_TIMEOUT, PAUSE);
    flink.set(RpcOptions.ASK_TIMEOUT_DURATION, PAUSE);
    flink.set(JobManagerOptions.SLOT_REQUEST_TIMEOUT, PAUSE);
    flink.set(TaskManagerOptions.SLOT_TIMEOUT, PAUSE);
    flink.set(TaskManagerOptions.REGISTRATION_TIMEOUT, PAUSE);
  }

  /**
   * Starts the job of the environment.
   *
   * @param restoreFrom a savepoint or checkpoint to resume from; the job deletes it later
   * @param drop whether to drop state of operators that the job no longer has
   */
  public JobID submit(
      StreamExecutionEnvironment environment, Optional<String> restoreFrom, boolean drop)
      throws IOException {
    JobGraph graph = environment.getStreamGraph().getJobGraph();
    restoreFrom.ifPresent(
        path ->
            graph.setSavepointRestoreSettings(
                SavepointRestoreSettings.forPath(path, drop, RecoveryClaimMode.CLAIM)));
    return await(cluster.submitJob(graph), Duration.ofSeconds(60), "submit the job").getJobID();
  }

  /**
   * Waits until all tasks of the job run.
   *
   * @throws IOException if one fails first, with its reason
   */
  public void awaitRunning(JobID job, Duration timeout) throws IOException {
    AwakeTimer timer = AwakeTimer.start();
    while (true) {
      AccessExecutionGraph graph =
          await(cluster.getExecutionGraph(job), LOOK_TIMEOUT, "look at the job");
      if (graph.getFailureInfo() != null) {
        Throwable failure =
            graph
                .getFailureInfo()
                .getException()
                .deserializeError(LocalCluster.class.getClassLoader());
        throw new IOException("the job does not start: " + rootMessage(failure), failure);
      }
      if (graph.getState() == JobStatus.RUNNING && allRun(graph)) {
        return;
      }
      if (timer.exceeds(timeout)) {
        throw new IOException("the job does not run within " + timeout.toSeconds() + " s");
      }
      pause();
    }
  }

  /** Returns true until the cluster shuts down, by itself or by {@link #close()}. */
  boolean isRunning() {
    return cluster.isRunning();
  }

  /** Returns the latest completed checkpoints of the job, oldest first; Flink remembers ten. */
  List<CheckpointFigures> checkpoints(JobID job) throws IOException {
    CheckpointStatsSnapshot stats =
        await(cluster.getExecutionGraph(job), LOOK_TIMEOUT, "look at the job")
            .getCheckpointStatsSnapshot();
    List<CheckpointFigures> completed = new ArrayList<>();
    if (stats != null) {
      for (AbstractCheckpointStats each : stats.getHistory().getCheckpoints()) {
        if (each.getStatus() == CheckpointStatsStatus.COMPLETED) {
          completed.add(figures(each));
        }
      }
    }
    completed.sort(Comparator.comparingLong(CheckpointFigures::id));
    return completed;
  }

  private static CheckpointFigures figures(AbstractCheckpointStats checkpoint) {
    long sync = 0;
    long async = 0;
    for (TaskStateStats task : checkpoint.getAllTaskStateStats()) {
      TaskStateStats.TaskStateStatsSummary summary = task.getSummaryStats();
      sync = Math.max(sync, summary.getSyncCheckpointDurationStats().getMaximum());
      async = Math.max(async, summary.getAsyncCheckpointDurationStats().getMaximum());
    }
    return new CheckpointFigures(
        checkpoint.getCheckpointId(),
        checkpoint.getEndToEndDuration(),
        sync,
        async,
        checkpoint.getCheckpointedSize(),
        checkpoint.getStateSize());
  }

  int taskManagers() throws IOException {
    return await(cluster.requestClusterOverview(), LOOK_TIMEOUT, "look at the cluster")
        .getNumTaskManagersConnected();
  }

  /** Returns how the job ended, or nothing while it runs or restarts. */
  Optional<JobEndedException> ended(JobID job) throws IOException {
    JobStatus status = await(cluster.getJobStatus(job), LOOK_TIMEOUT, "look at the job");
    if (!status.isTerminalState()) {
      return Optional.empty();
    }
    JobResult result = await(cluster.requestJobResult(job), LOOK_TIMEOUT, "look at the job");
    Throwable cause =
        result
            .getSerializedThrowable()
            .map(failure -> failure.deserializeError(LocalCluster.class.getClassLoader()))
            .orElse(null);
    String message =
        switch (status) {
          case FAILED ->
              "the job failed for good: " + (cause == null ? "no cause given" : rootMessage(cause));
          case CANCELED -> "the job was cancelled";
          case FINISHED -> "the job was stopped";
          default -> "the job ended as " + status;
        };
    return Optional.of(new JobEndedException(message, cause));
  }

  /** Stops the job with a savepoint and returns its location. */
  public String stop(JobID job) throws IOException {
    return await(
        cluster.stopWithSavepoint(
            job, LocalFiles.name(directory.resolve(SAVEPOINTS)), false, SavepointFormatType.NATIVE),
        Duration.ofSeconds(60),
        "stop the job with a savepoint");
  }

  /** Cancels the job; it can resume from its last checkpoint. */
  public void cancel(JobID job) throws IOException {
    await(cluster.cancelJob(job), Duration.ofSeconds(60), "cancel the job");
    await(cluster.requestJobResult(job), Duration.ofSeconds(60), "cancel the job");
  }

  /** Returns the directories of savepoints and checkpoints that exist. */
  List<Path> stateDirectories() {
    return List.of(directory.resolve(CHECKPOINTS), directory.resolve(SAVEPOINTS));
  }

  public URI webInterface() {
    return cluster.getRestAddress().join();
  }

  /** Returns the address of the metrics for Prometheus. */
  public URI metrics() {
    return URI.create("http://" + Ports.LOOPBACK + ":" + metricsPort + "/metrics");
  }

  /** Returns the cluster, for tests that break it. */
  MiniCluster miniCluster() {
    return cluster;
  }

  /** Stops the cluster and its job. */
  @Override
  public void close() throws IOException {
    await(cluster.closeAsync(), Duration.ofSeconds(60), "stop the local Flink cluster");
  }

  private static boolean allRun(AccessExecutionGraph graph) {
    for (AccessExecutionVertex vertex : graph.getAllExecutionVertices()) {
      if (vertex.getExecutionState() != ExecutionState.RUNNING) {
        return false;
      }
    }
    return true;
  }

  private static String rootMessage(Throwable failure) {
    Throwable root = failure;
    while (root.getCause() != null && root.getCause() != root) {
      root = root.getCause();
    }
    return root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
  }

  private static <T> T await(CompletableFuture<T> future, Duration timeout, String what)
      throws IOException {
    AwakeTimer timer = AwakeTimer.start();
    while (true) {
      try {
        return future.get(STEP_MILLIS, TimeUnit.MILLISECONDS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("interrupted while trying to " + what, e);
      } catch (ExecutionException e) {
        Throwable cause = ExceptionUtils.stripExecutionException(e);
        throw new IOException("cannot " + what + ": " + rootMessage(cause), cause);
      } catch (TimeoutException e) {
        if (timer.exceeds(timeout)) {
          throw new IOException("cannot " + what + " within " + timeout.toSeconds() + " s", e);
        }
      }
    }
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(POLL.toMillis());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    }
  }
}
