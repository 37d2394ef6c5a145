package io.radixflow.jobs.cli;

import io.radixflow.jobs.config.Settings;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of commands that talk to a job that runs elsewhere. */
final class BrokerOptions {
  @Mixin SettingsOptions settings;

  @Option(
      names = "--bootstrap",
      paramLabel = "HOST:PORT",
      description = "Brokers to begin with; else option kafka.bootstrap-servers.")
  String bootstrap;

  /** Loads the settings, with the given brokers in them. */
  Settings load() {
    return settings.load(bootstrap);
  }
}
