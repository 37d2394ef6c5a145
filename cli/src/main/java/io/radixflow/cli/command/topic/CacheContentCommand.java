package io.radixflow.cli.command.topic;

import io.radixflow.cli.command.common.BrokerOptions;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.cli.command.common.CliException;
import io.radixflow.cli.command.common.Errors;
import io.radixflow.cli.command.common.Progress;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kvevents.KvEventsReader;
import org.apache.kafka.common.KafkaException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** Shows what the engines of a running job have in their caches. */
@Command(
    name = "content",
    description = {
      "Show what the engines of a job have in their prefix caches, from its topic of KV events.",
      "The job must have been started with kv-events.enabled=true."
    })
public final class CacheContentCommand extends CliCommand {
  @Mixin BrokerOptions brokers;

  CacheContentCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() {
    Settings settings = brokers.load();
    String topic = settings.get(KafkaConfig.KV_EVENTS_TOPIC);
    try (Progress progress = progress("reading " + topic);
        KvEventsReader reader = new KvEventsReader(settings)) {
      new CacheContentTable(reader.readToEnd(() -> false), System.currentTimeMillis()).print(out());
    } catch (KafkaException e) {
      throw new CliException(
          "cannot read the topic "
              + topic
              + " on "
              + settings.get(KafkaConfig.BOOTSTRAP_SERVERS)
              + ": "
              + Errors.line(e),
          e);
    }
    return 0;
  }
}
