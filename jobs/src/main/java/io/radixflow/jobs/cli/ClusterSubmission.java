package io.radixflow.jobs.cli;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.client.deployment.StandaloneClusterId;
import org.apache.flink.client.program.PackagedProgram;
import org.apache.flink.client.program.PackagedProgramUtils;
import org.apache.flink.client.program.ProgramInvocationException;
import org.apache.flink.client.program.rest.RestClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.runtime.jobgraph.JobGraph;
import org.apache.flink.runtime.jobgraph.SavepointRestoreSettings;

/** Submits the job's jar to a running Flink cluster through its REST interface. */
final class ClusterSubmission {
  private static final String MAIN_CLASS = "io.radixflow.jobs.RadixflowJob";
  private static final long TIMEOUT_SECONDS = 60;

  private final Configuration configuration = new Configuration();
  private final String address;

  /**
   * @param address the JobManager's REST address, {@code host:port}
   */
  ClusterSubmission(String address) {
    this.address = address;
    int colon = address.lastIndexOf(':');
    if (colon <= 0 || !address.substring(colon + 1).matches("\\d{1,5}")) {
      throw new CliException("--jobmanager is " + address + ", must be HOST:PORT");
    }
    configuration.set(JobManagerOptions.ADDRESS, address.substring(0, colon));
    configuration.set(RestOptions.ADDRESS, address.substring(0, colon));
    configuration.set(RestOptions.PORT, Integer.parseInt(address.substring(colon + 1)));
    configuration.set(RestOptions.RETRY_MAX_ATTEMPTS, 3);
  }

  /**
   * Makes the job graph here and submits it.
   *
   * @param arguments of the job's main method
   * @param savepoint where to go on from, or null
   * @return the job's id
   */
  String submit(Path jar, List<String> arguments, String savepoint)
      throws IOException, InterruptedException {
    // this process has all of the jar's classes: loading them again beside its own would mix the
    // two
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

  /** What the job's main method threw, without Flink's wrapping. */
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
    try (RestClusterClient<StandaloneClusterId> client =
        new RestClusterClient<>(configuration, StandaloneClusterId.getInstance())) {
      return client.submitJob(graph).get(TIMEOUT_SECONDS, TimeUnit.SECONDS).toHexString();
    } catch (TimeoutException e) {
      throw new CliException("no answer from the JobManager at " + address, e);
    } catch (ExecutionException e) {
      throw new CliException(
          "the JobManager at " + address + " does not take the job: " + Errors.line(rootCause(e)),
          e);
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
