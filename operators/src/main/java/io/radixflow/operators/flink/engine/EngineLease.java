package io.radixflow.operators.flink.engine;

import io.radixflow.engine.EngineLostException;
import io.radixflow.engine.cache.key.StableHash;
import io.radixflow.kernels.device.OutOfDeviceMemoryException;
import io.radixflow.models.ModelFormatException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.apache.flink.api.common.externalresource.ExternalResourceInfo;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExternalResourceOptions;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.memory.SharedResources;
import org.apache.flink.util.FatalExitExceptionHandler;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A subtask's share of its TaskManager's engine; the only class that knows Flink's registry of
 * shared resources, an internal interface.
 *
 * <p>Subtasks of one job with equal configuration share an engine. Besides the leases of subtasks
 * there is a lease of the job, which is released with the job's class loader. So the engine, its
 * weights and its cache survive a task restart. Jobs do not share engines, because their classes
 * differ. With the engine a subtask leases its shares of the TaskManager's counts of turns and
 * sessions.
 */
public final class EngineLease implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(EngineLease.class);

  /** The name of the GPU in {@code external-resources}. */
  private static final String GPU = "gpu";

  private final SharedResources resources;
  private final String key;
  private final Object holder = new Object();
  private final Shared engine;
  private final TenantCounts.Share turns;
  private final TenantCounts.Share sessions;

  private EngineLease(
      SharedResources resources, String key, EngineFactory factory, EngineDirectory directory)
      throws Exception {
    this.resources = resources;
    this.key = key;
    this.engine =
        resources
            .<Shared>getOrAllocateSharedResource(
                key, holder, size -> new Shared(factory, directory, EngineLease::endProcess), 0)
            .resourceHandle();
    this.turns = engine.turns.share();
    this.sessions = engine.sessions.share();
  }

  /**
   * Leases the engine; opens it if no other subtask has opened it.
   *
   * @param restored ids of the engines whose pages match the restored checkpoint
   * @param tiers the settings of the tiers after all control events so far
   */
  public static EngineLease acquire(
      Environment environment,
      RuntimeContext context,
      EngineFactory configured,
      Set<String> restored,
      TierSettings tiers)
      throws Exception {
    EngineFactory factory =
        onGivenGpu(
            configured,
            environment.getTaskManagerInfo().getConfiguration(),
            context.getExternalResourceInfos(GPU));
    SharedResources resources = environment.getSharedResources();
    String name = environment.getJobID() + "-" + StableHash.hex(factory.identity());
    String key = "radixflow-engine-" + name;
    EngineDirectory directory =
        EngineDirectory.of(
                environment.getTaskManagerInfo().getTmpWorkingDirectory(), name, restored)
            .with(tiers);
    EngineLease lease = new EngineLease(resources, key, factory, directory);
    try {
      keepWarm(resources, key, context, lease.engine);
    } catch (Exception e) {
      lease.close();
      throw e;
    }
    return lease;
  }

  /**
   * Returns a factory for the GPU that Flink assigned, if the cluster has the external resource
   * {@value #GPU}. If Flink finds no GPU, it only logs a warning and assigns an empty set.
   *
   * @param cluster the TaskManager's configuration
   * @param given what Flink assigned under {@value #GPU}
   * @throws SuppressRestartsException if the configuration asks for a GPU and Flink should have
   *     assigned one but did not
   */
  static EngineFactory onGivenGpu(
      EngineFactory factory, Configuration cluster, Collection<ExternalResourceInfo> given) {
    List<String> resources = cluster.get(ExternalResourceOptions.EXTERNAL_RESOURCE_LIST);
    if (resources == null || !resources.contains(GPU)) {
      return factory;
    }
    int first =
        given.stream()
            .map(info -> info.getProperty("index").orElse(""))
            .filter(index -> index.matches("\\d{1,4}"))
            .mapToInt(Integer::parseInt)
            .min()
            .orElse(-1);
    if (first >= 0) {
      return factory.onGpu(first);
    }
    if (factory.needsGpu()) {
      throw new SuppressRestartsException(
          new IllegalStateException(
              "model.device asks for a GPU, and external-resources names '"
                  + GPU
                  + "', but this TaskManager was given none; its log says why"
                  + " (driver-factory.class, the discovery script, the amount)"));
    }
    LOG.warn("external-resources names '{}', but this TaskManager was given none", GPU);
    return factory;
  }

  /** Returns the engine; opens it again if its device was lost. */
  public ServingEngine engine() throws Exception {
    return engine.engine();
  }

  /** Returns the subtask's share of turns without a reply. */
  public TenantCounts.Share turns() {
    return turns;
  }

  /** Returns the subtask's share of open sessions. */
  public TenantCounts.Share sessions() {
    return sessions;
  }

  private static void endProcess(Throwable reason) {
    FatalExitExceptionHandler.INSTANCE.uncaughtException(Thread.currentThread(), reason);
  }

  @Override
  public void close() throws Exception {
    turns.close();
    sessions.close();
    resources.release(key, holder, size -> {});
  }

  private static void keepWarm(
      SharedResources resources, String key, RuntimeContext context, Shared engine)
      throws Exception {
    String jobLease = "job lease of " + key;
    resources.getOrAllocateSharedResource(key, jobLease, size -> engine, 0);
    context.registerUserCodeClassLoaderReleaseHookIfAbsent(
        key, () -> release(resources, key, jobLease));
  }

  private static void release(SharedResources resources, String key, String lease) {
    try {
      resources.release(key, lease, size -> {});
    } catch (Exception e) {
      LOG.warn("Engine {} did not close", key, e);
    }
  }

  /** Waits; a test replaces it. */
  @FunctionalInterface
  interface Pause {
    void pass(Duration time) throws InterruptedException;
  }

  /**
   * The engine that a TaskManager's subtasks share, with their common counts. If its device is
   * lost, the engine is opened again once. If the device is lost again, the process ends, because a
   * new process may find a working device.
   *
   * <p>If opening fails for a lasting reason, the job ends, because restarts would only hide the
   * failure. If device memory is not free, opening waits, because the memory of a killed process
   * becomes free with a delay. Any other failure restarts the job.
   */
  static final class Shared implements AutoCloseable {
    /** The longest wait for device memory. */
    static final Duration PATIENCE = Duration.ofSeconds(15);

    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final EngineFactory factory;
    private final EngineDirectory directory;
    private final Consumer<Throwable> endProcess;
    private final LongSupplier nanos;
    private final Pause pause;
    private final TenantCounts turns = new TenantCounts();
    private final TenantCounts sessions = new TenantCounts();
    private ServingEngine engine;
    private boolean reopened;

    private Shared(EngineFactory factory, EngineDirectory directory, Consumer<Throwable> endProcess)
        throws Exception {
      this(
          factory,
          directory,
          endProcess,
          System::nanoTime,
          time -> TimeUnit.NANOSECONDS.sleep(time.toNanos()));
    }

    /**
     * Opens the engine.
     *
     * @param endProcess ends the process; gets the reason
     * @param nanos a clock
     * @throws SuppressRestartsException if no restart would help; the root cause's message says in
     *     one line why, and what to do
     */
    Shared(
        EngineFactory factory,
        EngineDirectory directory,
        Consumer<Throwable> endProcess,
        LongSupplier nanos,
        Pause pause)
        throws Exception {
      this.factory = factory;
      this.directory = directory;
      this.endProcess = endProcess;
      this.nanos = nanos;
      this.pause = pause;
      engine = open(directory);
    }

    private ServingEngine open(EngineDirectory from) throws Exception {
      long deadline = nanos.getAsLong() + PATIENCE.toNanos();
      while (true) {
        try {
          return factory.open(from);
        } catch (OutOfDeviceMemoryException e) {
          if (nanos.getAsLong() >= deadline) {
            throw endOfJob(e);
          }
          LOG.warn("The engine does not open; trying again: {}", e.getMessage());
          pause.pass(PAUSE);
        } catch (IllegalArgumentException | ModelFormatException e) {
          throw endOfJob(e);
        }
      }
    }

    /** Drops the causes: Flink shows the root cause, and users can only act on this message. */
    private static SuppressRestartsException endOfJob(RuntimeException failure) {
      LOG.error("The engine does not open", failure);
      return new SuppressRestartsException(
          new IllegalStateException("the engine does not open: " + failure.getMessage()));
    }

    /** Returns the engine; opens it again if its device was lost. */
    public synchronized ServingEngine engine() throws Exception {
      EngineLostException lost = engine.engine().lost();
      if (lost == null) {
        return engine;
      }
      if (reopened) {
        endProcess.accept(lost);
        throw lost;
      }
      reopened = true;
      LOG.error("Reopening the engine (only attempt): {}", lost.getMessage());
      TierSettings tiers = engine.tiers().settings();
      engine.close();
      engine = open(directory.again(tiers));
      return engine;
    }

    @Override
    public synchronized void close() {
      engine.close();
    }
  }
}
