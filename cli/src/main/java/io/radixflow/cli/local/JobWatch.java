package io.radixflow.cli.local;

import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.api.common.JobID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches a running job on its own thread until the job has ended for good or no TaskManager is
 * left. A job that restarts has not ended.
 */
final class JobWatch implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(JobWatch.class);
  private static final Duration PERIOD = Duration.ofMillis(500);

  /** The longest wait for a TaskManager, not counting time in which this process was suspended. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final LocalCluster cluster;
  private final JobID job;
  private final CompletableFuture<Void> end;
  private final Thread thread = new Thread(this::run, "watch the job");
  private final AwakeTimer withoutTaskManager = AwakeTimer.start();

  private JobWatch(LocalCluster cluster, JobID job, CompletableFuture<Void> end) {
    this.cluster = cluster;
    this.job = job;
    this.end = end;
    thread.setDaemon(true);
  }

  /**
   * Starts watching.
   *
   * @param end fails with a {@link JobEndedException}, on the watch's thread
   */
  static JobWatch start(LocalCluster cluster, JobID job, CompletableFuture<Void> end) {
    JobWatch watch = new JobWatch(cluster, job, end);
    watch.thread.start();
    return watch;
  }

  private void run() {
    try {
      Optional<JobEndedException> ended = look();
      while (ended.isEmpty()) {
        Thread.sleep(PERIOD.toMillis());
        ended = look();
      }
      LOG.error("Job {} ended by itself", job, ended.get());
      end.completeExceptionally(ended.get());
    } catch (InterruptedException e) {
      LOG.debug("The watch of job {} was stopped", job);
    }
  }

  private Optional<JobEndedException> look() {
    try {
      if (!cluster.isRunning()) {
        return Optional.of(new JobEndedException("Flink gave up and shut itself down", null));
      }
      if (cluster.taskManagers() > 0) {
        withoutTaskManager.restart();
      } else if (withoutTaskManager.exceeds(PATIENCE)) {
        return Optional.of(
            new JobEndedException(
                "the TaskManager, which runs the job, gave up and is gone", null));
      }
      return cluster.ended(job);
    } catch (IOException | RuntimeException e) {
      LOG.debug("The state of job {} could not be read; retrying", job, e);
      return Optional.empty();
    }
  }

  /** Stops watching. After that the job may be stopped. */
  @Override
  public void close() {
    thread.interrupt();
    if (Thread.currentThread() == thread) {
      return;
    }
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
