package io.radixflow.cli.command.common;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.jobs.config.RadixflowOptions;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Option;

/** The command line's options for the job's settings. */
public final class SettingsOptions {
  @Option(
      names = "--config",
      showDefaultValue = Visibility.NEVER,
      paramLabel = "FILE",
      description = "A YAML file of the job's options; may be given several times.")
  List<Path> files = new ArrayList<>();

  @Option(
      names = "--set",
      showDefaultValue = Visibility.NEVER,
      paramLabel = "KEY=VALUE",
      description = "One of the job's options; may be given several times. See docs/options.md.")
  List<String> assignments = new ArrayList<>();

  /** Loads the settings: files, then the environment, then assignments. */
  public Settings load() {
    return load(System.getenv());
  }

  private Settings load(Map<String, String> variables) {
    SettingsLoader loader = new SettingsLoader();
    files.forEach(loader::file);
    return loader.environment(variables).set(assignments).load();
  }

  /** Returns the settings with the model options of the command line. */
  public Settings load(CliCommand command, ModelOptions model) {
    Settings settings = load();
    if (command.isGiven("--model")) {
      settings = settings.with(SharedConfig.MODEL, model.model);
    }
    if (command.isGiven("--device")) {
      settings = settings.with(RadixflowOptions.DEVICE, model.device);
    }
    if (command.isGiven("--threads")) {
      settings = settings.with(RadixflowOptions.THREADS, model.threads);
    }
    if (command.isGiven("--kv-type")) {
      settings = settings.with(RadixflowOptions.KV_TYPE, model.kvType);
    }
    if (command.isGiven("--gpu-mode")) {
      settings = settings.with(RadixflowOptions.GPU_MODE, model.gpuMode);
    }
    if (command.isGiven("--gpu-memory")) {
      settings = settings.with(RadixflowOptions.GPU_MEMORY, model.gpuMemory);
    }
    return settings;
  }

  /** Returns the settings with the brokers' address from the command line, if it is given. */
  public Settings load(String bootstrap) {
    Settings settings = load();
    return bootstrap == null ? settings : settings.with(KafkaConfig.BOOTSTRAP_SERVERS, bootstrap);
  }
}
