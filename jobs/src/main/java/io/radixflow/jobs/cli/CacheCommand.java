package io.radixflow.jobs.cli;

import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Holds the commands about the prefix cache. */
@Command(
    name = "cache",
    description = "Study the prefix cache without a model, or look into those of a running job.",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      CacheSimulateCommand.class,
      CacheWorkloadCommand.class,
      CacheReplayCommand.class,
      CacheBenchCommand.class,
      CacheContentCommand.class
    })
final class CacheCommand implements Runnable {
  @Spec CommandSpec spec;

  @Override
  public void run() {
    throw new ParameterException(spec.commandLine(), "no command given");
  }
}
