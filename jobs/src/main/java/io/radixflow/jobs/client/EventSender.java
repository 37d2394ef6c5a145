package io.radixflow.jobs.client;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.Settings;
import io.radixflow.jobs.event.EventWriter;
import io.radixflow.jobs.kafka.KafkaSetupException;
import io.radixflow.jobs.kafka.TraceHeaders;
import io.radixflow.operators.record.ConversationEvent;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Sends events to the job over Kafka and hears nothing of what becomes of them. Any thread. */
public final class EventSender implements AutoCloseable {
  private static final int MAX_REQUEST_BYTES = 32 << 20;

  /** Numbers the senders of this process: the brokers and thread dumps tell them apart. */
  private static final AtomicInteger SENDERS = new AtomicInteger();

  private final String brokers;
  private final String events;
  private final KafkaProducer<byte[], byte[]> producer;

  /** Connects when there is something to send. */
  public EventSender(Settings settings) {
    brokers = settings.get(RadixflowOptions.BOOTSTRAP_SERVERS);
    events = settings.get(RadixflowOptions.EVENTS_TOPIC);
    Properties properties = settings.kafkaClient();
    String timeout = Long.toString(settings.get(RadixflowOptions.CONNECT_TIMEOUT).toMillis());
    properties.putIfAbsent(
        ProducerConfig.CLIENT_ID_CONFIG, "send-" + events + "-" + SENDERS.incrementAndGet());
    properties.put(ProducerConfig.LINGER_MS_CONFIG, "0");
    properties.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(MAX_REQUEST_BYTES));
    properties.put(ProducerConfig.BUFFER_MEMORY_CONFIG, Long.toString(2L * MAX_REQUEST_BYTES));
    properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, timeout);
    producer =
        new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
  }

  /**
   * Sends an event to the topic of events, with the trace of its origin.
   *
   * @return completed when the brokers have it
   */
  public CompletableFuture<Void> send(ConversationEvent event) {
    byte[] key = event.session().getBytes(UTF_8);
    Headers trace = event.origin() == null ? null : TraceHeaders.of(event.origin().trace());
    return send(new ProducerRecord<>(events, null, null, key, EventWriter.write(event), trace));
  }

  /**
   * Sends a record as it is.
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
              sent.completeExceptionally(explained(failure, record.topic()));
            }
          });
    } catch (KafkaException e) {
      sent.completeExceptionally(explained(e, record.topic()));
    }
    return sent;
  }

  /** The producer says that it lacks metadata, whatever keeps it from them. */
  private Exception explained(Exception failure, String topic) {
    return failure instanceof TimeoutException
        ? new KafkaSetupException(
            "no Kafka broker answers at " + brokers + ", or it has no topic " + topic, failure)
        : failure;
  }

  /** Ends the connection; what was sent has five seconds to arrive. */
  @Override
  public void close() {
    producer.close(Duration.ofSeconds(5));
  }
}
