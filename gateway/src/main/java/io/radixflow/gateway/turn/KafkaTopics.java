package io.radixflow.gateway.turn;

import io.radixflow.jobs.client.EventSender;
import io.radixflow.jobs.client.TopicFollower;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.jobs.config.Settings;
import io.radixflow.jobs.kafka.KafkaSetupException;
import io.radixflow.operators.record.ConversationEvent;
import java.util.Properties;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.flink.configuration.ConfigOption;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.DescribeClusterOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The topics over Kafka. One producer, idempotent, sends on a thread of its own, since it may block
 * for metadata; a thread for each of the two topics reads all their partitions without a consumer
 * group; a reader that ends is started again.
 */
public final class KafkaTopics implements Topics {

  private static final Logger LOG = LoggerFactory.getLogger(KafkaTopics.class);
  private static final int MAX_UNSENT = 10_000;
  private static final int PROBE_SECONDS = 2;
  private static final int AGAIN_SECONDS = 1;

  private final Settings settings;
  private final EventSender sender;
  private final Admin admin;
  private final ThreadPoolExecutor sending;
  private final ScheduledExecutorService watching;
  private final Following deltas = new Following(RadixflowOptions.DELTAS_TOPIC);
  private final Following replies = new Following(RadixflowOptions.REPLIES_TOPIC);
  private volatile String brokers;

  /** Connects to the brokers that the settings name, when it is told to follow. */
  public KafkaTopics(Settings settings) {
    this.settings = settings;
    this.sender = new EventSender(settings);
    Properties properties = settings.kafkaClient();
    properties.put(
        AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, Integer.toString(PROBE_SECONDS * 2000));
    properties.put(
        AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, Integer.toString(PROBE_SECONDS * 2000));
    this.admin = Admin.create(properties);
    this.sending =
        new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new ArrayBlockingQueue<>(MAX_UNSENT),
            task -> daemon(task, "gateway-send"));
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
    CompletableFuture<Void> sent = new CompletableFuture<>();
    try {
      sending.execute(
          () ->
              sender
                  .send(event)
                  .whenComplete(
                      (done, failure) -> {
                        if (failure == null) {
                          sent.complete(null);
                        } else {
                          sent.completeExceptionally(failure);
                        }
                      }));
    } catch (RejectedExecutionException e) {
      sent.completeExceptionally(
          new KafkaSetupException(
              "the brokers take events more slowly than they come: "
                  + MAX_UNSENT
                  + " wait; try again later",
              e));
    }
    return sent;
  }

  @Override
  public String problem() {
    String lacking = deltas.problem() == null ? replies.problem() : deltas.problem();
    return lacking == null ? brokers : lacking;
  }

  private void probe() {
    try {
      admin
          .describeCluster(new DescribeClusterOptions().timeoutMs(PROBE_SECONDS * 1000))
          .clusterId()
          .get();
      brokers = null;
    } catch (ExecutionException e) {
      brokers = "no Kafka broker answers at " + settings.get(RadixflowOptions.BOOTSTRAP_SERVERS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
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
    deltas.close();
    replies.close();
    sender.close();
    admin.close();
  }

  /** One topic that is read, with a reader that is started again when it ends. */
  private final class Following {
    private final ConfigOption<String> topic;
    private TopicFollower follower;
    private volatile String problem = "the topics are not followed yet";
    private boolean closed;

    Following(ConfigOption<String> topic) {
      this.topic = topic;
    }

    String problem() {
      return problem;
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
