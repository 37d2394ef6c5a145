package io.radixflow.cli.command.topic;

import io.radixflow.cli.command.common.BrokerOptions;
import io.radixflow.cli.command.common.CliCommand;
import io.radixflow.cli.command.common.CliEnvironment;
import io.radixflow.client.TopicFollower;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.KafkaSetupException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Follows the job's output topics. */
@Command(
    name = "tail",
    description = {
      "Follow deltas and committed replies: a line for each record, its topic and its JSON.",
      "Ctrl-C ends it."
    })
public final class TailCommand extends CliCommand {
  @Mixin BrokerOptions brokers;

  @Option(names = "--session", paramLabel = "ID", description = "Only this session.")
  String session;

  @Option(names = "--no-deltas", description = "Only committed replies.")
  boolean noDeltas;

  @Option(names = "--dead-letters", description = "Also show dead letters.")
  boolean deadLetters;

  @Option(names = "--from-beginning", description = "Begin with what the topics already have.")
  boolean fromBeginning;

  @Option(
      names = "--count",
      paramLabel = "N",
      description = "End after this many records; 0 never ends.")
  int count = 0;

  private final CountDownLatch end = new CountDownLatch(1);
  private int shown;
  private volatile KafkaSetupException failure;

  TailCommand(CliEnvironment environment) {
    super(environment);
  }

  @Override
  public Integer call() throws InterruptedException {
    Settings settings = brokers.load();
    List<String> topics = new ArrayList<>();
    if (!noDeltas) {
      topics.add(settings.get(KafkaConfig.DELTAS_TOPIC));
    }
    topics.add(settings.get(KafkaConfig.REPLIES_TOPIC));
    if (deadLetters) {
      topics.add(settings.get(KafkaConfig.DEAD_LETTERS_TOPIC));
    }
    List<TopicFollower> followers = new ArrayList<>();
    try {
      for (String topic : topics) {
        followers.add(TopicFollower.start(settings, topic, fromBeginning, this::show, this::fail));
      }
      end.await();
    } finally {
      followers.forEach(TopicFollower::close);
    }
    if (failure != null) {
      throw failure;
    }
    return 0;
  }

  private void fail(KafkaSetupException cause) {
    failure = cause;
    end.countDown();
  }

  private synchronized void show(ConsumerRecord<byte[], byte[]> record) {
    if (end.getCount() == 0 || !isAsked(record)) {
      return;
    }
    String value = record.value() == null ? "" : text(record.value());
    out().println(record.topic() + "\t" + value);
    out().flush();
    if (++shown == count || out().checkError()) {
      end.countDown();
    }
  }

  private boolean isAsked(ConsumerRecord<byte[], byte[]> record) {
    return session == null || record.key() != null && session.equals(text(record.key()));
  }

  private static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
