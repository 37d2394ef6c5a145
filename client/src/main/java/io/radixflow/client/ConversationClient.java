package io.radixflow.client;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.topic.RecordReader;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.util.ExceptionUtils;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Talks to the job over Kafka: sends events, and follows the deltas and the committed replies of
 * its own turns. Thread-safe.
 */
public final class ConversationClient implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(ConversationClient.class);

  private final AskedTurns asked = new AskedTurns();
  private final EventSender sender;
  private final TopicFollower replies;
  private final TopicFollower deltas;

  /**
   * Connects, and receives all answers of the job from now on.
   *
   * @throws KafkaSetupException if no broker answers or a topic is missing
   */
  public ConversationClient(Settings settings) {
    List<TopicFollower> followers = new ArrayList<>();
    try {
      followers.add(follow(settings, KafkaConfig.REPLIES_TOPIC, this::reply));
      followers.add(follow(settings, KafkaConfig.DELTAS_TOPIC, this::delta));
      sender = new EventSender(settings);
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

  /**
   * Sends an event that starts a turn and follows its reply.
   *
   * @param event an event with a turn, other than a cancel
   * @param listener receives the pieces of the reply
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
   * Fails all turns, including later turns, as soon as {@code needed} fails.
   *
   * @param needed a future whose failure becomes the cause
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
    return sender.send(event);
  }

  /**
   * Sends a record unchanged.
   *
   * @param topic the topic of events or of control events
   * @param key the session's id, or null
   * @return completed when the brokers have it
   */
  public CompletableFuture<Void> send(String topic, byte[] key, byte[] value) {
    return sender.send(topic, key, value);
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

  /** Ends the connection. Turns without an answer stay unanswered here. */
  @Override
  public void close() {
    sender.close();
    deltas.close();
    replies.close();
    asked.cancel();
  }
}
