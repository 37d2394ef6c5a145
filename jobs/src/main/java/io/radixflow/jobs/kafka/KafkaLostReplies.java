package io.radixflow.jobs.kafka;

import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.Settings;
import io.radixflow.operators.flink.recovery.LostReplies;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.TreeMap;

/**
 * Finds in the topic of replies what the brokers aborted; travels in the job graph.
 *
 * @param clientOptions how to reach the brokers
 * @param topic the topic
 * @param commitMillis see {@link LostReplies#commitMillis}
 */
public record KafkaLostReplies(Map<String, String> clientOptions, String topic, long commitMillis)
    implements LostReplies {

  /** The brokers' measure of a transaction's age may exceed the job's by this much. */
  private static final long MARGIN_MILLIS = 30_000;

  /** Reads the settings. */
  public static KafkaLostReplies of(Settings settings) {
    Map<String, String> client = new TreeMap<>();
    settings.kafkaClient().forEach((key, value) -> client.put((String) key, (String) value));
    return new KafkaLostReplies(
        client,
        settings.get(RadixflowOptions.REPLIES_TOPIC),
        settings.get(RadixflowOptions.TRANSACTION_TIMEOUT).toMillis() - MARGIN_MILLIS);
  }

  /** Fresh properties for a client. */
  Properties client() {
    Properties properties = new Properties();
    properties.putAll(clientOptions);
    return properties;
  }

  @Override
  public Search search(Set<Id> wanted, long since) {
    return ReplySearch.start(this, wanted, since);
  }
}
