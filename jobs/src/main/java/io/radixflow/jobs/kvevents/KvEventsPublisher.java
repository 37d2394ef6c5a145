package io.radixflow.jobs.kvevents;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.kafka.KafkaClient;
import io.radixflow.client.kvevents.KvEventsReader;
import io.radixflow.client.kvevents.KvEventsView;
import io.radixflow.engine.EngineInfo;
import io.radixflow.engine.KvEventSink;
import io.radixflow.jobs.config.RadixflowOptions;
import io.radixflow.protocol.record.kv.KvEvent;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.utils.Utils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Publishes the changes of one engine's cache to the KV event topic on its own thread, with an
 * idempotent producer. It first reads the topic's records of earlier engines with the same name. If
 * a record is lost, it starts again with a snapshot.
 */
public final class KvEventsPublisher implements KvEventSink {

  private static final Logger LOG = LoggerFactory.getLogger(KvEventsPublisher.class);
  private static final Duration CLOSE = Duration.ofSeconds(5);
  private static final long FIRST_PAUSE_MILLIS = 500;
  private static final long LONGEST_PAUSE_MILLIS = 30_000;

  /** An engine without changes announces itself this often. */
  private static final long HEARTBEAT_MILLIS = 10_000;

  private final Settings settings;
  private final String topic;
  private final EngineInfo engine;
  private final KvEventQueue queue;
  private final AtomicLong published = new AtomicLong();
  private final Thread thread = new Thread(this::run, "radixflow-kv-events");

  /** The failure of a record of the current producer; null if none has failed. */
  private volatile Exception failure;

  private KvEventsPublisher(Settings settings, EngineInfo engine, Runnable onRoom) {
    this.settings = settings;
    this.topic = settings.get(KafkaConfig.KV_EVENTS_TOPIC);
    this.engine = engine;
    this.queue = new KvEventQueue(settings.get(RadixflowOptions.KV_EVENTS_BUFFER), onRoom);
    thread.setDaemon(true);
    thread.setContextClassLoader(KvEventsPublisher.class.getClassLoader());
    thread.start();
  }

  /** Returns a factory of publishers, one per engine; null if KV events are disabled. */
  public static KvEventSink.Factory factory(Settings settings) {
    return settings.get(RadixflowOptions.KV_EVENTS_ENABLED)
        ? (engine, onRoom) -> new KvEventsPublisher(settings, engine, onRoom)
        : null;
  }

  @Override
  public boolean wantsTokenIds() {
    return settings.get(RadixflowOptions.KV_EVENTS_TOKEN_IDS);
  }

  @Override
  public boolean isReady() {
    return queue.wantsSnapshot();
  }

  @Override
  public boolean offerSnapshot(List<KvEvent.Stored> content) {
    return queue.offerSnapshot(content);
  }

  @Override
  public boolean offer(List<KvEvent> changes) {
    return queue.offer(changes);
  }

  @Override
  public long published() {
    return published.get();
  }

  @Override
  public void close() {
    queue.close();
    try {
      thread.join(2 * CLOSE.toMillis());
      if (thread.isAlive()) {
        LOG.warn("Timed out publishing the end event of the engine");
        thread.interrupt();
      }
    } catch (InterruptedException e) {
      thread.interrupt();
      Thread.currentThread().interrupt();
    }
  }

  private void run() {
    try (EngineName name = EngineName.acquire()) {
      long pause = FIRST_PAUSE_MILLIS;
      while (!queue.isClosed()) {
        long begun = System.nanoTime();
        try {
          publish(name.toString());
        } catch (KafkaException e) {
          if (!queue.isClosed()) {
            LOG.warn(
                "KV events of {} are delayed, as Kafka cannot be used: {}",
                name,
                e.getMessage(),
                e);
          }
        }
        queue.restart();
        if (TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun) > LONGEST_PAUSE_MILLIS) {
          pause = FIRST_PAUSE_MILLIS;
        }
        TimeUnit.MILLISECONDS.sleep(queue.isClosed() ? 0 : pause);
        pause = Math.min(2 * pause, LONGEST_PAUSE_MILLIS);
      }
    } catch (InterruptedException e) {
      LOG.debug("closed");
    } catch (RuntimeException | Error e) {
      LOG.error("KV events are no longer published", e);
    } finally {
      queue.restart();
    }
  }

  /** Publishes until the engine is closed or a record fails. */
  private void publish(String name) throws InterruptedException {
    failure = null;
    Producer<byte[], byte[]> producer = KafkaClient.KV_EVENTS.producer(settings);
    try {
      KvEventLog log = open(producer, name);
      if (log == null) {
        return;
      }
      queue.start();
      while (failure == null) {
        KvEventQueue.Batch batch = queue.take(HEARTBEAT_MILLIS);
        if (queue.isClosed()) {
          log.end();
          return;
        }
        if (batch == null) {
          log.repeat();
        } else if (batch.snapshot()) {
          log.snapshot(batch.events());
        } else {
          batch.events().forEach(log::apply);
        }
      }
      LOG.warn("KV events of {} start again with a snapshot: {}", name, failure.getMessage());
    } finally {
      producer.close(CLOSE);
    }
  }

  /**
   * Opens the log. Returns null if the engine was closed meanwhile; then it has published nothing,
   * and its epoch is unknown.
   */
  private KvEventLog open(Producer<byte[], byte[]> producer, String name) {
    try (KvEventsReader reader = new KvEventsReader(settings)) {
      KvEventsView view = reader.readToEnd(queue::isClosed);
      if (queue.isClosed()) {
        return null;
      }
      int partition = Utils.toPositive(Utils.murmur2(name.getBytes(UTF_8))) % reader.partitions();
      KvEventLog log =
          new KvEventLog(producer, topic, partition, name, engine, view, this::delivered);
      long retention = settings.get(RadixflowOptions.KV_EVENTS_RETENTION).toMillis();
      for (String gone : view.silentSince(System.currentTimeMillis() - retention)) {
        if (!gone.equals(name)) {
          LOG.info(
              "Engine {} has been silent for longer than kv-events.retention:"
                  + " deleting its KV events",
              gone);
          log.delete(gone, view);
        }
      }
      return log;
    }
  }

  /** Runs on the producer's thread. */
  private void delivered(RecordMetadata record, Exception error) {
    if (error == null) {
      published.incrementAndGet();
    } else if (!queue.isClosed()) {
      failure = error;
    }
  }
}
