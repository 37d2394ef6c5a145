package io.radixflow.lab.bench.pipeline;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import java.util.Map;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerInterceptor;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Records the times at which events and deltas are sent to Kafka and received from it. Each Kafka
 * client of the process creates its own instance and calls it on the client's threads.
 */
public final class KafkaHops
    implements ProducerInterceptor<byte[], byte[]>, ConsumerInterceptor<byte[], byte[]> {
  private static final String INTERCEPTORS = "interceptor.classes";
  private static final String EVENTS = "bench.events";
  private static final String DELTAS = "bench.deltas";

  private String events;
  private String deltas;

  /** Returns the settings of a job whose Kafka clients record times. */
  static Settings time(Settings settings) {
    return settings
        .with(client(INTERCEPTORS), KafkaHops.class.getName())
        .with(client(EVENTS), settings.get(KafkaConfig.EVENTS_TOPIC))
        .with(client(DELTAS), settings.get(KafkaConfig.DELTAS_TOPIC));
  }

  private static ConfigOption<String> client(String key) {
    return ConfigOptions.key(Settings.KAFKA_CLIENT_PREFIX + key).stringType().noDefaultValue();
  }

  @Override
  public void configure(Map<String, ?> configuration) {
    events = (String) configuration.get(EVENTS);
    deltas = (String) configuration.get(DELTAS);
  }

  @Override
  public ProducerRecord<byte[], byte[]> onSend(ProducerRecord<byte[], byte[]> record) {
    if (record.topic().equals(events)) {
      TurnTimeline.CURRENT.pass(Hop.SENT);
    } else if (record.topic().equals(deltas)) {
      TurnTimeline.CURRENT.pass(Hop.WRITTEN);
    }
    return record;
  }

  @Override
  public ConsumerRecords<byte[], byte[]> onConsume(ConsumerRecords<byte[], byte[]> records) {
    for (TopicPartition partition : records.partitions()) {
      if (partition.topic().equals(events)) {
        TurnTimeline.CURRENT.pass(Hop.READ);
      } else if (partition.topic().equals(deltas)) {
        TurnTimeline.CURRENT.pass(Hop.FOLLOWED);
      }
    }
    return records;
  }

  @Override
  public void onAcknowledgement(RecordMetadata metadata, Exception exception) {}

  @Override
  public void onCommit(Map<TopicPartition, OffsetAndMetadata> offsets) {}

  @Override
  public void close() {}
}
