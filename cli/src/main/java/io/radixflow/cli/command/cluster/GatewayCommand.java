package io.radixflow.cli.command.cluster;

import io.radixflow.cli.command.common.BrokerOptions;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.gateway.Gateway;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.concurrent.CountDownLatch;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs an HTTP gateway for existing brokers until interrupted. */
@Command(
    name = "gateway",
    description = {
      "Serve a running job's conversations over HTTP, with the APIs of OpenAI and Anthropic, until"
          + " Ctrl-C.",
      "Any number of gateways may use the same brokers. See docs/gateway.md."
    })
public final class GatewayCommand extends CliCommand {
  @Mixin BrokerOptions brokers;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      showDefaultValue = Visibility.NEVER,
      description = "Port to listen on; 0 for any free port (default: option gateway.port).")
  Integer port;

  GatewayCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws IOException, InterruptedException {
    Settings settings = brokers.load();
    if (port != null) {
      settings = settings.with(GatewayConfig.PORT, port);
    }
    try (Gateway gateway = Gateway.start(settings)) {
      out().println("HTTP  " + gateway.uri());
      out().println("Ctrl-C stops.");
      out().flush();
      new CountDownLatch(1).await();
    }
    return 0;
  }

  /**
   * Fails early if the gateway's port is taken, before a model is loaded.
   *
   * @param option the option that sets the port, for the message
   */
  static void requireFree(Settings settings, String option) {
    int port = settings.get(GatewayConfig.PORT);
    requireFree(
        new InetSocketAddress(settings.get(GatewayConfig.HOST), port), "the HTTP gateway", option);
  }

  /**
   * Checks that a port is free before anything is started.
   *
   * @param who the intended listener, for the message
   * @param option the option that sets the port
   */
  static void requireFree(InetSocketAddress address, String who, String option) {
    try (ServerSocket socket = new ServerSocket()) {
      socket.bind(address);
    } catch (IOException e) {
      throw new CliException(
          "port "
              + address.getPort()
              + " is taken, and "
              + who
              + " was to listen there; choose another with "
              + option
              + ", or 0 for any free one",
          e);
    }
  }
}
