package io.radixflow.gateway.topics;

import io.radixflow.client.EventSender;
import io.radixflow.client.TopicFollower;
import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SharedConfig;
import io.radixflow.client.kafka.KafkaSetupException;
import io.radixflow.gateway.turn.Following;
import io.radixflow.protocol.fair.FairExecutor;
import io.radixflow.protocol.fair.FairLimit;
import io.radixflow.protocol.record.ConversationEvent;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.flink.configuration.ConfigOption;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The topics in Kafka. One idempotent producer sends on its own thread, because it may block for
 * metadata. One thread for each followed topic reads all partitions, without a consumer group. If a
 * reader ends, it is started again.
 */
public final class KafkaTopics implements Topics {

  private static final Logger LOG = LoggerFactory.getLogger(KafkaTopics.class);
  private static final int MAX_UNSENT = 10_000;
  private static final int PROBE_SECONDS = 2;
  private static final int AGAIN_SECONDS = 1;
  private static final Runnable NOTHING = () -> {};

  /** A reading thread that has made no progress for this time is stuck. */
  private static final Duration STILL = Duration.ofSeconds(30);

  private final Settings settings;
  private final EventSender sender;
  private final TopicProbe probe;
  private final ThreadPoolExecutor sending;
  private final FairExecutor tenants;
  private final FairLimit room = new FairLimit(MAX_UNSENT);
  private final ScheduledExecutorService watching;
  private final Following deltas = new Following(KafkaConfig.DELTAS_TOPIC, false);
  private final Following replies = new Following(KafkaConfig.REPLIES_TOPIC, false);
  private final List<Following> followed = new CopyOnWriteArrayList<>(List.of(deltas, replies));
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
    deltas.start(
        record -> reader.delta(record.key(), record.value()), NOTHING, reader::interrupted);
    replies.start(
        record -> reader.reply(record.key(), record.value()), NOTHING, reader::interrupted);
    watching.scheduleWithFixedDelay(this::probe, 0, PROBE_SECONDS, TimeUnit.SECONDS);
  }

  /**
   * {@inheritDoc}
   *
   * @throws KafkaSetupException if the topic cannot be read
   */
  @Override
  public void followIndex(IndexReader reader) {
    Following index = new Following(KafkaConfig.INDEX_TOPIC, true);
    followed.add(index);
    index.start(record -> reader.entry(record.key(), record.value()), reader::begin, NOTHING);
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
    return followed.stream()
        .map(Following::problem)
        .filter(Objects::nonNull)
        .findFirst()
        .orElse(found);
  }

  private void probe() {
    try {
      found =
          probe.look(
              followed.stream().collect(Collectors.toMap(Following::name, Following::partitions)));
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
    followed.forEach(Following::close);
    sender.close();
    probe.close();
  }

  /** One followed topic, with a reader that is started again when it ends. */
  private final class Following {
    private final ConfigOption<String> topic;
    private final boolean earliest;
    private volatile TopicFollower follower;
    private volatile String problem = "the topics are not followed yet";
    private boolean closed;

    /**
     * @param earliest whether to read the records that the topic already has
     */
    Following(ConfigOption<String> topic, boolean earliest) {
      this.topic = topic;
      this.earliest = earliest;
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

    /**
     * Starts to read.
     *
     * @param begins called before each start
     * @param resumed called after a start that follows the end of a reader
     */
    synchronized void start(
        Consumer<ConsumerRecord<byte[], byte[]>> handler, Runnable begins, Runnable resumed) {
      if (closed) {
        return;
      }
      begins.run();
      follower =
          TopicFollower.start(
              settings,
              settings.get(topic),
              earliest,
              handler,
              ended -> {
                problem = ended.getMessage();
                again(handler, begins, resumed);
              });
      problem = null;
    }

    private void again(
        Consumer<ConsumerRecord<byte[], byte[]>> handler, Runnable begins, Runnable resumed) {
      watching.schedule(
          () -> {
            try {
              start(handler, begins, resumed);
              resumed.run();
            } catch (KafkaSetupException e) {
              LOG.warn("The topic {} cannot be read; trying again", settings.get(topic), e);
              again(handler, begins, resumed);
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
