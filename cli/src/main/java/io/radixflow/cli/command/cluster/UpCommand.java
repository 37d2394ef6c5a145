package io.radixflow.cli.command.cluster;

import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.LocalServing;
import io.radixflow.cli.flink.LoopbackFlink;
import io.radixflow.cli.local.LocalStack;
import io.radixflow.client.config.GatewayConfig;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.gateway.Gateway;
import io.radixflow.gateway.api.ServedModels;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.models.RadixflowHome;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import picocli.CommandLine.Command;
import picocli.CommandLine.Help.Visibility;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs a broker, the job and the HTTP gateway until interrupted. */
@Command(
    name = "up",
    description = {
      "Start a Kafka broker, the job and the HTTP gateway in this process, until Ctrl-C.",
      "Prints the addresses for HTTP and Kafka clients on this machine, and the directory that"
          + " keeps the conversations: the next start continues them."
    })
public final class UpCommand extends CliCommand {
  @Mixin LocalServing serving;

  @Option(
      names = "--port",
      paramLabel = "PORT",
      description = "Port of the broker; 0 for any free port.")
  int port = 9092;

  @Option(
      names = "--gateway-port",
      paramLabel = "PORT",
      showDefaultValue = Visibility.NEVER,
      description =
          "Port of the HTTP gateway; 0 for any free port (default: option gateway.port, 8000).")
  Integer gatewayPort;

  @Option(
      names = "--metrics-port",
      paramLabel = "PORT",
      description = "Port of Flink's metrics for Prometheus; 0 for any free port.")
  int metricsPort = LoopbackFlink.METRICS_PORT;

  @Option(names = "--temporary", description = "Keep nothing: conversations end with the process.")
  boolean temporary;

  UpCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws Exception {
    if (port < 0 || port > 65_535) {
      throw new CliException("--port is " + port + "; it must be 0 to 65535");
    }
    if (metricsPort < 0 || metricsPort > 65_535) {
      throw new CliException("--metrics-port is " + metricsPort + "; it must be 0 to 65535");
    }
    CliException.throwIf(
        temporary && serving.directory().isPresent(),
        "--temporary keeps nothing, and --directory keeps conversations: give one");
    if (!temporary) {
      serving.keepIn(RadixflowHome.data().resolve("up"));
    }
    Settings asked = gatewaySettings(serving.settings.load(this, serving.model));
    GatewayCommand.requireFree(asked, "--gateway-port");
    requireFree(port, "the Kafka broker", "--port");
    requireFree(metricsPort, "the page of Flink's metrics", "--metrics-port");
    // the stack's settings have the model's file instead of the requested name
    String model = ServedModels.nameOf(asked);
    try (LocalStack stack = serving.startWithBroker(this, withKvEvents(asked), port, metricsPort);
        Gateway gateway =
            Gateway.start(
                live(gatewaySettings(stack.settings()), stack)
                    .with(GatewayConfig.MODEL_NAME, model))) {
      serving.run(stack, started -> announce(started, gateway, model));
    }
    return 0;
  }

  private static void requireFree(int port, String who, String option) {
    GatewayCommand.requireFree(
        new InetSocketAddress(InetAddress.getLoopbackAddress(), port), who, option);
  }

  private Settings gatewaySettings(Settings settings) {
    return gatewayPort == null ? settings : settings.with(GatewayConfig.PORT, gatewayPort);
  }

  /** Returns the settings with KV events for the live page, unless they switch KV events off. */
  private static Settings withKvEvents(Settings settings) {
    return settings.isGiven(RadixflowOptions.KV_EVENTS_ENABLED)
        ? settings
        : settings.with(RadixflowOptions.KV_EVENTS_ENABLED, true);
  }

  /**
   * Returns the settings of the live page, which shows the stack's own Flink unless the settings
   * name another one.
   */
  private static Settings live(Settings settings, LocalStack stack) {
    return settings.isGiven(GatewayConfig.FLINK_URL)
        ? settings
        : settings.with(GatewayConfig.FLINK_URL, stack.webInterface().toString());
  }

  private String kept() {
    return serving
        .directory()
        .map(directory -> directory.toAbsolutePath().toString())
        .orElse("not kept (--temporary)");
  }

  private void announce(LocalStack stack, Gateway gateway, String model) {
    Settings settings = stack.settings();
    String bootstrap = settings.get(KafkaConfig.BOOTSTRAP_SERVERS);
    out().println("console            " + gateway.uri().resolve("/"));
    out().println("live page          " + gateway.uri().resolve("/live"));
    out().println("HTTP API           " + gateway.uri() + "/v1");
    out().println("model              " + model);
    out().println("conversations      " + kept());
    out().println("bootstrap servers  " + bootstrap);
    out().println("events             " + settings.get(KafkaConfig.EVENTS_TOPIC));
    out().println("deltas             " + settings.get(KafkaConfig.DELTAS_TOPIC));
    out().println("replies            " + settings.get(KafkaConfig.REPLIES_TOPIC));
    out().println("dead letters       " + settings.get(KafkaConfig.DEAD_LETTERS_TOPIC));
    out().println("control            " + settings.get(KafkaConfig.CONTROL_TOPIC));
    out().println("Flink              " + stack.webInterface());
    out().println("metrics            " + stack.metrics());
    out().println();
    out().println("Try: curl " + gateway.uri() + "/v1/chat/completions \\");
    out().println("  -d '{\"messages\": [{\"role\": \"user\", \"content\": \"Hello!\"}]}'");
    out().println(" or: ./radixflow send --bootstrap " + bootstrap + " --follow 'Hello!'");
    out().println("Ctrl-C stops.");
    out().flush();
  }
}
