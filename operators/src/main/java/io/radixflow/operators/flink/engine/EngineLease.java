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
 * <p>Subtasks of one job with equal configuration share an engine. Besides each subtask's lease
 * there is one for the job, released with the job's class loader, so that the engine, its weights
 * and its cache stay warm over a task restart. Jobs do not share: their classes differ. With the
 * engine a subtask leases its shares of what all of them count together.
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
   * Leases the engine and opens it if no other subtask has.
   *
   * @param restored ids of the engines whose pages the restored checkpoint goes with
   * @param tiers how control events have changed the tiers so far
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
   * Returns the factory on the GPU that Flink gave, where the cluster has the external resource
   * {@value #GPU}. Flink itself only warns when it finds no GPU, and hands out an empty set.
   *
   * @param cluster the TaskManager's configuration
   * @param given what Flink gave under {@value #GPU}
   * @throws SuppressRestartsException if a GPU is asked for and Flink was to give one and did not
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

  /** Returns the engine, which is opened again if its device was lost. */
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

  /** Lets time pass. */
  @FunctionalInterface
  interface Pause {
    void pass(Duration time) throws InterruptedException;
  }

  /**
   * The engine that a TaskManager's subtasks share, and what they count together. If its device is
   * lost, the next subtask that asks gets a new engine, once; a device that is lost again ends the
   * process, as its successor may find a working one.
   *
   * <p>A failure to open that would happen again ends the job, as restarts would only hide it;
   * device memory that is not free is waited for, as a process that was killed gives its memory
   * back some time later; any other failure restarts the job.
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
     * @param endProcess ends the process for a reason
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

    /** The message alone travels: Flink shows a root cause, deeper than people can act on. */
    private static SuppressRestartsException endOfJob(RuntimeException failure) {
      LOG.error("The engine does not open", failure);
      return new SuppressRestartsException(
          new IllegalStateException("the engine does not open: " + failure.getMessage()));
    }

    /** Returns the engine, which is opened again if its device was lost. */
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
