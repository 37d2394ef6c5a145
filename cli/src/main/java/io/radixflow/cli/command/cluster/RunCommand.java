package io.radixflow.cli.command.cluster;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.LocalServing;
import io.radixflow.cli.local.LocalStack;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs the job in this process against an existing Kafka. */
@Command(
    name = "run",
    description = {
      "Run the job in this process against an existing Kafka, until Ctrl-C.",
      "The topics must exist, unless --set kafka.create-topics=true."
    })
public final class RunCommand extends CliCommand {
  @Mixin LocalServing serving;

  @Option(
      names = "--bootstrap",
      paramLabel = "HOST:PORT",
      description =
          "Bootstrap brokers, separated by commas (default: option kafka.bootstrap-servers).")
  String bootstrap;

  RunCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws Exception {
    serving.run(serving.start(this, bootstrap), this::announce);
    return 0;
  }

  private void announce(LocalStack stack) {
    Settings used = stack.settings();
    String events = used.get(KafkaConfig.EVENTS_TOPIC);
    String brokers = used.get(KafkaConfig.BOOTSTRAP_SERVERS);
    out().println("serving " + events + " of " + brokers + "; Ctrl-C stops");
    out().println("Flink " + stack.webInterface());
    out().flush();
  }
}
