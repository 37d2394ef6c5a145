package io.radixflow.lab.drill;

import io.radixflow.cli.command.cluster.ClusterBuild;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.ConsoleProgress;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.model.ModelLoader;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Breaks a cluster on purpose and proves that nothing was lost. */
@Command(
    name = "drill",
    description = {
      "Start a cluster of processes, hold conversations with it, kill and stop its processes, "
          + "and prove from the topics that every turn was answered exactly once, in order, and "
          + "with the reply of an undisturbed run.",
      "Exits with 1 if a reply was lost, doubled or changed, or if anything else is wrong."
    })
public final class DrillCommand extends CliCommand {
  private static final int MAX_MINUTES = 100_000;

  /** Runs a drill; tests replace it to return prepared results. */
  interface Runner {
    /**
     * Starts a cluster from the jars, breaks it according to the plan, and compares the replies.
     *
     * @param progress receives a line at each step
     */
    DrillResult run(
        ClusterBuild build, DrillOptions options, Supplier<Fault> plan, Consumer<String> progress)
        throws IOException, InterruptedException;
  }

  private final Runner runner;

  @Mixin ClusterBuild build;

  @Option(
      names = "--minutes",
      paramLabel = "N",
      description = "Minutes during which faults are made.")
  int minutes = 5;

  @Option(
      names = "--seed",
      paramLabel = "S",
      description = "Seed of the conversations and of the faults' order.")
  long seed = 1;

  @Option(
      names = "--model",
      paramLabel = "MODEL",
      description = "A GGUF file, a Hugging Face directory or a hub name.")
  String model = ModelLoader.SIM;

  @Option(
      names = "--tiers",
      description =
          "Use small tiers below a small device: host memory, disks and a folder for all "
              + "TaskManagers. At least one page must come from these tiers, even after a kill.")
  boolean tiers;

  @Option(
      names = "--set",
      showDefaultValue = Visibility.NEVER,
      paramLabel = "KEY=VALUE",
      description =
          "One of the job's options, such as gpu.memory if its processes share a GPU; may be "
              + "given several times. See docs/options.md.")
  List<String> jobOptions = new ArrayList<>();

  @Option(names = "--offline", description = "Never use the network for a model.")
  boolean offline;

  @Option(
      names = "--directory",
      paramLabel = "DIR",
      description = "Keep logs and state in this directory; it must be empty or new.")
  Path directory;

  DrillCommand(CliEnvironment environment) {
    this(
        environment,
        (build, options, plan, progress) -> new Drill(build.jars(), options, progress).run(plan));
  }

  DrillCommand(CliEnvironment environment, Runner runner) {
    super(environment);
    this.runner = runner;
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    if (minutes < 1 || minutes > MAX_MINUTES) {
      throw new CliException("--minutes is " + minutes + "; it must be 1 to " + MAX_MINUTES);
    }
    new SettingsLoader()
        .set(jobOptions)
        .load(); // a wrong option is reported before anything starts
    DrillOptions options = options().with(tiers, jobOptions);
    Duration time = Duration.ofMinutes(minutes);
    FaultPlan plan = FaultPlan.lasting(options.faults(), time, seed, System::nanoTime);
    DrillResult result = runner.run(build, options, plan, this::say);
    out().print(result.table());
    out().flush();
    return result.holds() ? 0 : 1;
  }

  private DrillOptions options() throws IOException {
    Optional<Path> kept = Optional.ofNullable(directory);
    if (model.equals(ModelLoader.SIM)) {
      return DrillOptions.simulated(seed, kept);
    }
    if (ModelLoader.isSimulated(model)) {
      throw new CliException(
          "--model " + model + ": a drill sets the options of sim itself; say --model sim");
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
