package io.radixflow.cli.command.common;

import io.radixflow.client.config.Settings;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options of commands that talk to a job that runs elsewhere. */
public final class BrokerOptions {
  @Mixin SettingsOptions settings;

  @Option(
      names = "--bootstrap",
      paramLabel = "HOST:PORT",
      description = "Bootstrap brokers (default: option kafka.bootstrap-servers).")
  String bootstrap;

  public Settings load() {
    return settings.load(bootstrap);
  }
}
