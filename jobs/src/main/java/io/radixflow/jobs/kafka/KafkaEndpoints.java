package io.radixflow.jobs.kafka;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.Settings;
import io.radixflow.jobs.event.DeadLetter;
import io.radixflow.jobs.event.DeadLetterWriter;
import io.radixflow.jobs.event.DeltaWriter;
import io.radixflow.operators.record.ReplyDelta;
import org.apache.flink.connector.base.DeliveryGuarantee;
import org.apache.flink.connector.kafka.sink.KafkaSink;
import org.apache.flink.connector.kafka.sink.KafkaSinkBuilder;
import org.apache.flink.connector.kafka.source.KafkaSource;
import org.apache.flink.connector.kafka.source.enumerator.initializer.OffsetsInitializer;
import org.apache.kafka.clients.consumer.OffsetResetStrategy;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/** The job's sources and sinks on Kafka, as the settings say. */
public final class KafkaEndpoints {

  private final Settings settings;

  public KafkaEndpoints(Settings settings) {
    this.settings = settings;
  }

  /** Conversation events; never fails on a record. */
  public KafkaSource<EventRecord> events() {
    return KafkaSource.<EventRecord>builder()
        .setProperties(KafkaClient.EVENTS.properties(settings))
        .setTopics(settings.get(RadixflowOptions.EVENTS_TOPIC))
        .setGroupId(settings.get(RadixflowOptions.GROUP_ID))
        .setStartingOffsets(
            switch (settings.get(RadixflowOptions.START_FROM)) {
              case COMMITTED -> OffsetsInitializer.committedOffsets(OffsetResetStrategy.EARLIEST);
              case EARLIEST -> OffsetsInitializer.earliest();
              case LATEST -> OffsetsInitializer.latest();
            })
        .setDeserializer(
            new EventDeserializer(
                settings.get(RadixflowOptions.EVENT_MAX_BYTES),
                settings.get(RadixflowOptions.DEAD_LETTER_MAX_BYTES),
                settings.get(RadixflowOptions.REQUIRE_SESSION_KEY)))
        .build();
  }

  /**
   * Control events, from {@link ControlOffsets} on.
   *
   * @throws KafkaSetupException if the brokers do not answer
   */
  public KafkaSource<ControlRecord> control() {
    return KafkaSource.<ControlRecord>builder()
        .setProperties(KafkaClient.CONTROL.properties(settings))
        .setTopics(settings.get(RadixflowOptions.CONTROL_TOPIC))
        .setGroupId(settings.get(RadixflowOptions.GROUP_ID))
        .setStartingOffsets(
            // partitions that are made from now on are read from their beginning
            OffsetsInitializer.offsets(ControlOffsets.of(settings), OffsetResetStrategy.EARLIEST))
        .setDeserializer(
            new ControlDeserializer(settings.get(RadixflowOptions.DEAD_LETTER_MAX_BYTES)))
        .build();
  }

  /** Deltas, at least once; each goes as soon as the brokers have those before it. */
  public KafkaSink<ReplyDelta> deltas() {
    String topic = settings.get(RadixflowOptions.DELTAS_TOPIC);
    return this.<ReplyDelta>sink(KafkaClient.DELTAS)
        .setDeliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .setRecordSerializer(
            (delta, context, timestamp) ->
                new ProducerRecord<>(
                    topic,
                    null,
                    null,
                    delta.session().getBytes(UTF_8),
                    DeltaWriter.write(delta),
                    TraceHeaders.of(delta.trace())))
        .build();
  }

  /** Dead letters, at least once. */
  public KafkaSink<DeadLetter> deadLetters() {
    String topic = settings.get(RadixflowOptions.DEAD_LETTERS_TOPIC);
    return this.<DeadLetter>sink(KafkaClient.DEAD_LETTERS)
        .setDeliveryGuarantee(DeliveryGuarantee.AT_LEAST_ONCE)
        .setRecordSerializer((letter, context, timestamp) -> deadLetter(topic, timestamp, letter))
        .build();
  }

  /**
   * Returns the record of a dead letter.
   *
   * @param timestamp that of the record it was; null or negative if that had none
   */
  static ProducerRecord<byte[], byte[]> deadLetter(
      String topic, Long timestamp, DeadLetter letter) {
    Long time = timestamp == null || timestamp < 0 ? null : timestamp;
    return new ProducerRecord<>(topic, null, time, letter.key(), letter.value(), headers(letter));
  }

  private <T> KafkaSinkBuilder<T> sink(KafkaClient client) {
    return KafkaSink.<T>builder().setKafkaProducerConfig(client.properties(settings));
  }

  private static Headers headers(DeadLetter letter) {
    RecordHeaders headers = new RecordHeaders();
    DeadLetterWriter.headers(letter).forEach(headers::add);
    return headers;
  }
}
