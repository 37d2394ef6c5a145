package io.radixflow.lab;

import io.radixflow.lab.bench.BenchEvenCommand;
import io.radixflow.lab.bench.BenchGpuCommand;
import io.radixflow.lab.bench.BenchModelCommand;
import io.radixflow.lab.bench.job.BenchJobCommand;
import io.radixflow.lab.bench.job.BenchStateCommand;
import io.radixflow.lab.bench.pipeline.BenchPipelineCommand;
import io.radixflow.lab.bench.speculation.BenchSpeculationCommand;
import io.radixflow.lab.bench.tiers.BenchDiskCommand;
import io.radixflow.lab.bench.tiers.BenchTiersCommand;
import picocli.CommandLine.Command;

/** The group of benchmark commands. */
@Command(
    name = "bench",
    description = "Measure speed on this machine.",
    synopsisSubcommandLabel = "BENCHMARK",
    subcommands = {
      BenchModelCommand.class,
      BenchGpuCommand.class,
      BenchSpeculationCommand.class,
      BenchPipelineCommand.class,
      BenchJobCommand.class,
      BenchEvenCommand.class,
      BenchStateCommand.class,
      BenchTiersCommand.class,
      BenchDiskCommand.class
    })
final class BenchCommand {}
