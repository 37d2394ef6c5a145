package io.radixflow.cli.command.cluster;

import io.radixflow.cli.cluster.ClusterJars;
import java.io.IOException;
import java.nio.file.Path;
import picocli.CommandLine.Option;

/** The jars of commands that start a cluster of processes. */
public final class ClusterBuild {
  @Option(
      names = "--jar",
      paramLabel = "FILE",
      defaultValue = "${sys:radixflow.job.jar:-radixflow-job.jar}",
      description = "The job's jar.")
  Path jar;

  @Option(
      names = "--kernels-jar",
      paramLabel = "FILE",
      defaultValue = "${sys:radixflow.kernels.jar:-radixflow-kernels-lib.jar}",
      description = "The kernels' jar for Flink's lib.")
  Path kernels;

  public ClusterJars jars() throws IOException {
    return ClusterJars.ofThisProcess(kernels, jar);
  }
}
