package io.radixflow.gateway.turn;

import io.radixflow.client.EventSender;
import io.radixflow.client.TopicFollower;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.protocol.fair.FairExecutor;
import io.radixflow.protocol.fair.FairLimit;
import io.radixflow.protocol.record.ConversationEvent;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.flink.configuration.ConfigOption;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The topics in Kafka. One idempotent producer sends on its own thread, because it may block for
 * metadata. One thread for each of the two topics reads all partitions, without a consumer group.
 * If a reader ends, it is started again.
 */
public final class KafkaTopics implements Topics {

  private static final Logger LOG = LoggerFactory.getLogger(KafkaTopics.class);
  private static final int MAX_UNSENT = 10_000;
  private static final int PROBE_SECONDS = 2;
  private static final int AGAIN_SECONDS = 1;

  /** A reading thread that has made no progress for this time is stuck. */
  private static final Duration STILL = Duration.ofSeconds(30);

  private final Settings settings;
  private final EventSender sender;
  private final TopicProbe probe;
  private final ThreadPoolExecutor sending;
  private final FairExecutor tenants;
  private final FairLimit room = new FairLimit(MAX_UNSENT);
  private final ScheduledExecutorService watching;
  private final Following deltas = new Following(KafkaConfig.DELTAS_TOPIC);
  private final Following replies = new Following(KafkaConfig.REPLIES_TOPIC);
  private volatile String found;

  /** Creates the topics. {@link #follow} connects to the brokers of the settings. */
  public KafkaTopics(Settings settings) {
    this.settings = settings;
    this.sender = new EventSender(settings);
    this.probe = new TopicProbe(settings);
    this.sending =
        new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            task -> daemon(task, "gateway-send"));
    this.tenants = new FairExecutor(sending, SharedConfig.tenantWeights(settings));
    this.watching =
        Executors.newSingleThreadScheduledExecutor(task -> daemon(task, "gateway-watch"));
  }

  private static Thread daemon(Runnable task, String name) {
    Thread thread = new Thread(task, name);
    thread.setDaemon(true);
    return thread;
  }

  /**
   * {@inheritDoc}
   *
   * @throws KafkaSetupException if a topic cannot be read
   */
  @Override
  public void follow(Reader reader) {
    deltas.start(reader, record -> reader.delta(record.key(), record.value()));
    replies.start(reader, record -> reader.reply(record.key(), record.value()));
    watching.scheduleWithFixedDelay(this::probe, 0, PROBE_SECONDS, TimeUnit.SECONDS);
  }

  @Override
  public CompletableFuture<Void> send(ConversationEvent event) {
    Unsent unsent = new Unsent(event, new CompletableFuture<>());
    if (!room.take(event.tenant(), 1)) {
      unsent.refuse("the brokers take events more slowly than they come; try again later");
      return unsent.sent;
    }
    try {
      tenants.execute(event.tenant(), unsent);
    } catch (RejectedExecutionException e) {
      unsent.refuse("the gateway is stopping");
    }
    return unsent.sent;
  }

  /** An event that waits to be sent. Its future is always completed. */
  private final class Unsent implements Runnable {
    private final ConversationEvent event;
    private final CompletableFuture<Void> sent;

    Unsent(ConversationEvent event, CompletableFuture<Void> sent) {
      this.event = event;
      this.sent = sent;
    }

    @Override
    public void run() {
      room.release(event.tenant(), 1);
      try {
        sender
            .send(event)
            .whenComplete(
                (done, failure) -> {
                  if (failure == null) {
                    sent.complete(null);
                  } else {
                    sent.completeExceptionally(failure);
                  }
                });
      } catch (RuntimeException | Error e) {
        sent.completeExceptionally(
            new KafkaSetupException("the event could not be sent: " + e.getMessage(), e));
        LOG.error("An event was not sent", e);
      }
    }

    void refuse(String why) {
      sent.completeExceptionally(new KafkaSetupException(why, null));
    }
  }

  @Override
  public String problem() {
    String lacking = deltas.problem() == null ? replies.problem() : deltas.problem();
    return lacking == null ? found : lacking;
  }

  private void probe() {
    try {
      found =
          probe.look(
              Map.of(deltas.name(), deltas.partitions(), replies.name(), replies.partitions()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException e) {
      LOG.warn("The topics cannot be checked", e);
      found = "the topics cannot be checked: " + e.getMessage();
    }
  }

  @Override
  public void close() {
    watching.shutdownNow();
    sending.shutdown();
    try {
      watching.awaitTermination(1, TimeUnit.MINUTES);
      sending.awaitTermination(PROBE_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    sending.shutdownNow();
    tenants.drain().forEach(unsent -> ((Unsent) unsent).refuse("the gateway is stopping"));
    deltas.close();
    replies.close();
    sender.close();
    probe.close();
  }

  /** One followed topic, with a reader that is started again when it ends. */
  private final class Following {
    private final ConfigOption<String> topic;
    private volatile TopicFollower follower;
    private volatile String problem = "the topics are not followed yet";
    private boolean closed;

    Following(ConfigOption<String> topic) {
      this.topic = topic;
    }

    String name() {
      return settings.get(topic);
    }

    /** Returns the reason why the topic is not read, or null. */
    String problem() {
      TopicFollower reading = follower;
      if (problem == null && reading != null && reading.still().compareTo(STILL) > 0) {
        return "the topic "
            + name()
            + " has not been read for "
            + reading.still().toSeconds()
            + " s";
      }
      return problem;
    }

    int partitions() {
      TopicFollower reading = follower;
      return reading == null ? 0 : reading.partitions();
    }

    synchronized void start(Reader reader, Consumer<ConsumerRecord<byte[], byte[]>> handler) {
      if (closed) {
        return;
      }
      follower =
          TopicFollower.start(
              settings,
              settings.get(topic),
              false,
              handler,
              ended -> {
                problem = ended.getMessage();
                again(reader, handler);
              });
      problem = null;
    }

    private void again(Reader reader, Consumer<ConsumerRecord<byte[], byte[]>> handler) {
      watching.schedule(
          () -> {
            try {
              start(reader, handler);
              reader.interrupted();
            } catch (KafkaSetupException e) {
              LOG.warn("The topic {} cannot be read; trying again", settings.get(topic), e);
              again(reader, handler);
            }
          },
          AGAIN_SECONDS,
          TimeUnit.SECONDS);
    }

    synchronized void close() {
      closed = true;
      if (follower != null) {
        follower.close();
      }
    }
  }
}
