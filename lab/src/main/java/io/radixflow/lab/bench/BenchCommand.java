package io.radixflow.lab.bench;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The group of benchmark commands. */
@Command(
    name = "bench",
    description = "Measure speed on this machine.",
    synopsisSubcommandLabel = "BENCHMARK",
    subcommands = {
      BenchModelCommand.class,
      BenchGpuCommand.class,
      BenchCacheCommand.class,
      BenchPipelineCommand.class,
      BenchStateCommand.class,
      BenchTiersCommand.class,
      BenchDiskCommand.class
    })
public final class BenchCommand implements Runnable {
  @Spec CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "no benchmark given");
  }
}
