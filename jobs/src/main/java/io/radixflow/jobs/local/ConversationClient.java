package io.radixflow.jobs.local;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.Settings;
import io.radixflow.jobs.event.EventWriter;
import io.radixflow.jobs.event.RecordReader;
import io.radixflow.jobs.kafka.KafkaSetupException;
import io.radixflow.operators.session.ConversationEvent;
import io.radixflow.operators.session.Reply;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.util.ExceptionUtils;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Talks to the job over Kafka: sends events, and follows the deltas and the committed replies of
 * the turns it asked for. Safe for many threads.
 */
public final class ConversationClient implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ConversationClient.class);
  private static final int MAX_REQUEST_BYTES = 32 << 20;

  private final String events;
  private final AskedTurns asked = new AskedTurns();
  private final KafkaProducer<byte[], byte[]> producer;
  private final TopicFollower replies;
  private final TopicFollower deltas;

  /**
   * Connects; what the job answers from now on is heard.
   *
   * @throws KafkaSetupException if there is no broker or no topic
   */
  public ConversationClient(Settings settings) {
    events = settings.get(RadixflowOptions.EVENTS_TOPIC);
    List<TopicFollower> followers = new ArrayList<>();
    try {
      followers.add(follow(settings, RadixflowOptions.REPLIES_TOPIC, this::reply));
      followers.add(follow(settings, RadixflowOptions.DELTAS_TOPIC, this::delta));
      producer = producer(settings);
    } catch (RuntimeException e) {
      followers.forEach(TopicFollower::close);
      throw e;
    }
    replies = followers.get(0);
    deltas = followers.get(1);
  }

  private TopicFollower follow(
      Settings settings,
      ConfigOption<String> topic,
      Consumer<ConsumerRecord<byte[], byte[]>> handler) {
    return TopicFollower.start(settings, settings.get(topic), false, handler, asked::fail);
  }

  private static KafkaProducer<byte[], byte[]> producer(Settings settings) {
    Properties properties = settings.kafkaClient();
    String timeout = Long.toString(settings.get(RadixflowOptions.CONNECT_TIMEOUT).toMillis());
    properties.put(ProducerConfig.LINGER_MS_CONFIG, "0");
    properties.put(ProducerConfig.MAX_REQUEST_SIZE_CONFIG, Integer.toString(MAX_REQUEST_BYTES));
    properties.put(ProducerConfig.BUFFER_MEMORY_CONFIG, Long.toString(2L * MAX_REQUEST_BYTES));
    properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, timeout);
    return new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
  }

  /**
   * Sends an event that starts a turn and follows its reply.
   *
   * @param event one with a turn, and no cancel
   * @param listener hears how the reply grows
   * @return the committed reply; completed exceptionally if the event could not be sent, or if
   *     replies can no longer be read
   */
  public CompletableFuture<Reply> ask(ConversationEvent event, ReplyListener listener) {
    CompletableFuture<Reply> reply = asked.add(event, listener);
    if (!reply.isDone()) {
      send(event)
          .whenComplete(
              (sent, failure) -> {
                if (failure != null) {
                  asked.fail(event, failure);
                }
              });
    }
    return reply;
  }

  /**
   * Has all turns fail, those still to come too, as soon as something fails that they need.
   *
   * @param needed whose failure they have as their cause
   */
  public void failWith(CompletableFuture<?> needed) {
    needed.whenComplete(
        (ended, failure) -> {
          if (failure != null) {
            asked.fail(ExceptionUtils.stripCompletionException(failure));
          }
        });
  }

  /**
   * Sends an event.
   *
   * @return completed when the brokers have it
   */
  public CompletableFuture<Void> send(ConversationEvent event) {
    return send(events, event.session().getBytes(UTF_8), EventWriter.write(event));
  }

  /**
   * Sends a record as it is.
   *
   * @param topic the topic of events or of control events
   * @param key the session's id, or null
   * @return completed when the brokers have it
   */
  public CompletableFuture<Void> send(String topic, byte[] key, byte[] value) {
    CompletableFuture<Void> sent = new CompletableFuture<>();
    try {
      producer.send(
          new ProducerRecord<>(topic, key, value),
          (metadata, failure) -> {
            if (failure == null) {
              sent.complete(null);
            } else {
              sent.completeExceptionally(failure);
            }
          });
    } catch (KafkaException e) {
      sent.completeExceptionally(e);
    }
    return sent;
  }

  private void delta(ConsumerRecord<byte[], byte[]> record) {
    try {
      asked.delta(RecordReader.delta(record.value()));
    } catch (IOException e) {
      LOG.warn("no delta at {}-{}@{}", record.topic(), record.partition(), record.offset(), e);
    }
  }

  private void reply(ConsumerRecord<byte[], byte[]> record) {
    try {
      asked.reply(RecordReader.reply(record.value()));
    } catch (IOException e) {
      LOG.warn("no reply at {}-{}@{}", record.topic(), record.partition(), record.offset(), e);
    }
  }

  /** Ends the connection; turns that were not answered stay unanswered here. */
  @Override
  public void close() {
    producer.close(Duration.ofSeconds(5));
    deltas.close();
    replies.close();
    asked.cancel();
  }
}
