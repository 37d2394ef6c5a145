package io.radixflow.cli.command.cluster;

import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Errors;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.apache.flink.api.common.JobID;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.client.deployment.StandaloneClusterId;
import org.apache.flink.client.program.PackagedProgram;
import org.apache.flink.client.program.PackagedProgramUtils;
import org.apache.flink.client.program.ProgramInvocationException;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.execution.ExecutionState;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;
import org.apache.flink.runtime.jobmaster.JobResult;
import org.apache.flink.runtime.rest.messages.job.JobDetailsInfo;

/** Submits the job's jar to a running Flink cluster through its REST interface. */
final class ClusterSubmission {
  private static final String MAIN_CLASS = "io.radixflow.jobs.RadixflowJob";
  private static final long TIMEOUT_SECONDS = 60;

  /** The time limit of the start; loading a large model takes minutes. */
  private static final Duration START_LIMIT = Duration.ofMinutes(10);

  private static final Duration POLL = Duration.ofMillis(500);

  private final Configuration configuration = new Configuration();
  private final String address;

  /**
   * @param address the JobManager's REST address, {@code host:port}
   */
  ClusterSubmission(String address) {
    this.address = address;
    int colon = address.lastIndexOf(':');
    if (colon <= 0 || !address.substring(colon + 1).matches("\\d{1,5}")) {
      throw new CliException("--jobmanager is " + address + "; it must be HOST:PORT");
    }
    configuration.set(JobManagerOptions.ADDRESS, address.substring(0, colon));
    configuration.set(RestOptions.ADDRESS, address.substring(0, colon));
    configuration.set(RestOptions.PORT, Integer.parseInt(address.substring(colon + 1)));
    configuration.set(RestOptions.RETRY_MAX_ATTEMPTS, 3);
  }

  /**
   * Creates the job graph in this process and submits it.
   *
   * @param arguments arguments of the job's main method
   * @param savepoint the savepoint to resume from, or null
   * @return the job's id
   */
  String submit(Path jar, List<String> arguments, String savepoint)
      throws IOException, InterruptedException {
    // this process already has all classes of the jar; a second copy would mix with the first
    Configuration loading = new Configuration(configuration);
    loading.set(CoreOptions.CLASSLOADER_RESOLVE_ORDER, "parent-first");
    PackagedProgram.Builder builder =
        PackagedProgram.newBuilder()
            .setJarFile(jar.toFile())
            .setEntryPointClassName(MAIN_CLASS)
            .setArguments(arguments.toArray(String[]::new))
            .setConfiguration(loading);
    if (savepoint != null) {
      builder.setSavepointRestoreSettings(SavepointRestoreSettings.forPath(savepoint));
    }
    try (PackagedProgram program = builder.build()) {
      JobGraph graph = PackagedProgramUtils.createJobGraph(program, configuration, 1, true);
      return submit(graph);
    } catch (ProgramInvocationException e) {
      throw new CliException(Errors.line(programFailure(e)), e);
    }
  }

  /** Returns the exception of the job's main method, without Flink's wrappers. */
  private static Throwable programFailure(Throwable error) {
    Throwable cause = error;
    while (cause.getCause() != null
        && (cause instanceof ProgramInvocationException
            || cause instanceof InvocationTargetException)) {
      cause = cause.getCause();
    }
    return cause;
  }

  private String submit(JobGraph graph) throws InterruptedException {
    return ask(client -> client.submitJob(graph), "does not take the job").toHexString();
  }

  /**
   * Waits until all tasks of the job run, which includes loading its models.
   *
   * @throws CliException if the job ended, or does not run in time; the message says why
   */
  void awaitRunning(String id) throws InterruptedException {
    JobID job = JobID.fromHexString(id);
    long deadline = System.nanoTime() + START_LIMIT.toNanos();
    while (true) {
      JobDetailsInfo details = ask(client -> client.getJobDetails(job), "does not know the job");
      if (details.getJobStatus().isGloballyTerminalState()) {
        throw ended(id, details.getJobStatus().name());
      }
      if (runs(details)) {
        return;
      }
      if (System.nanoTime() > deadline) {
        throw new CliException(
            "job "
                + id
                + " is "
                + details.getJobStatus()
                + " and does not run after "
                + START_LIMIT.toMinutes()
                + " minutes; http://"
                + address
                + " shows why");
      }
      Thread.sleep(POLL.toMillis());
    }
  }

  /**
   * Returns whether a job and all its tasks run. A job that is still being set up has no tasks yet.
   */
  private static boolean runs(JobDetailsInfo job) {
    return job.getJobStatus() == JobStatus.RUNNING
        && job.getJobVertexInfos().stream().allMatch(ClusterSubmission::runs);
  }

  private static boolean runs(JobDetailsInfo.JobVertexDetailsInfo vertex) {
    return vertex.getTasksPerState().getOrDefault(ExecutionState.RUNNING, 0)
        == vertex.getParallelism();
  }

  CliException ended(String id, String status) throws InterruptedException {
    JobID job = JobID.fromHexString(id);
    JobResult result = ask(client -> client.requestJobResult(job), "does not know the job");
    String reason =
        result
            .getSerializedThrowable()
            .map(failure -> failure.deserializeError(ClusterSubmission.class.getClassLoader()))
            .map(failure -> Errors.line(rootCause(failure)))
            .orElse("no cause given");
    return new CliException("job " + job + " ended as " + status + ": " + reason);
  }

  private <T> T ask(
      Function<RestClusterClient<StandaloneClusterId>, CompletableFuture<T>> question,
      String refusal)
      throws InterruptedException {
    try (RestClusterClient<StandaloneClusterId> client =
        new RestClusterClient<>(configuration, StandaloneClusterId.getInstance())) {
      return question.apply(client).get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new CliException("no answer from the JobManager at " + address, e);
    } catch (ExecutionException e) {
      throw new CliException(
          "the JobManager at " + address + " " + refusal + ": " + Errors.line(rootCause(e)), e);
    } catch (InterruptedException e) {
      throw e;
    } catch (Exception e) {
      throw new CliException("cannot reach " + address + ": " + Errors.line(e), e);
    }
  }

  private static Throwable rootCause(Throwable error) {
    Throwable cause = error;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    return cause;
  }
}
