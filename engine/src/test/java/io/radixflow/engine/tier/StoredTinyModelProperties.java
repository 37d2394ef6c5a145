package io.radixflow.engine.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.radixflow.engine.CacheOptions;
import io.radixflow.engine.Engine;
import io.radixflow.engine.EngineClient;
import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineRequest;
import io.radixflow.engine.Engines;
import io.radixflow.engine.RepliesAlone;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.ServedModel;
import io.radixflow.engine.pages.TinyWindowsTest;
import io.radixflow.engine.tier.loadback.LoadBackOptions;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.kernels.device.KvSpec;
import io.radixflow.kernels.sampling.SamplingParams;
import io.radixflow.models.TinyChatModel;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * A model on the CPU says the same bits, wherever its pages come from: the device, the host, files
 * on disk and in a remote folder, and whatever becomes of these meanwhile.
 */
class StoredTinyModelProperties {
  private static final SamplingParams WARM =
      new SamplingParams(0.8f, 40, 0.95f, 0f, 1.1f, 0f, 0f, Map.of(), 11, 3);
  private static final int CONTEXT = 160;
  private static final int REQUESTS = 6;

  /** The bytes of 16 tokens in F32: two layers, keys and values of one head of 64. */
  private static final long PAGE_BYTES = 16 * 2 * 2 * 64 * Float.BYTES;

  /**
   * The models: how they keep KV entries, and how many pages have parts for a layer whose queries
   * see 24 tokens.
   */
  enum Kind {
    F32(KvSpec.Type.F32, 1),
    F16(KvSpec.Type.F16, 1),
    F32_FEW_WINDOWS(KvSpec.Type.F32, 0.1),
    F16_WINDOWS(KvSpec.Type.F16, 0.5);

    private final KvSpec.Type type;
    private final double windowShare;

    Kind(KvSpec.Type type, double windowShare) {
      this.type = type;
      this.windowShare = windowShare;
    }
  }

  /** The things that happen between two rounds of requests. */
  enum Change {
    NOTHING,
    FLUSH_HOST,
    RESTART,
    RESTART_WITHOUT_DISK,
    RESTART_WITH_DAMAGED_FILES
  }

  /**
   * How an engine is set up, and what happens to it.
   *
   * @param hostPages pages of host memory, if they are of F32 and hold all layers
   * @param loadBackThreshold tokens, or {@link LoadBackOptions#BY_COST}
   * @param seed of the order of requests and of the damage
   */
  record Plan(
      Kind kind,
      int hostPages,
      WritePolicy policy,
      int loadBackThreshold,
      boolean disk,
      boolean remote,
      List<Change> changes,
      long seed) {}

  /** A model that keeps its KV entries in one type, and what it says when it is not disturbed. */
  private record Undisturbed(ServedModel model, DeviceOptions device, RepliesAlone alone) {}

  private static final Map<Kind, Undisturbed> MODELS = new EnumMap<>(Kind.class);
  private static StoredFiles modelFiles;

  @BeforeContainer
  static void runAlone() throws IOException {
    modelFiles = new StoredFiles();
    Path full = TinyChatModel.write(modelFiles.resolve("model"));
    Path window = TinyWindowsTest.write(modelFiles.resolve("window"));
    for (Kind kind : Kind.values()) {
      ServedModel model = ModelLoader.open(kind.windowShare < 1 ? window : full);
      DeviceOptions device = new DeviceOptions("cpu", 1, kind.type);
      List<EngineRequest> requests = new ArrayList<>();
      for (int i = 0; i < REQUESTS; i++) {
        int[] shared = Engines.letters(i % 2, 40);
        int[] prompt = Engines.concat(shared, Engines.letters(2 + i, 60 + 9 * i));
        requests.add(EngineClient.request(prompt, i == 0 ? SamplingParams.GREEDY : WARM, 12));
      }
      RepliesAlone alone =
          RepliesAlone.of(
              requests,
              options ->
                  ContinuousBatchingEngine.open(
                      model, device, options.kvPages(40).contextLength(CONTEXT).build()));
      MODELS.put(kind, new Undisturbed(model, device, alone));
    }
  }

  @AfterContainer
  static void close() throws IOException {
    MODELS.values().forEach(each -> each.model.close());
    MODELS.clear();
    modelFiles.close();
  }

  @Property(tries = 20)
  void repliesAndTheirLogprobsAreThoseOfALoneRun(@ForAll("plans") Plan plan) throws IOException {
    run(plan);
  }

  @Example
  void theStoredPagesAreReadFromFiles() throws IOException {
    for (Kind kind : MODELS.keySet()) {
      List<Change> changes =
          List.of(Change.FLUSH_HOST, Change.RESTART, Change.RESTART_WITHOUT_DISK);
      List<TierStats> rounds =
          run(new Plan(kind, 200, WritePolicy.WRITE_THROUGH, 1, true, true, changes, 7));
      assertThat(rounds.get(1).store().readPages()).as("of the same engine").isPositive();
      assertThat(rounds.get(2).store().readPages()).as("of the one before").isPositive();
      assertThat(rounds.get(3).remote().readPages()).as("the disk was empty").isPositive();
      assertThat(rounds.get(3).loadedPages()).isPositive();
    }
  }

  /** Returns the statistics of the engine that then ran after each round of requests. */
  private static List<TierStats> run(Plan plan) throws IOException {
    Undisturbed tested = MODELS.get(plan.kind);
    Random random = new Random(plan.seed);
    List<TierStats> rounds = new ArrayList<>();
    try (StoredFiles files = new StoredFiles()) {
      ContinuousBatchingEngine engine = open(plan, tested, files);
      try {
        rounds.add(ask(tested, engine, random));
        for (Change change : plan.changes) {
          if (change == Change.FLUSH_HOST) {
            assertThat(engine.onTiers(tiers -> tiers.switches().flush()).join()).isTrue();
          } else if (change != Change.NOTHING) {
            engine.close();
            switch (change) {
              case RESTART_WITHOUT_DISK -> files.loseDisk();
              case RESTART_WITH_DAMAGED_FILES -> files.damage(random);
              default -> {}
            }
            engine = open(plan, tested, files);
          }
          rounds.add(ask(tested, engine, random));
        }
      } finally {
        engine.close();
      }
    }
    return rounds;
  }

  private static ContinuousBatchingEngine open(Plan plan, Undisturbed tested, StoredFiles files) {
    TierOptions tiers =
        TierOptions.NONE
            .withHostBytes(plan.hostPages * PAGE_BYTES)
            .withLoadBackThreshold(plan.loadBackThreshold)
            .withPrefetch(PrefetchPolicy.WAIT_COMPLETE, 1)
            .withWritePolicy(plan.policy);
    return ContinuousBatchingEngine.open(
        tested.model,
        tested.device,
        EngineOptions.builder()
            .kvPages(16)
            .contextLength(CONTEXT)
            .auditMillis(0)
            .cache(CacheOptions.DEFAULT.withWindowShare(plan.kind.windowShare))
            .tiers(files.below(tiers, plan.disk, plan.remote))
            .build());
  }

  /** Has some of the requests, in any order, answered at once. */
  private static TierStats ask(Undisturbed tested, Engine engine, Random random) {
    List<Integer> order = new ArrayList<>();
    for (int i = 0; i < REQUESTS; i++) {
      order.add(i);
    }
    Collections.shuffle(order, random);
    List<Integer> some = order.subList(0, REQUESTS - random.nextInt(3));
    new RepliesAlone(
            some.stream().map(tested.alone.requests()::get).toList(),
            some.stream().map(tested.alone.replies()::get).toList())
        .assertSameOn(engine);
    return TieredEngineTest.awaitSettled(engine);
  }

  @Provide
  Arbitrary<Plan> plans() {
    return Combinators.combine(
            Arbitraries.of(Kind.class),
            Arbitraries.of(1, 12, 40, 200),
            Arbitraries.of(WritePolicy.class),
            Arbitraries.of(1, 1, 20, LoadBackOptions.BY_COST),
            Arbitraries.of(true, false),
            Arbitraries.of(true, false),
            Arbitraries.of(Change.class).list().ofMinSize(2).ofMaxSize(4),
            Arbitraries.longs())
        .as(Plan::new)
        .filter(plan -> plan.disk || plan.remote);
  }
}
