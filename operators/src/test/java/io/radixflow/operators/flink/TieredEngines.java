package io.radixflow.operators.flink;

import io.radixflow.engine.EngineOptions;
import io.radixflow.engine.EngineStats;
import io.radixflow.engine.Engines;
import io.radixflow.engine.Patience;
import io.radixflow.engine.cache.key.NamespaceKey;
import io.radixflow.engine.loop.ContinuousBatchingEngine;
import io.radixflow.engine.model.ModelLoader;
import io.radixflow.engine.model.SimModel;
import io.radixflow.engine.model.SimOptions;
import io.radixflow.engine.tier.TierOptions;
import io.radixflow.engine.tier.TierStats;
import io.radixflow.engine.tier.disk.DiskTierOptions;
import io.radixflow.engine.tier.loadback.PrefetchPolicy;
import io.radixflow.engine.tier.remote.RemoteTierOptions;
import io.radixflow.kernels.device.DeviceOptions;
import io.radixflow.operators.flink.engine.EngineDirectory;
import io.radixflow.operators.flink.engine.ServingEngine;
import io.radixflow.operators.flink.engine.TestEngineFactory;
import io.radixflow.operators.flink.tiers.ModelEngineFactory;
import io.radixflow.operators.flink.tiers.SwitchableTiers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Engines on the simulated device with tiers below it, each for one subtask that the test drives.
 * Those that a test leaves open are closed after it.
 */
public final class TieredEngines implements AfterEachCallback {

  /** Fills about 55 pages. */
  public static final String LONG = "a question that fills a few pages of tokens ".repeat(20);

  public static final NamespaceKey KEY = NamespaceKey.of("secret");
  public static final long DISK_BYTES = 64 << 20;

  private static final AtomicInteger INSTANCES = new AtomicInteger();

  private final String name = "tiered" + INSTANCES.incrementAndGet();
  private final List<ServingEngine> engines = new ArrayList<>();
  private ModelEngineFactory.Source model =
      name -> SimModel.open(SimOptions.DEFAULT.withEndOfTurn(0));

  /** Host memory from which all that is there is loaded, however little. */
  public static TierOptions host(long bytes) {
    return TierOptions.NONE
        .withHostBytes(bytes)
        .withLoadBackThreshold(1)
        .withPrefetch(PrefetchPolicy.WAIT_COMPLETE, 1);
  }

  public static EngineOptions options(TierOptions tiers) {
    return EngineOptions.builder().kvPages(256).tiers(tiers).build();
  }

  public static DiskTierOptions disk(Path directory) {
    return disk(directory, DISK_BYTES);
  }

  public static DiskTierOptions disk(Path directory, long bytes) {
    return DiskTierOptions.of(bytes, directory.toString(), KEY);
  }

  public static RemoteTierOptions remote(String uri) {
    return new RemoteTierOptions(uri, 8, Patience.DURATION.toMillis(), 0, 0, 0, 0, KEY);
  }

  /** Engines that are opened from now on run another model. */
  public void run(ModelEngineFactory.Source other) {
    model = other;
  }

  /** A subtask, not yet opened, that opens an engine of its own unless it is put beside another. */
  public ServingHarness harness(
      EngineOptions options,
      DiskTierOptions disk,
      RemoteTierOptions remote,
      int parallelism,
      int subtask)
      throws Exception {
    TestEngineFactory factory = factory(options, disk, remote);
    return new ServingHarness(factory, ServingHarness.LIMITED, parallelism, subtask);
  }

  /** Opens one more engine; subtasks that ask for it before it is open can share it. */
  public TestEngineFactory factory(
      EngineOptions options, DiskTierOptions disk, RemoteTierOptions remote) {
    ModelEngineFactory factory =
        new ModelEngineFactory(model, ModelLoader.SIM, new DeviceOptions("auto", 1, null), options)
            .onDisk(disk)
            .onRemote(remote);
    return TestEngineFactory.at(name + "-" + engines.size(), directory -> open(factory, directory));
  }

  private ServingEngine open(ModelEngineFactory factory, EngineDirectory directory) {
    try {
      engines.add(factory.open(directory));
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
    return last();
  }

  /** Returns the number of engines that were opened. */
  public int opened() {
    return engines.size();
  }

  /** The one that was opened last. */
  public ServingEngine last() {
    return engines.get(engines.size() - 1);
  }

  public ContinuousBatchingEngine engine() {
    return (ContinuousBatchingEngine) last().engine();
  }

  public SwitchableTiers tiers() {
    return (SwitchableTiers) last().tiers();
  }

  /** The name of the directory in which the last one has its pages. */
  public String diskId() {
    return tiers().diskId();
  }

  /** Returns the statistics of the last one's tiers, of now. */
  public TierStats stats() {
    return Engines.stats(engine()).tiers();
  }

  /** Waits until no page of the last one is on its way anywhere. */
  public void awaitSettled() {
    Patience.await()
        .until(
            () -> {
              EngineStats stats = Engines.stats(engine());
              return Engines.isIdle(stats) && stats.tiers().queuedPages() == 0;
            });
  }

  /** Closes the last one, so that the next finds its directory free. */
  public void close() {
    last().close();
  }

  @Override
  public void afterEach(ExtensionContext context) {
    engines.forEach(ServingEngine::close);
    engines.clear();
  }
}
