package io.radixflow.lab.drill;

import io.radixflow.cli.cluster.ClusterRest;
import io.radixflow.cli.cluster.ProcessCluster;
import io.radixflow.cli.cluster.Waiting;
import io.radixflow.client.config.Settings;
import io.radixflow.jobs.config.RadixflowOptions;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** The job on the cluster; its id changes with each submission. */
final class DrilledJob {
  private static final Duration LIMIT = Duration.ofMinutes(3);

  private final ProcessCluster cluster;
  private final Settings settings;
  private String id;
  private int parallelism;

  DrilledJob(ProcessCluster cluster, Settings settings) {
    this.cluster = cluster;
    this.settings = settings;
  }

  String id() {
    return id;
  }

  int parallelism() {
    return parallelism;
  }

  /**
   * Submits the job and waits until it runs.
   *
   * @param from a savepoint or checkpoint, or null
   */
  void submit(String from, int subtasks) throws IOException, InterruptedException {
    Settings changed = settings.with(RadixflowOptions.PARALLELISM, subtasks);
    id = cluster.commandLine().submit(from, changed);
    parallelism = subtasks;
    awaitRunning();
  }

  /** Stops the job and returns the path of its savepoint. */
  String stopWithSavepoint(String type) throws IOException, InterruptedException {
    return cluster.commandLine().stopWithSavepoint(id, type);
  }

  /** Cancels the job and returns the path of its last checkpoint. */
  String cancel() throws IOException, InterruptedException {
    cancel(cluster.rest(), id);
    return cluster.rest().latestCheckpoint(id);
  }

  static void cancel(ClusterRest rest, String job) throws IOException, InterruptedException {
    rest.cancel(job);
    Waiting.until("the end of a job", LIMIT, () -> rest.jobState(job).equals("CANCELED"));
  }

  void awaitRunning() throws IOException, InterruptedException {
    Waiting.until("the job to run", LIMIT, () -> cluster.rest().allRun(id));
  }

  /** Waits until the job runs with {@code count} subtasks of the serving operator. */
  void awaitSubtasks(int count) throws IOException, InterruptedException {
    Waiting.until(
        "the job to run with " + count + " subtasks",
        LIMIT,
        () -> cluster.rest().allRun(id) && places().size() == count);
  }

  /**
   * Waits until the job runs without a TaskManager.
   *
   * @param meanwhile called repeatedly
   */
  void awaitRunningWithout(String taskManager, Waiting.Condition meanwhile)
      throws IOException, InterruptedException {
    Waiting.until(
        "the job to run without " + taskManager,
        LIMIT,
        () -> {
          meanwhile.holds();
          return !places().containsValue(taskManager) && cluster.rest().allRun(id);
        });
  }

  void awaitErasures() throws IOException, InterruptedException {
    Waiting.until(
        "pages to be erased",
        LIMIT,
        () -> {
          List<Long> pending = cluster.rest().servingMetrics(id, "pageErasuresPending");
          return pending.size() == parallelism && pending.stream().allMatch(count -> count == 0);
        });
  }

  /** Returns the TaskManagers of the serving operator's subtasks, by index. */
  Map<Integer, String> places() throws IOException, InterruptedException {
    return cluster.rest().servingTaskManagers(id);
  }
}
