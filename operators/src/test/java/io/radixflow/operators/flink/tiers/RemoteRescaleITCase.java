package io.radixflow.operators.flink.tiers;

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
import io.radixflow.engine.tier.remote.RemoteTierOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.Events;
import io.radixflow.operators.flink.GatedNumbers;
import io.radixflow.operators.flink.ServingHarness;
import io.radixflow.operators.flink.TestJob;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.protocol.record.ConversationEvent;
import io.radixflow.protocol.record.Reply;
import io.radixflow.protocol.record.control.ControlEvent;
import io.radixflow.protocol.record.control.ControlKind;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A job that starts again from its savepoint, with other parallelism, on empty disks. */
@Timeout(300)
class RemoteRescaleITCase {
  private static final AtomicInteger RUNS = new AtomicInteger();
  private static final long SECONDS = 120;
  private static final String LONG = " asks what fills a few pages of tokens,".repeat(25);
  private static final int LEAST_PAGES = 50;
  private static final EngineOptions PLAIN = EngineOptions.builder().kvPages(512).build();
  private static final EngineOptions TIERED =
      EngineOptions.builder()
          .kvPages(512)
          .tiers(
              TierOptions.NONE
                  .withHostBytes(16 << 20)
                  .withLoadBackThreshold(1)
                  .withPrefetch(PrefetchPolicy.WAIT_COMPLETE, 1))
          .build();

  /** Two of each subtask of two. */
  private static final List<String> SESSIONS =
      Stream.of(0, 1).flatMap(RemoteRescaleITCase::sessionsOf).toList();

  private static final List<ServingEngine> ENGINES = new CopyOnWriteArrayList<>();
  private static final AtomicInteger OPEN_MODELS = new AtomicInteger();
  private static final Map<String, Reply> REPLIES = new ConcurrentHashMap<>();

  @RegisterExtension
  static final MiniClusterExtension CLUSTER =
      new MiniClusterExtension(
          new MiniClusterResourceConfiguration.Builder()
              .setNumberTaskManagers(2)
              .setNumberSlotsPerTaskManager(1)
              .build());

  @TempDir Path root;

  private static Stream<String> sessionsOf(int subtask) {
    return IntStream.range(0, 1_000)
        .mapToObj(i -> "s" + i)
        .filter(each -> ServingHarness.ownerOf(each, 2) == subtask)
        .limit(2);
  }

  /** A turn of each session, and then another. */
  private static ConversationEvent event(long n) {
    String session = SESSIONS.get((int) n % SESSIONS.size());
    String text = n < SESSIONS.size() ? session + LONG : "and what else, " + session;
    return Events.message(session, "t" + n, text).with(Events.maxTokens(20)).of("acme").event();
  }

  private static String note(Reply reply) {
    REPLIES.put(reply.turn(), reply);
    return reply.turn();
  }

  private static void until(Callable<Boolean> condition) {
    Patience.await().until(condition);
  }

  /** A model that is counted until it is closed, which an engine does last. */
  private static ServedModel model() {
    SimModel model = SimModel.open(SimOptions.DEFAULT.withEndOfTurn(0));
    OPEN_MODELS.incrementAndGet();
    return (ServedModel)
        Proxy.newProxyInstance(
            RemoteRescaleITCase.class.getClassLoader(),
            new Class<?>[] {ServedModel.class},
            (proxy, method, arguments) -> {
              try {
                return method.invoke(model, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              } finally {
                if (method.getName().equals("close")) {
                  OPEN_MODELS.decrementAndGet();
                }
              }
            });
  }

  private TestEngineFactory factory(
      String name, EngineOptions options, DiskTierOptions disk, RemoteTierOptions remote) {
    ModelEngineFactory factory =
        new ModelEngineFactory(any -> model(), ModelLoader.SIM, DeviceOptions.DEFAULT, options)
            .onDisk(disk)
            .onRemote(remote);
    ENGINES.clear();
    return TestEngineFactory.at(
        name,
        directory -> {
          try {
            ENGINES.add(factory.open(directory));
            return ENGINES.get(ENGINES.size() - 1);
          } catch (Exception e) {
            throw new IllegalStateException(e);
          }
        });
  }

  /** Engines whose disks are in a directory of their own, and whose remote is the test's. */
  private TestEngineFactory tiered(String name) {
    NamespaceKey key = NamespaceKey.of("secret");
    RemoteTierOptions remote =
        new RemoteTierOptions(
            root.resolve("remote").toUri().toString(),
            4,
            TimeUnit.SECONDS.toMillis(SECONDS),
            0,
            0,
            0,
            0,
            key);
    return factory(
        name, TIERED, DiskTierOptions.of(64 << 20, root.resolve(name).toString(), key), remote);
  }

  private static TestJob job(String gate, int parallelism) {
    return new TestJob(new GatedNumbers(gate, 2L * SESSIONS.size()), RemoteRescaleITCase::event)
        .controls(
            new GatedNumbers(gate + "-controls", 1),
            n -> new ControlEvent(ControlKind.DRAIN, null, "off"))
        .parallelism(parallelism)
        .onReply(RemoteRescaleITCase::note);
  }

  private static void allow(String gate, int numbers) {
    GatedNumbers.allow(gate, numbers);
  }

  private static void awaitEnd(JobClient client, String gate) throws Exception {
    allow(gate + "-controls", 2);
    client.getJobExecutionResult().get(SECONDS, TimeUnit.SECONDS);
    until(() -> OPEN_MODELS.get() == 0);
  }

  private static Map<String, String> texts() {
    Map<String, String> texts = new TreeMap<>();
    REPLIES.forEach((turn, reply) -> texts.put(turn, reply.text()));
    return texts;
  }

  private Map<String, String> undisturbed(String gate) throws Exception {
    REPLIES.clear();
    allow(gate, 2 * SESSIONS.size() + 1);
    TestEngineFactory factory = factory(gate, PLAIN, DiskTierOptions.NONE, RemoteTierOptions.NONE);
    awaitEnd(job(gate, 2).start(factory), gate);
    return texts();
  }

  private static boolean areUploaded(int pages) {
    return pages
        <= ENGINES.stream()
            .mapToLong(each -> each.engine().stats().tiers().remote().writtenPages())
            .sum();
  }

  /** Serves each session's first turn and stops; returns where the savepoint is. */
  private String firstTurns(String gate, int parallelism) throws Exception {
    REPLIES.clear();
    allow(gate, SESSIONS.size());
    JobClient client = job(gate, parallelism).start(tiered(gate));
    until(() -> REPLIES.size() == SESSIONS.size());
    assertThat(ENGINES).hasSize(parallelism);
    until(() -> areUploaded(SESSIONS.size() * LEAST_PAGES));
    String savepoint =
        client
            .stopWithSavepoint(
                false, root.resolve("savepoints").toUri().toString(), SavepointFormatType.CANONICAL)
            .get(SECONDS, TimeUnit.SECONDS);
    awaitEnd(client, gate);
    return savepoint;
  }

  @ParameterizedTest(name = "from {0} to {1}")
  @CsvSource({"1, 2", "2, 1"})
  void sessionsContinueFromTheRemoteTierOnAnyEngine(int before, int after) throws Exception {
    String run = "remote-rescale-" + RUNS.incrementAndGet();
    Map<String, String> undisturbed = undisturbed(run + "-undisturbed");
    String savepoint = firstTurns(run + "-before", before);
    String gate = run + "-after";
    allow(gate, SESSIONS.size() + 1);
    JobClient client =
        job(gate, after).set(StateRecoveryOptions.SAVEPOINT_PATH, savepoint).start(tiered(gate));
    awaitEnd(client, gate);

    assertThat(texts()).hasSize(2 * SESSIONS.size()).isEqualTo(undisturbed);
    for (int n = SESSIONS.size(); n < 2 * SESSIONS.size(); n++) {
      Reply reply = REPLIES.get("t" + n);
      assertThat(reply.usage().tiers().remoteTokens()).as(reply.session()).isPositive();
      assertThat(reply.usage().cachedTokens())
          .isGreaterThanOrEqualTo(reply.usage().tiers().remoteTokens());
    }
  }
}
