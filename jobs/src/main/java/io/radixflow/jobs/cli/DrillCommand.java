package io.radixflow.jobs.cli;

import io.radixflow.jobs.drill.Drill;
import io.radixflow.jobs.drill.DrillOptions;
import io.radixflow.jobs.drill.DrillResult;
import io.radixflow.jobs.drill.FaultPlan;
import io.radixflow.kernels.ModelLoader;
import io.radixflow.kernels.model.hub.ConsoleProgress;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Faults on purpose, and the proof that nothing was lost. */
@Command(
    name = "drill",
    description = {
      "Start a cluster of processes, hold conversations with it, kill and stop its processes, and"
          + " prove from the topics that every turn was answered once, in order and as if nothing"
          + " had happened.",
      "Exits with 1 if a reply was lost, doubled or changed, or anything else is wrong."
    })
final class DrillCommand extends CliCommand {
  private static final int MAX_MINUTES = 100_000;

  @Mixin ClusterBuild build;

  @Option(
      names = "--minutes",
      paramLabel = "N",
      defaultValue = "5",
      description = "How long faults go on (default: ${DEFAULT-VALUE}).")
  int minutes;

  @Option(
      names = "--seed",
      paramLabel = "S",
      defaultValue = "1",
      description = "Of the conversations and of the faults' order (default: ${DEFAULT-VALUE}).")
  long seed;

  @Option(
      names = "--model",
      paramLabel = "MODEL",
      defaultValue = ModelLoader.SIM,
      description = "A GGUF file, a Hugging Face directory or a hub name (default: sim).")
  String model;

  @Option(names = "--offline", description = "Never use the network for a model.")
  boolean offline;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description = "Put logs and state here and leave them; an empty or a new directory.")
  Path directory;

  DrillCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (minutes < 1 || minutes > MAX_MINUTES) {
      throw new CliException("--minutes is " + minutes + ", must be 1 to " + MAX_MINUTES);
    }
    Drill drill = new Drill(build.jars(), options(), this::say);
    DrillResult result =
        drill.run(FaultPlan.lasting(Duration.ofMinutes(minutes), seed, System::nanoTime));
    out().print(DrillTable.of(result));
    out().flush();
    return result.holds() ? 0 : 1;
  }

  private DrillOptions options() throws IOException {
    Optional<Path> kept = Optional.ofNullable(directory);
    if (model.equals(ModelLoader.SIM)) {
      return DrillOptions.simulated(seed, kept);
    }
    ConsoleProgress transfer = new ConsoleProgress(err(), environment.terminal(), System::nanoTime);
    String location = environment.models().locate(model, offline, transfer).location();
    return DrillOptions.real(location, seed, kept);
  }

  private void say(String line) {
    err().println(line);
    err().flush();
  }
}
