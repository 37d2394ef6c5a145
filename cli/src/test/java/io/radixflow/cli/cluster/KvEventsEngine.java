package io.radixflow.cli.cluster;

import io.radixflow.client.config.KafkaConfig;
import io.radixflow.client.config.Settings;
import io.radixflow.client.config.SettingsLoader;
import io.radixflow.engine.ChannelId;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.KvEventStats;
import io.radixflow.engine.ReplyChannel;
import io.radixflow.engine.ReplyProgress;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.jobs.kvevents.KvEventsPublisher;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.protocol.record.kv.KvEvent;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** An engine with a small cache on the simulated device that publishes its KV events. */
final class KvEventsEngine implements AutoCloseable {

  /** The line that {@link #main} prints before its blocks, when its turns are done. */
  static final String CONTENT = "content:";

  static final int BUFFER = 10_000;

  private static final int PAGES = 32;
  private static final int TENANTS = 3;

  private final ContinuousBatchingEngine engine;

  KvEventsEngine(Settings settings) {
    engine =
        ContinuousBatchingEngine.open(
            SimModel.open(SimOptions.DEFAULT),
            DeviceOptions.DEFAULT,
            EngineOptions.builder().kvPages(PAGES).build(),
            KvEventsPublisher.factory(settings),
            null);
  }

  /**
   * @param buffer changes that may wait for Kafka
   */
  static Settings settings(String brokers, int buffer) {
    return new SettingsLoader()
        .set(
            List.of(
                "kv-events.enabled=true",
                "kv-events.buffer=" + buffer,
                "kafka.create-topics=true",
                "kafka.connect-timeout=60s",
                KafkaConfig.BOOTSTRAP_SERVERS.key() + "=" + brokers))
        .load();
  }

  /**
   * Turns of conversations that together need more pages than there are.
   *
   * @param seed decides them
   */
  void converse(int seed, int turns) throws Exception {
    Random random = new Random(seed);
    Semaphore ready = new Semaphore(0);
    try (ReplyChannel channel =
        engine.openChannel(new ChannelId("test", 0, seed), ready::release)) {
      for (int turn = 0; turn < turns; turn++) {
        int tenant = random.nextInt(TENANTS);
        int[] prompt = new Random(tenant).ints(70 + random.nextInt(90), 'a', 'c').toArray();
        engine.submit(
            channel,
            turn,
            EngineRequest.builder("turn", () -> prompt, 1 + random.nextInt(40))
                .namespace(tenant == 0 ? "" : "tenant-" + tenant)
                .ignoreEndOfTurn(true)
                .build());
        awaitEnd(channel, ready);
      }
    }
  }

  private static void awaitEnd(ReplyChannel channel, Semaphore ready) throws InterruptedException {
    boolean[] ended = {false};
    while (!ended[0]) {
      if (!ready.tryAcquire(60, TimeUnit.SECONDS)) {
        throw new AssertionError("no progress");
      }
      channel.drain(
          new ReplyChannel.ReplyVisitor() {
            @Override
            public void promptReady(long id) {}

            @Override
            public void progress(long id, ReplyProgress progress) {
              ended[0] |= progress.finish() != null;
            }
          });
    }
  }

  KvEventStats eventStats() {
    return engine.stats().kvEvents();
  }

  long evictions() {
    return engine.stats().pool().evictedPages();
  }

  /** The cache itself: each block with its parent and its namespace. */
  String content() throws Exception {
    return shown(engine.cacheContent().get(60, TimeUnit.SECONDS));
  }

  /** Blocks in a form that compares. */
  static String shown(Iterable<KvEvent.Stored> blocks) {
    TreeMap<Long, String> sorted = new TreeMap<>();
    blocks.forEach(
        stored ->
            sorted.put(
                stored.block(), stored.block() + "<" + stored.parent() + "@" + stored.namespace()));
    return sorted.values().stream().collect(Collectors.joining(" "));
  }

  @Override
  public void close() {
    engine.close();
  }

  /**
   * Serves some turns, prints the cache's content, and stays until it is killed.
   *
   * @param arguments brokers, seed
   */
  public static void main(String[] arguments) throws Exception {
    try (KvEventsEngine engine = new KvEventsEngine(settings(arguments[0], BUFFER))) {
      engine.converse(Integer.parseInt(arguments[1]), 20);
      System.out.println(CONTENT + engine.content());
      new CountDownLatch(1).await();
    }
  }
}
