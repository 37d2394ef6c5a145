package io.radixflow.jobs.kvevents;

import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.Settings;
import io.radixflow.operators.engine.EngineInfo;
import io.radixflow.operators.engine.KvEventSink;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

/**
 * Publishes KV events to Kafka, as the settings say; travels in the job graph.
 *
 * @param clientOptions how to reach the brokers
 * @param topic compacted
 * @param tokenIds whether the events have the token ids of pages
 * @param buffer most events that wait for Kafka
 * @param heartbeatMillis an engine without changes announces itself this often
 * @param retentionMillis records of an engine without a sign of life for this long are deleted
 */
public record KafkaKvEvents(
    Map<String, String> clientOptions,
    String topic,
    boolean tokenIds,
    int buffer,
    long heartbeatMillis,
    long retentionMillis)
    implements KvEventSink.Factory {

  private static final long HEARTBEAT_MILLIS = 10_000;

  /** The publisher that the settings ask for, or null if they want none. */
  public static KafkaKvEvents of(Settings settings) {
    if (!settings.get(RadixflowOptions.KV_EVENTS_ENABLED)) {
      return null;
    }
    Map<String, String> client = new TreeMap<>();
    settings.kafkaClient().forEach((key, value) -> client.put((String) key, (String) value));
    return new KafkaKvEvents(
        client,
        settings.get(RadixflowOptions.KV_EVENTS_TOPIC),
        settings.get(RadixflowOptions.KV_EVENTS_TOKEN_IDS),
        settings.get(RadixflowOptions.KV_EVENTS_BUFFER),
        HEARTBEAT_MILLIS,
        settings.get(RadixflowOptions.KV_EVENTS_RETENTION).toMillis());
  }

  /** Fresh properties for a client. */
  Properties client() {
    Properties properties = new Properties();
    properties.putAll(clientOptions);
    return properties;
  }

  @Override
  public KvEventSink open(EngineInfo engine, Runnable onRoom) {
    return new KvEventsPublisher(this, engine, onRoom);
  }
}
