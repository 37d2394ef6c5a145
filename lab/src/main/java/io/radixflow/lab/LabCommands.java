package io.radixflow.lab;

import io.radixflow.cli.command.common.CommandProvider;
import io.radixflow.lab.bench.operation.CacheBenchCommand;
import io.radixflow.lab.bench.operation.GrammarBenchCommand;
import io.radixflow.lab.drill.DrillCommand;
import io.radixflow.lab.hitrates.CacheSimulateCommand;
import io.radixflow.lab.hitrates.CacheWorkloadCommand;
import io.radixflow.lab.replay.CacheReplayCommand;
import picocli.CommandLine;

/** Adds the lab's commands to the command line. */
public final class LabCommands implements CommandProvider {

  @Override
  public void addTo(CommandLine radixflow) {
    radixflow.addSubcommand(DrillCommand.class);
    radixflow.addSubcommand(BenchCommand.class);
    CommandLine cache = radixflow.getSubcommands().get("cache");
    cache.addSubcommand(CacheSimulateCommand.class);
    cache.addSubcommand(CacheWorkloadCommand.class);
    cache.addSubcommand(CacheReplayCommand.class);
    cache.addSubcommand(CacheBenchCommand.class);
    radixflow.getSubcommands().get("grammar").addSubcommand(GrammarBenchCommand.class);
  }
}
