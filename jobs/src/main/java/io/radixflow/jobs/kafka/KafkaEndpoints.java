package io.radixflow.jobs.kafka;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.protocol.record.ReplyDelta;
import io.radixflow.protocol.topic.DeadLetter;
import org.apache.flink.api.connector.source.Source;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaSinkBuilder;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.flink.connector.kafka.source.reader.deserializer.KafkaRecordDeserializationSchema;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.common.IsolationLevel;

/** The job's sources and sinks on Kafka, made from the settings. */
public final class KafkaEndpoints {

  private final Settings settings;

  public KafkaEndpoints(Settings settings) {
    this.settings = settings;
  }

  /**
   * The source of conversation events; it never fails because of a record.
   *
   * @throws KafkaSetupException if the job starts at the topic's end and the brokers do not answer
   */
  public Source<EventRecord, ?, ?> events() {
    return source(
        KafkaClient.EVENTS,
        settings.get(KafkaConfig.EVENTS_TOPIC),
        startOfEvents(),
        new EventDeserializer(
            settings.get(KafkaConfig.EVENT_MAX_BYTES),
            settings.get(KafkaConfig.DEAD_LETTER_MAX_BYTES),
            settings.get(KafkaConfig.REQUIRE_SESSION_KEY)));
  }

  private OffsetsInitializer startOfEvents() {
    return switch (settings.get(KafkaConfig.START_FROM)) {
      case COMMITTED -> OffsetsInitializer.committedOffsets(OffsetResetStrategy.EARLIEST);
      case EARLIEST -> OffsetsInitializer.earliest();
      // Flink's own initializer also moves to the end if an offset is gone, and so skips events
      case LATEST ->
          OffsetsInitializer.offsets(
              TopicOffsets.ask(
                      settings,
                      settings.get(KafkaConfig.EVENTS_TOPIC),
                      IsolationLevel.READ_COMMITTED)
                  .endsByPartition(),
              OffsetResetStrategy.EARLIEST);
    };
  }

  /**
   * Returns the source of control events. It starts at {@link ControlOffsets}.
   *
   * @throws KafkaSetupException if the brokers do not answer
   */
  public Source<ControlRecord, ?, ?> control() {
    return source(
        KafkaClient.CONTROL,
        settings.get(KafkaConfig.CONTROL_TOPIC),
        // partitions that are created later are read from their beginning
        OffsetsInitializer.offsets(ControlOffsets.of(settings), OffsetResetStrategy.EARLIEST),
        new ControlDeserializer(settings.get(KafkaConfig.DEAD_LETTER_MAX_BYTES)));
  }

  private <T> TopicSource<T> source(
      KafkaClient client,
      String topic,
      OffsetsInitializer start,
      KafkaRecordDeserializationSchema<T> deserializer) {
    return new TopicSource<>(
        KafkaSource.<T>builder()
            .setProperties(client.properties(settings))
            .setTopics(topic)
            .setGroupId(settings.get(KafkaConfig.GROUP_ID))
            .setStartingOffsets(start)
            .setDeserializer(deserializer)
            .build(),
        settings,
        topic);
  }

  /**
   * The sink of deltas, at least once. It sends a batch as soon as the brokers have the batches
   * before it.
   */
  public KafkaSink<ReplyDelta> deltas() {
    return this.<ReplyDelta>sink(KafkaClient.DELTAS)
        .setDeliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .setRecordSerializer(new DeltaRecords(settings))
        .build();
  }

  /** Returns the sink of dead letters, at least once. */
  public KafkaSink<DeadLetter> deadLetters() {
    return this.<DeadLetter>sink(KafkaClient.DEAD_LETTERS)
        .setDeliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .setRecordSerializer(new DeadLetterRecords(settings))
        .build();
  }

  private <T> KafkaSinkBuilder<T> sink(KafkaClient client) {
    return KafkaSink.<T>builder().setKafkaProducerConfig(client.properties(settings));
  }
}
