package io.radixflow.operators.flink.tiers;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.Patience;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.GatedNumbers;
import io.radixflow.operators.flink.Options;
import io.radixflow.operators.flink.TestJob;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.control.ControlEvent;
import io.radixflow.protocol.record.control.ControlKind;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tiers come, go and change their sizes under traffic, and no reply changes. */
@Timeout(300)
class TierSwitchesITCase {
  private static final int SESSIONS = 12;
  private static final int TURNS = 180;
  private static final int COMMANDS = 60;
  private static final AtomicInteger RUNS = new AtomicInteger();
  private static final List<String> COMMAND_TEXTS =
      List.of(
          "detach disk",
          "attach disk",
          "attach disk 33554432",
          "flush disk",
          "flush host",
          "resize disk 1048576",
          "resize disk",
          "resize host 60000",
          "resize host 400000",
          "resize host",
          "detach host",
          "attach host",
          "resize host 3",
          "resize disk 5");

  private static final Map<String, String> REPLIES = new ConcurrentHashMap<>();
  private static final AtomicReference<ServingEngine> ENGINE = new AtomicReference<>();
  private static final AtomicReference<Random> RANDOM = new AtomicReference<>();

  @RegisterExtension static final MiniClusterExtension CLUSTER = TestJob.cluster();

  @TempDir Path root;

  @Test
  void repliesAreThoseOfAJobWithoutTiers() throws Exception {
    Map<String, String> plain = run("plain", TierOptions.NONE, DiskTierOptions.NONE);
    assertThat(((SwitchableTiers) ENGINE.get().tiers()).refused()).isEqualTo(COMMANDS);
    Map<String, String> switched =
        run(
            "switched",
            TierOptions.NONE
                .withHostBytes(200_000)
                .withLoadBackThreshold(1)
                .withPrefetch(PrefetchPolicy.WAIT_COMPLETE, 1),
            DiskTierOptions.of(16 << 20, root.toString(), NamespaceKey.of("secret")));
    assertThat(switched).hasSize(TURNS).isEqualTo(plain);
    SwitchableTiers tiers = (SwitchableTiers) ENGINE.get().tiers();
    assertThat(tiers.settings().number()).isEqualTo(COMMANDS);
    assertThat(tiers.applied()).isPositive();
    assertThat(tiers.refused()).isPositive();
    assertThat(tiers.applied() + tiers.refused()).isLessThanOrEqualTo(COMMANDS);
  }

  private Map<String, String> run(String name, TierOptions tiers, DiskTierOptions disk)
      throws Exception {
    REPLIES.clear();
    RANDOM.set(new Random(name.hashCode()));
    SimModel model = SimModel.open(SimOptions.DEFAULT.withTime(50_000, 0));
    ModelEngineFactory factory =
        new ModelEngineFactory(
                any -> model,
                ModelLoader.SIM,
                DeviceOptions.DEFAULT,
                EngineOptions.builder().kvPages(160).maxRunning(6).tiers(tiers).build())
            .onDisk(disk);
    CountDownLatch closed = new CountDownLatch(1);
    TestEngineFactory recorded =
        TestEngineFactory.at(
            "switches-" + name,
            directory -> {
              try {
                ENGINE.set(telling(closed, factory.open(directory)));
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
              return ENGINE.get();
            });
    String gate = "tier-switches-" + RUNS.incrementAndGet();
    new TestJob(
            new NumberSequenceSource(0, TURNS - 1),
            n -> Events.message("s" + n % SESSIONS, "t" + n, "what now, number " + n).event())
        .controls(new GatedNumbers(gate, COMMANDS), TierSwitchesITCase::command)
        .with(Options.with(o -> o.maxRunning = 4))
        .set(CheckpointingOptions.CHECKPOINTING_INTERVAL, Duration.ofMillis(100))
        .onReply(reply -> note(gate, reply))
        .run(recorded);
    assertThat(closed.await(60, SECONDS)).as("the engine has closed").isTrue();
    return new TreeMap<>(REPLIES);
  }

  /** Returns the engine, which tells when it has closed: some time after its job has ended. */
  private static ServingEngine telling(CountDownLatch closed, ServingEngine engine) {
    ServedModel model =
        (ServedModel)
            Proxy.newProxyInstance(
                ServedModel.class.getClassLoader(),
                new Class<?>[] {ServedModel.class},
                (proxy, method, arguments) -> {
                  Object result = method.invoke(engine.model(), arguments);
                  if (method.getName().equals("close")) {
                    closed.countDown();
                  }
                  return result;
                });
    return new ServingEngine(engine.engine(), model, engine.instance(), engine.tiers());
  }

  private static ControlEvent command(long n) {
    String text = COMMAND_TEXTS.get(RANDOM.get().nextInt(COMMAND_TEXTS.size()));
    return new ControlEvent(ControlKind.TIERS, null, text);
  }

  /** A command for about each third reply; what is left comes with the last. */
  private static String note(String gate, Reply reply) {
    REPLIES.put(reply.turn(), reply.text());
    boolean last = REPLIES.size() == TURNS;
    GatedNumbers.allow(gate, last ? COMMANDS + 1 : reply.text().hashCode() % 3 == 0 ? 1 : 0);
    if (last) {
      awaitCommands();
    }
    return reply.turn();
  }

  private static void awaitCommands() {
    SwitchableTiers tiers = (SwitchableTiers) ENGINE.get().tiers();
    Patience.await()
        .until(() -> tiers.settings().number() == COMMANDS || tiers.refused() == COMMANDS);
  }
}
