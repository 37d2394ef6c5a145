package io.radixflow.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.client.kafka.TraceHeaders;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.topic.EventWriter;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Headers;

/** Sends events to the job over Kafka without following their replies. Any thread may use it. */
public final class EventSender implements AutoCloseable {
  private final String brokers;
  private final String events;
  private final KafkaProducer<byte[], byte[]> producer;

  /** Makes a sender. It connects when the first event is sent. */
  public EventSender(Settings settings) {
    brokers = settings.get(KafkaConfig.BOOTSTRAP_SERVERS);
    events = settings.get(KafkaConfig.EVENTS_TOPIC);
    producer = KafkaClient.EVENT_SENDER.producer(settings);
  }

  /**
   * Sends an event to the topic of events, with the trace of its origin.
   *
   * @return completed when the brokers have it
   */
  public CompletableFuture<Void> send(ConversationEvent event) {
    try {
      return send(record(event));
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(
          new KafkaSetupException("the event could not be sent: " + e.getMessage(), e));
    }
  }

  private ProducerRecord<byte[], byte[]> record(ConversationEvent event) {
    byte[] key = event.session().getBytes(UTF_8);
    Headers trace = event.origin() == null ? null : TraceHeaders.of(event.origin().trace());
    return new ProducerRecord<>(events, null, null, key, EventWriter.write(event), trace);
  }

  /**
   * Sends a record unchanged.
   *
   * @param topic the topic of events or of control events
   * @param key the session's id, or null
   * @return completed when the brokers have it, or exceptionally; the message says what to do
   */
  public CompletableFuture<Void> send(String topic, byte[] key, byte[] value) {
    return send(new ProducerRecord<>(topic, key, value));
  }

  private CompletableFuture<Void> send(ProducerRecord<byte[], byte[]> record) {
    CompletableFuture<Void> sent = new CompletableFuture<>();
    try {
      producer.send(
          record,
          (metadata, failure) -> {
            if (failure == null) {
              sent.complete(null);
            } else {
              sent.completeExceptionally(explained(failure, record));
            }
          });
    } catch (RuntimeException e) {
      sent.completeExceptionally(explained(e, record));
    }
    return sent;
  }

  /** Returns an exception that says what to do about a failure of the producer. */
  private Exception explained(Exception failure, ProducerRecord<byte[], byte[]> record) {
    if (failure instanceof TimeoutException) {
      // for every cause the producer only says that it has no metadata
      return new KafkaSetupException(
          "no Kafka broker answers at " + brokers + ", or it has no topic " + record.topic(),
          failure);
    }
    if (failure instanceof RecordTooLargeException) {
      return new KafkaSetupException(
          ("the record has %d bytes, which is more than the topic %s takes: shorten it, or raise"
                  + " the topic's max.message.bytes")
              .formatted(record.value() == null ? 0 : record.value().length, record.topic()),
          failure);
    }
    if (failure instanceof IllegalStateException) {
      return new KafkaSetupException("the connection to " + brokers + " was closed", failure);
    }
    return failure;
  }

  /** Ends the connection. Events that were sent have five seconds to arrive. */
  @Override
  public void close() {
    producer.close(Duration.ofSeconds(5));
  }
}
