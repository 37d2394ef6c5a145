package io.radixflow.cli.command.topic;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.radixflow.cli.command.common.BrokerOptions;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Errors;
import io.radixflow.cli.command.common.JsonLineOutput;
import io.radixflow.client.EventSender;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.protocol.event.ControlParser;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ExecutionException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** Sends a control event that switches a tier. */
@Command(
    name = "tiers",
    description = {
      "Switch a tier below the device while the job runs, on all its TaskManagers.",
      "  tiers detach disk       stop using it; its pages stay where they are",
      "  tiers attach disk 20gb  use it (again)",
      "  tiers resize host 8gb   give it another size; without one, the configured size",
      "  tiers flush disk        empty it",
      "The outcome is in each TaskManager's log and in the metrics tierCommandsApplied and"
          + " tierCommandsRefused. It holds until the next such command, also after a restart from"
          + " a checkpoint or savepoint."
    })
public final class TiersCommand extends CliCommand {
  @Mixin BrokerOptions brokers;

  @Parameters(index = "0", paramLabel = "ACTION", description = "attach, detach, resize or flush.")
  String action;

  @Parameters(index = "1", paramLabel = "TIER", description = "host or disk.")
  String tier;

  @Parameters(
      index = "2",
      arity = "0..1",
      paramLabel = "SIZE",
      description = "Bytes on each TaskManager, such as 20gb; for attach and resize.")
  String size;

  TiersCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws InterruptedException {
    byte[] event = event();
    Settings settings = brokers.load();
    String topic = settings.get(KafkaConfig.CONTROL_TOPIC);
    try (EventSender sender = new EventSender(settings)) {
      sender.send(topic, null, event).get();
    } catch (ExecutionException e) {
      throw new CliException("cannot send: " + Errors.line(e.getCause()), e);
    }
    out().println("sent to " + topic + "; the TaskManagers' logs show the outcome");
    return 0;
  }

  /** Returns the event, after the same checks as in the job. */
  private byte[] event() {
    ObjectNode json = JsonLineOutput.object();
    json.put("type", "tiers").put("action", action).put("tier", tier);
    if (size != null) {
      json.put("size", size);
    }
    byte[] bytes = json.toString().getBytes(StandardCharsets.UTF_8);
    ControlParser.Parsed parsed = new ControlParser().parse(bytes);
    CliException.throwIf(parsed.event() == null, parsed.reason());
    return bytes;
  }
}
